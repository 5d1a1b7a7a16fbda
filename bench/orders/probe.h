// Measures, beside a feed, what a user of the view would see: how long after its acknowledgement a write can
// be read in the view, and how long a read by key takes.
#pragma once

#include <future>
#include <vector>

#include "bench/orders/feed.h"
#include "bench/orders/views.h"

namespace tidemark::bench {

inline constexpr uint64_t kProbeOrders = 16;  // Behind the workload's; each of a customer of its own.

struct ProbeResult {
  std::vector<double> fresh_micros;  // From a write's acknowledgement until the view shows it.
  std::vector<double> read_micros;   // Of reads by key, one at a time.
};

// On a client of its own, so that its loop is not busy with the feed.
class Probe {
 public:
  // REQUIRES: all outlive it; the workload has kProbeOrders extra orders.
  Probe(BenchClient& client, OrdersWorkload& workload, ViewKind kind, const pb::TableDefinition& orders,
        const pb::TableDefinition& view, CatalogVersion catalog);

  void start();
  ProbeResult stop();  // Blocks until the probe under way has ended.

 private:
  void write_next();
  void look();
  void read_next();
  Micros now() { return client_.loop().now(); }

  BenchClient& client_;
  OrdersWorkload& workload_;
  const TableId view_;
  OrdersFeed feed_;
  ViewCheck check_;
  Random random_{1};

  // On the client's loop.
  Order order_;
  KeyOfTable key_;
  Micros since_;
  uint64_t turn_ = 0;
  bool stopping_ = false;
  std::promise<void> stopped_;
  ProbeResult result_;
};

}  // namespace tidemark::bench
