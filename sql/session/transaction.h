// The writes of an open transaction, gathered until COMMIT: the last state of each row, and what must still
// be there for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/gateway/session.h"
#include "sql/parse/try.h"
#include "sql/session/operation_writer.h"

namespace tidemark::sql {

// Of a row that the same transaction inserted: nothing to be done, if there was none before.
bool undoes_insert(const OwnedOperation& operation);

class Transaction {
 public:
  TransactionStatus status() const { return status_; }
  bool is_open() const { return status_ == TransactionStatus::InTransaction; }
  bool is_read_only() const { return read_only_; }

  void begin(bool read_only);
  // Nothing more is done until it ends; what was gathered is dropped.
  void fail();
  void end();

  // Adds a write; together with one of the same row it becomes one. 23505: it inserts what is there already;
  // 54000: too much for one request. REQUIRES: is_open(); kinds are Insert, CompareAndPut, CompareAndDelete;
  // a compare of a row that was written before is with what find() gave.
  SqlStatus add(OwnedOperation operation);

  // A row that the transaction has written: its bytes, or none if it deleted it.
  struct Written {
    std::optional<std::string> row;
  };
  std::optional<Written> find(TableId table, const std::string& key) const;

  bool writes(TableId table) const;
  bool has_writes() const { return !operations_.empty(); }
  std::vector<OwnedOperation> take();

 private:
  using Key = std::pair<TableId, std::string>;

  TransactionStatus status_ = TransactionStatus::Idle;
  bool read_only_ = false;
  std::map<Key, OwnedOperation> operations_;
  size_t bytes_ = 0;
};

}  // namespace tidemark::sql
