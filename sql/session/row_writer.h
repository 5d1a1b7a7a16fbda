// Rows that INSERT and COPY write: checked, encoded, and sent in chunks, several on their way at once, so
// that memory is bounded however many there are. In a transaction they are gathered instead.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "sql/expr/program.h"
#include "sql/session/operation_writer.h"
#include "sql/session/task.h"

namespace tidemark::sql {

// 23502 if a column that must have a value has none.
SqlStatus check_not_null(const TableSchema& table, const Value* row);
// 54000 if it is larger than any row may be. A region would refuse it, but a message might not hold it.
SqlStatus check_size(const EncodedRow& row);
// As PostgreSQL tells of a row that is there already.
SqlError duplicate_key(const TableSchema& table);

class RowWriter {
 public:
  struct Rules {
    TableSchemaPtr table;
    ast::ConflictAction on_conflict = ast::ConflictAction::Error;
    const InsertStatement* insert = nullptr;  // Its DO UPDATE and RETURNING; null for COPY.
  };
  struct Outside {
    std::function<void()> on_room;          // is_full() has become false.
    std::function<void(SqlStatus)> on_end;  // After finish(), or a failure; once.
  };

  RowWriter(Running& running, Rules rules, Outside outside);
  ~RowWriter();

  // One value per column of the table; copied. An error is the statement's.
  SqlStatus add(const Value* row);
  // Too much is on its way: add no more until on_room.
  bool is_full() const;
  // What is left goes out; then on_end.
  void finish();

  uint64_t rows_written() const { return rows_written_; }

 private:
  struct Chunk;
  using ChunkPtr = std::shared_ptr<Chunk>;
  using Indexes = std::vector<size_t>;

  size_t chunks_max() const;
  void launch();
  void insert(const ChunkPtr& chunk);
  void on_inserted(const ChunkPtr& chunk, const WriteResult& result);
  // Reads the rows that are there, decides, writes; those that lost a race again.
  void modify(const ChunkPtr& chunk, Indexes indexes);
  void on_read(const ChunkPtr& chunk, const Indexes& indexes, std::string_view rows);
  // The operation for a row, given what is there; none: leave it.
  Result<std::optional<OwnedOperation>, SqlError> decide(Chunk& chunk, size_t index,
                                                         const std::optional<std::string>& present);
  SqlStatus set_updated(Chunk& chunk, size_t index, const std::string& present, bool& wanted);
  void on_modified(const ChunkPtr& chunk, const Indexes& indexes, const WriteResult& result);
  void complete(const ChunkPtr& chunk);
  // RETURNING of a row that is about to be written: if it fails, nothing is.
  SqlStatus compute_returning(Chunk& chunk, size_t index);
  void give_returning(const Chunk& chunk);
  void fail(const SqlError& error);
  void end_if_over();

  Running& running_;
  const Rules rules_;
  Outside outside_;
  CatalogTablePtr table_;
  std::vector<Value> params_;
  Evaluation evaluation_;
  Program conflict_set_, conflict_where_, returning_;
  GuardedScheduler loop_;
  OperationWriter writer_;
  ChunkPtr open_;
  size_t in_flight_ = 0;
  uint64_t rows_written_ = 0;
  bool finishing_ = false;
  bool ended_ = false;
};

}  // namespace tidemark::sql
