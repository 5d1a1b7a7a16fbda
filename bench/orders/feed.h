// Writes orders through the client, in batches, several in flight. Two batches in flight never concern the
// same order, so that what is written last is known.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "bench/orders/bench_client.h"
#include "bench/orders/workload.h"
#include "sql/table/table_codec.h"

namespace tidemark::bench {

struct FeedShape {
  uint64_t upserts = 500'000;
  uint32_t batch = 1'000;         // Operations.
  uint32_t in_flight = 16;        // Batches.
  double upserts_per_second = 0;  // 0: as fast as it goes.
};

struct FeedResult {
  uint64_t written = 0;
  double seconds = 0;
  LaneRuns tokens;                     // Of all writes.
  std::vector<double> ack_micros;      // Of each batch.
  std::optional<std::string> failure;  // The first: the run is void.
};

class OrdersFeed {
 public:
  // REQUIRES: client and workload outlive it. `orders` is the table as the catalog has it.
  OrdersFeed(BenchClient& client, OrdersWorkload& workload, const pb::TableDefinition& orders,
             CatalogVersion catalog);

  // Blocks until everything is acknowledged, or has failed.
  FeedResult run(const FeedShape& shape);
  // From another thread: begins, and is over when the future is.
  std::future<FeedResult> start(const FeedShape& shape);
  // Ends a run early. On any thread.
  void stop();

  // These alone, beside any run. On the client's loop.
  using SomeWritten = std::function<void(const Result<LaneRuns>& tokens)>;
  void write_some(const std::vector<Order>& orders, SomeWritten done);

 private:
  void add(WriteBatch& batch, const Order& order);
  void send(uint32_t slot);
  void on_written(uint32_t slot, Micros sent_at, const Result<WriteOutcome, ClientFailure>& outcome);
  void end_if_done();
  Micros due(uint64_t upsert) const;

  BenchClient& client_;
  OrdersWorkload& workload_;
  const sql::TableCodec codec_;
  const CatalogVersion catalog_;
  const std::string note_;

  // On the client's loop.
  FeedShape shape_;
  FeedResult result_;
  std::promise<FeedResult> done_;
  uint64_t begun_ = 0;  // Upserts.
  uint32_t open_ = 0;   // Batches.
  Micros began_at_;
  bool running_ = false;
  sql::EncodedRow row_;
};

// Rows of customers 1 .. count, so that every order finds its own.
Status write_customers(BenchClient& client, const pb::TableDefinition& customers, CatalogVersion catalog,
                       uint64_t count);

}  // namespace tidemark::bench
