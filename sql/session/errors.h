// What went wrong in the cluster, as a client of SQL is told.
#pragma once

#include <string>

#include "net/client.h"
#include "sql/types/fault.h"

namespace tidemark::sql {

namespace sqlstate {
inline constexpr const char* kTransactionResolutionUnknown = "08007";
inline constexpr const char* kUniqueViolation = "23505";
inline constexpr const char* kActiveTransaction = "25001";
inline constexpr const char* kReadOnlyTransaction = "25006";
inline constexpr const char* kNoActiveTransaction = "25P01";
inline constexpr const char* kFailedTransaction = "25P02";
inline constexpr const char* kDependentObjects = "2BP01";
inline constexpr const char* kSerializationFailure = "40001";
inline constexpr const char* kCannotConnectNow = "57P03";
inline constexpr const char* kQueryCanceled = "57014";
inline constexpr const char* kUndefinedStatement = "26000";
inline constexpr const char* kObjectNotReady = "55000";
inline constexpr const char* kUnavailable = "57P03";
}  // namespace sqlstate

SqlError error(const char* state, std::string message, std::string hint = {});

SqlError write_error(const ClientFailure& failure);
SqlError read_error(const ClientFailure& failure);

// The SQLSTATE of a region's refusal of an operation; empty if it was another failure.
std::string state_of(const ClientFailure& failure);

}  // namespace tidemark::sql
