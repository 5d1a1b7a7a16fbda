// A query that runs over the cluster: pulls rows, waits where they are still on their way, and lets the loop
// do other things between batches.
#pragma once

#include <functional>
#include <memory>

#include "sql/session/cluster_source.h"
#include "sql/session/task.h"

namespace tidemark::sql {

class QueryRun {
 public:
  struct Outside {
    // Takes a batch; false: no more is wanted. An error ends the run with it.
    std::function<Result<bool, SqlError>(const Batch&)> on_batch;
    std::function<void(SqlStatus)> on_end;
  };

  // `query` and what `running` refers to outlive it. Destroying it drops what is under way.
  QueryRun(const Running& running, const Relation& query, Outside outside);

  // It is to take no batch before the last row was read. Before start().
  void read_whole() { settings_.reads_whole = true; }
  void start();
  // Takes no batches until resume().
  void pause() { paused_ = true; }
  void resume();

 private:
  void go_on();  // At the next turn of the loop.
  void step();
  void end(SqlStatus status);

  const Relation& query_;
  Outside outside_;
  ExecutionSettings settings_;
  GuardedScheduler loop_;
  ClusterSource source_;
  std::unique_ptr<SelectExecution> execution_;
  Batch batch_;
  bool scheduled_ = false;
  bool paused_ = false;
  bool ended_ = false;
};

}  // namespace tidemark::sql
