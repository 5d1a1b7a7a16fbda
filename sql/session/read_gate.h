// What a read waits for before it begins: that views are filled, that they reflect the session's own writes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sql/session/task.h"

namespace tidemark::sql {

class ReadGate {
 public:
  // `open` is called once, never from inside start(): the read may begin, or fails.
  ReadGate(const Running& running, const Relation& query, std::function<void(SqlStatus)> open);

  void start();

 private:
  void check_filled();
  void end(SqlStatus status);

  ServiceState& service_;
  SessionState& session_;
  CatalogSnapshotPtr catalog_;
  std::vector<TableSchemaPtr> tables_;
  std::function<void(SqlStatus)> open_;
  GuardedScheduler loop_;
};

}  // namespace tidemark::sql
