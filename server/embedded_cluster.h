// A whole cluster in one process, on files: what `tidemark up` runs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coordinator/situation.h"
#include "net/transport.h"
#include "node/options.h"
#include "node/store/rocks_store.h"
#include "server/sql_server.h"
#include "view_manager/limits.h"

namespace tidemark {

struct EmbeddedClusterOptions {
  std::string directory;                 // Made if missing.
  Address sql_listen{"127.0.0.1:7432"};  // For PostgreSQL's clients.
  SqlLimits sql_limits = {};
  Address admin_listen{"127.0.0.1:7400"};
  uint32_t nodes = 1;               // node1, node2, ...
  uint32_t view_managers = 2;       // vm1, vm2, ...; those that were added later come back by themselves.
  CoordinatorSettings coordinator;  // Of a new cluster: shards, regions, placement.
  NodeOptions node;
  RocksStoreOptions store;  // Memory, per node.
  ViewManagerLimits view_manager;
  LogSink* log = nullptr;
  Metrics* metrics = &no_metrics();                         // Outlives it.
  std::function<void(const std::string& reason)> on_fatal;  // Must end the process.
  std::function<void()> on_ready;                           // Any thread; once.
};

class EmbeddedCluster {
 public:
  // Error: says what can't be used (directory, address) and why; nothing runs then.
  static Result<std::unique_ptr<EmbeddedCluster>> start(EmbeddedClusterOptions options);
  ~EmbeddedCluster();  // As a crash of everything at once.

  // An orderly end. Blocks.
  void stop();

  const Address& sql_address() const;
  const Address& admin_address() const;

 private:
  class Impl;
  explicit EmbeddedCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
