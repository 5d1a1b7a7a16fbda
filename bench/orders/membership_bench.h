// What a change of membership costs those who watch: view managers are added, removed and killed, regions are
// moved, under a steady feed; the view is checked at the end.
#pragma once

#include <string>
#include <vector>

#include "bench/orders/bench_cluster.h"
#include "bench/orders/workload.h"

namespace tidemark::bench {

struct MembershipBenchOptions {
  BenchClusterOptions cluster;
  OrdersShape shape;
  uint32_t rounds = 5;
  double upserts_per_second = 2'000;
};

struct MembershipBenchResult {
  struct Change {
    std::string what;
    std::vector<double> lane_pause_micros;  // Of each lane that moved, as its owner saw it.
    std::vector<double> flowing_micros;     // From the change's beginning until writes to all lanes show.
    std::vector<double> took_micros;        // The operation, as the operator saw it.
  };
  std::vector<Change> changes;
  uint64_t view_rows = 0;
};

Result<MembershipBenchResult> run_membership_bench(const MembershipBenchOptions& options);

}  // namespace tidemark::bench
