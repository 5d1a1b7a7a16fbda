// What a row costs in the cache over RocksDB: CPU per update of a row of 100 bytes, with a working set that
// fits and with one of ten times the bound. `cache_max_ratio` is the most memory that the cache took, over
// its bound: it must stay at 1.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/random.h"
#include "net/asio_loop.h"
#include "node/store/rocks_store.h"

namespace tidemark {
namespace {

constexpr size_t kCacheBytes = size_t{16} << 20;
constexpr size_t kRowCost = 240;  // Of a row of 100 bytes in the cache, about.

// Reads the row and writes it, as a region does for each change.
void update_rows(benchmark::State& state) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tidemark-bench-XXXXXX").string();
  RocksStoreOptions options;
  options.directory = mkdtemp(pattern.data());
  options.node = "bench";
  options.row_cache_bytes = kCacheBytes;
  options.block_cache_bytes = options.write_buffer_bytes = kCacheBytes;
  options.on_unreadable = [](const std::string&) { std::abort(); };
  {
    AsioLoop loop("bench");
    auto store = RocksStore::open(options, loop);
    if (!store.ok()) return state.SkipWithError(store.error().message.c_str());
    uint64_t keys = kCacheBytes / kRowCost * static_cast<uint64_t>(state.range(0)) / 10;
    Random random(1);
    std::string row(100, 'x');
    size_t highest = 0;
    RowStore& rows = (*store)->rows();
    for (uint64_t i = 0; i < keys; ++i) rows.put(TableId{1}, i * 0x9e3779b97f4a7c15, "key", row);
    for (auto _ : state) {
      uint64_t hash = random.below(keys) * 0x9e3779b97f4a7c15;
      benchmark::DoNotOptimize(rows.get(TableId{1}, hash, "key"));
      rows.put(TableId{1}, hash, "key", row);
      highest = std::max(highest, (*store)->figures().bytes);
    }
    state.counters["cache_max_ratio"] = static_cast<double>(highest) / static_cast<double>(kCacheBytes);
    state.counters["database_megabytes"] = static_cast<double>((*store)->database_memory_bytes()) / (1 << 20);
  }
  std::filesystem::remove_all(options.directory);
}
BENCHMARK(update_rows)->ArgName("working_set_tenths_of_cache")->Arg(4)->Arg(100)->Iterations(200'000);

}  // namespace
}  // namespace tidemark

BENCHMARK_MAIN();
