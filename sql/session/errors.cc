#include "sql/session/errors.h"

namespace tidemark::sql {

SqlError error(const char* state, std::string message, std::string hint) {
  return {state, std::move(message), 0, {}, std::move(hint)};
}

// A region says "23505 duplicate key ...".
std::string state_of(const ClientFailure& failure) {
  constexpr size_t kLength = 5;
  if (failure.code != ClientError::Failed || failure.message.size() <= kLength) return {};
  return failure.message[kLength] == ' ' ? failure.message.substr(0, kLength) : std::string();
}

SqlError write_error(const ClientFailure& failure) {
  switch (failure.code) {
    case ClientError::Failed: {
      const std::string state = state_of(failure);
      if (state.empty()) return error("XX000", failure.message);
      return {state, failure.message.substr(state.size() + 1), 0, {}, {}};
    }
    case ClientError::OutcomeUnknown:
      return error(sqlstate::kTransactionResolutionUnknown,
                   "it is not known whether the write was done: " + failure.message,
                   "Read the rows to find out.");
    case ClientError::Refused: return error(sqlstate::kProgramLimitExceeded, failure.message);
    case ClientError::StaleCatalog:
      return error(sqlstate::kUndefinedTable, "the table has changed meanwhile: " + failure.message);
    case ClientError::NotOneRegion:
      return error(sqlstate::kFeatureNotSupported,
                   "the rows written by this transaction lie in several regions",
                   "Write rows of one distribution key in a transaction, or each statement by itself.");
    case ClientError::TimedOut:
      return error(sqlstate::kUnavailable, "nothing was written: " + failure.message);
  }
  TM_UNREACHABLE();
}

SqlError read_error(const ClientFailure& failure) {
  if (failure.code == ClientError::StaleCatalog)
    return error(sqlstate::kUndefinedTable, "the table has changed meanwhile: " + failure.message);
  if (failure.code == ClientError::TimedOut)
    return error(sqlstate::kUnavailable, "the rows could not be read: " + failure.message);
  return error("XX000", "the rows could not be read: " + failure.message);
}

}  // namespace tidemark::sql
