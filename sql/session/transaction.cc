#include "sql/session/transaction.h"

#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {

constexpr size_t kBytesMax = size_t{600} << 10;  // A request must fit one record.

bool leaves_row(const OwnedOperation& operation) {
  return operation.kind == OperationKind::Insert || operation.kind == OperationKind::CompareAndPut;
}

// What was there before the transaction; none: no row.
const std::optional<std::string>& origin(const OwnedOperation& operation) {
  return operation.expected;
}

// Both, one after the other, as one.
OwnedOperation combine(const OwnedOperation& first, OwnedOperation second) {
  second.expected = origin(first);
  if (leaves_row(second)) {
    const bool inserts = first.kind == OperationKind::Insert || undoes_insert(first);
    second.kind = inserts ? OperationKind::Insert : OperationKind::CompareAndPut;
  } else {
    second.kind = OperationKind::CompareAndDelete;
  }
  return second;
}

}  // namespace

void Transaction::begin(bool read_only) {
  status_ = TransactionStatus::InTransaction;
  read_only_ = read_only;
}

void Transaction::fail() {
  status_ = TransactionStatus::Failed;
  operations_.clear();
  bytes_ = 0;
}

void Transaction::end() {
  fail();
  status_ = TransactionStatus::Idle;
}

bool undoes_insert(const OwnedOperation& operation) {
  return operation.kind == OperationKind::CompareAndDelete && !operation.expected;
}

SqlStatus Transaction::add(OwnedOperation operation) {
  TM_ASSERT(is_open());
  const Key key{operation.table, operation.key};
  auto found = operations_.find(key);
  if (found != operations_.end()) {
    if (operation.kind == OperationKind::Insert && leaves_row(found->second)) {
      return error(sqlstate::kUniqueViolation,
                   "duplicate key: this transaction has inserted the row already");
    }
    operation = combine(found->second, std::move(operation));
    bytes_ -= found->second.bytes();
    operations_.erase(found);
  }
  bytes_ += operation.bytes();
  operations_.insert_or_assign(key, std::move(operation));
  if (bytes_ <= kBytesMax) return {};
  return error(sqlstate::kProgramLimitExceeded, "the transaction writes more than one request can hold",
               "Write less in one transaction, or each statement by itself.");
}

std::optional<Transaction::Written> Transaction::find(TableId table, const std::string& key) const {
  auto found = operations_.find({table, key});
  if (found == operations_.end()) return std::nullopt;
  if (!leaves_row(found->second)) return Written{};
  return Written{found->second.row};
}

bool Transaction::writes(TableId table) const {
  auto found = operations_.lower_bound({table, {}});
  return found != operations_.end() && found->first.first == table;
}

std::vector<OwnedOperation> Transaction::take() {
  std::vector<OwnedOperation> out;
  for (auto& [key, operation] : operations_) out.push_back(std::move(operation));
  operations_.clear();
  bytes_ = 0;
  return out;
}

}  // namespace tidemark::sql
