// What a view manager tells Prometheus: docs/metrics.md. Looks at the core's figures now and then.
#pragma once

#include <cstdint>
#include <vector>

#include "base/metrics.h"
#include "view_manager/core.h"

namespace tidemark {

class ViewManagerMetrics {
 public:
  explicit ViewManagerMetrics(Metrics& metrics);

  // None: no identity is borne, or the view manager has ended.
  void sample(const ViewManagerCore* core);

 private:
  struct Total {
    Counter& metric;
    uint64_t (*of)(const ViewManagerCore& core);
    FollowedCounter follower;
  };
  void add_total(Counter& metric, uint64_t (*of)(const ViewManagerCore& core));

  Gauge& lanes_;
  Gauge& queues_;
  Gauge& input_bytes_;
  Gauge& effects_bytes_;
  Gauge& parked_;
  std::vector<Total> totals_;
};

}  // namespace tidemark
