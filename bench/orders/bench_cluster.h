// A cluster within this process, for benchmarks: storage nodes and view managers, each on a loop of its own,
// on files or on real Kafka and ZooKeeper servers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/situation.h"
#include "server/cluster_surroundings.h"
#include "server/node_server.h"
#include "server/view_manager_server.h"

namespace tidemark::bench {

struct BenchClusterOptions {
  std::string directory;  // Checkpoints, and on files also logs and facts. Made if missing.
  uint32_t nodes = 1;
  uint32_t view_managers = 1;
  CoordinatorSettings coordinator;
  RocksStoreOptions store;
  ViewManagerLimits view_manager;
  NodeOptions node;
  std::optional<ClusterSurroundingsOptions> servers;  // None: on files, messages by pointer.
};

class BenchCluster {
 public:
  // Error: says what can't be used, and why.
  static Result<std::unique_ptr<BenchCluster>> start(BenchClusterOptions options);
  ~BenchCluster();

  Surroundings& surroundings() { return *surroundings_; }
  // Of all nodes, and of all view managers, together.
  NodeServer::Figures node_figures();
  ViewManagerServer::Figures view_manager_figures();

  void start_node(const std::string& name);
  void start_view_manager(const std::string& name);
  void kill_view_manager(const std::string& name);  // As kill -9 would.

  // Nodes save their checkpoints. Nothing is served any more.
  void stop();

 private:
  explicit BenchCluster(BenchClusterOptions options) : options_(std::move(options)) {}
  Status open();
  Address listen() const { return options_.servers ? Address{"127.0.0.1:0"} : Address{}; }

  const BenchClusterOptions options_;
  std::unique_ptr<Surroundings> surroundings_;
  std::vector<std::unique_ptr<NodeServer>> nodes_;
  std::map<std::string, std::unique_ptr<ViewManagerServer>> view_managers_;
};

}  // namespace tidemark::bench
