// What a read waits for before it begins: that views are filled, and reflect the session's own writes if it
// wants that; whether they have rows that could not be computed; and how fresh they are, if it reads that.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sql/session/error_probe.h"
#include "sql/session/task.h"

namespace tidemark::sql {

class ReadGate {
 public:
  // `open` is called once, never from inside start(): the read may begin, or fails.
  ReadGate(const Running& running, const Relation& query, std::function<void(SqlStatus)> open);

  void start();

 private:
  void check_filled();
  void wait_for_all_rows();
  void wait_for_own_writes();
  void wait_for(std::vector<TableId> path, const LaneRuns& tokens);
  void on_waited(const Result<std::monostate, ClientFailure>& result);
  void look_for_errors();
  void ask_freshness();
  void end(SqlStatus status);

  ServiceState& service_;
  SessionState& session_;
  CatalogSnapshotPtr catalog_;
  std::vector<TableSchemaPtr> tables_;
  std::vector<TableId> views_;  // Of the tables.
  std::function<void(SqlStatus)> open_;
  GuardedScheduler loop_;
  size_t waits_ = 0;
  uint64_t writes_ = 0;  // What the views reflect when all waits have ended.
  std::unique_ptr<ErrorProbe> probe_;
  bool ended_ = false;
};

}  // namespace tidemark::sql
