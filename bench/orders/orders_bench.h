// The benchmark of orders: a cluster in this process, one view, upserts as fast as they are taken, then a
// steady feed with probes. What the view holds is compared with what was written: a wrong view voids the run.
#pragma once

#include <map>
#include <string>

#include "bench/orders/bench_cluster.h"
#include "bench/orders/feed.h"
#include "bench/orders/probe.h"
#include "bench/orders/views.h"
#include "bench/orders/workload.h"

namespace tidemark::bench {

struct OrdersBenchOptions {
  BenchClusterOptions cluster;
  OrdersShape shape;
  ViewKind view = ViewKind::Sum;
  FeedShape bulk;
  double steady_upserts_per_second = 5'000;
  double steady_seconds = 5;  // 0: none.
  bool reopen = false;        // Crash, and time until everything serves again.
};

// Processor time of the phase, in seconds per million upserts.
struct CpuCost {
  double node = 0;
  double view_manager = 0;
  double others = 0;  // Background threads of logs, checkpoints and coordination.
  double client = 0;  // Not the system's.
  double system() const { return node + view_manager + others; }
  std::map<std::string, double> by_thread;
};

struct OrdersBenchResult {
  uint64_t upserts = 0;
  double write_seconds = 0;      // Until all are acknowledged,
  double converged_seconds = 0;  // and until the view shows all.
  CpuCost cpu;                   // Until then.
  double checkpoint_cpu = 0;     // Seconds per million upserts, of the final checkpoint.
  std::vector<double> ack_micros;
  uint64_t effects = 0;
  uint64_t effects_sent = 0;  // After combining.
  uint64_t effect_batches = 0;
  uint64_t refused_batches = 0;
  uint64_t log_records = 0;
  uint64_t log_bytes = 0;
  uint64_t view_rows = 0;
  uint64_t cache_misses = 0;
  uint64_t rows_evicted = 0;
  uint64_t rss_peak_bytes = 0;
  ProbeResult steady;
  double steady_cpu = 0;  // As CpuCost::system().
  double reopen_seconds = 0;
  double reopen_cpu_seconds = 0;
};

Result<OrdersBenchResult> run_orders_bench(const OrdersBenchOptions& options);

}  // namespace tidemark::bench
