// A storage node and its coordinator on a loop of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "coordinator/situation.h"
#include "node/options.h"
#include "node/region_replica.h"
#include "node/store/rocks_store.h"
#include "server/surroundings.h"

namespace tidemark {

struct NodeServerOptions {
  NodeOptions node;         // An empty address: the one that is listened on. Cluster and shards are found.
  Address listen;           // Embedded: not used.
  RocksStoreOptions store;  // Directory and memory; the rest is found.
  CoordinatorSettings coordinator;
  std::function<void(const std::string& identity)> launch;  // Any loop's thread. See CoordinatorOptions.
  Metrics* metrics = &no_metrics();                         // Outlives it.
  Logger log;
  // Something without which the node can't go on: say it and end the process. Must not return to the loop's
  // work, that is: end the process, or stop it from another thread.
  std::function<void(const std::string& reason)> on_fatal;
};

class NodeServer {
 public:
  // Begins to look for its cluster, and serves as soon as it has found it.
  // REQUIRES: surroundings outlive it.
  NodeServer(Surroundings& surroundings, NodeServerOptions options);
  // As a crash: nothing is saved. After stop(), nothing is left to save.
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  // An orderly end: the coordinator's office and the node's entry are given back, checkpoints are saved.
  // Blocks, but no longer than it takes others to believe in a crash.
  void stop();

  // Since the start. Blocks until the loop has told.
  struct Figures {
    RegionReplica::LogFigures log;  // Of all regions that it holds.
    RowCache::Figures rows;
    size_t database_memory_bytes = 0;
    std::vector<Micros> pauses;  // Of lanes that changed hands by the newest ring, one per lane.
    RingVersion pauses_ring;
    size_t lanes_waiting = 0;  // Not active at any view manager.
  };
  Figures figures();

  AsioLoop& loop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
