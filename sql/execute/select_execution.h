// Runs a bound query over a RowSource. A core: it never waits; when the source has no rows yet it says so.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sql/bind/relation.h"
#include "sql/execute/row_source.h"

namespace tidemark::sql {

struct ExecutionSettings {
  std::vector<Value> params;  // What they point to must outlive the execution.
  int64_t now_micros = 0;
  uint64_t random_seed = 0;
  std::string user, database;
  size_t memory_bytes_max = size_t{256} << 20;
  bool reads_whole = false;  // Gives no row before the last was read: all are held in that memory.
};

class SelectExecution {
 public:
  ~SelectExecution();

  // `relation` (optimized or not) and `source` must outlive it.
  static Result<std::unique_ptr<SelectExecution>, SqlError> start(const Relation& relation, RowSource& source,
                                                                  ExecutionSettings settings);

  // About so many rows are gone over in one call, whatever the query: how long a loop waits for it is
  // bounded.
  static constexpr int64_t kTurnRows = 1 << 16;

  // Resets `out` and fills it with rows of the query's columns, valid until the next call: perhaps with none.
  // After an error or End it must not be called again.
  PullResult next(Batch& out);

 private:
  SelectExecution() = default;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::sql
