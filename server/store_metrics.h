// What a node's disk tells Prometheus: docs/metrics.md.
#pragma once

#include "base/metrics.h"
#include "node/store/rocks_store.h"

namespace tidemark {

class StoreMetrics {
 public:
  explicit StoreMetrics(Metrics& metrics);

  // About once a second, on the node's loop.
  void sample(const RocksStore& store);

 private:
  Gauge& rows_;
  Gauge& bytes_;
  Gauge& dirty_bytes_;
  FollowedCounter hits_;
  FollowedCounter misses_;
  FollowedCounter evicted_;
  FollowedCounter written_back_;
  Gauge& database_bytes_;
};

}  // namespace tidemark
