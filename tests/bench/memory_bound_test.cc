// Memory is bounded by configuration: a working set of more than ten times the row cache's limit.
#include <gtest/gtest.h>

#include "bench/orders/orders_bench.h"
#include "bench/orders/process_figures.h"
#include "tests/wal/temporary_directory.h"

namespace tidemark::bench {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

TEST(Memory, StaysUnderItsLimitWithAWorkingSetOfTenTimesIt) {
  const TemporaryDirectory directory;
  OrdersBenchOptions options;
  options.cluster.directory = (directory.path() / "data").string();
  options.cluster.coordinator.regions = 4;
  options.cluster.store.row_cache_bytes = 16 * kMegabyte;
  options.cluster.store.block_cache_bytes = 8 * kMegabyte;
  options.cluster.store.write_buffer_bytes = 12 * kMegabyte;
  options.cluster.view_manager.input_bytes_max = 4 * kMegabyte;
  options.cluster.view_manager.effects_bytes_max = 8 * kMegabyte;
  options.shape.orders = 900'000;  // About 250 bytes each in memory: 200 MB and more.
  options.shape.customers = 50'000;
  options.bulk.upserts = 1'000'000;
  options.bulk.in_flight = 4;
  options.steady_seconds = 0;
  const uint64_t before = rss_bytes();
  auto result = run_orders_bench(options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_GT(result->rows_evicted, 400'000u) << "the working set fits: nothing is shown";
  // The limits above, what is in flight (8 MB of log per region at most), and the benchmark's own 8 MB.
  EXPECT_LT(result->rss_peak_bytes, before + 110 * kMegabyte);
}

}  // namespace
}  // namespace tidemark::bench
