#include "server/store_metrics.h"

namespace tidemark {

StoreMetrics::StoreMetrics(Metrics& metrics)
    : rows_(metrics.gauge({"tidemark_node_row_cache_rows", "Rows in the row cache."})),
      bytes_(metrics.gauge({"tidemark_node_row_cache_bytes", "Size of the row cache; bounded."})),
      dirty_bytes_(metrics.gauge(
          {"tidemark_node_row_cache_dirty_bytes", "Rows in the cache that the disk does not have yet."})),
      hits_(
          metrics.counter({"tidemark_node_row_cache_hits_total", "Rows asked for and found in the cache."})),
      misses_(
          metrics.counter({"tidemark_node_row_cache_misses_total", "Rows asked for and read from disk."})),
      evicted_(
          metrics.counter({"tidemark_node_row_cache_evicted_total", "Rows that had to leave the cache."})),
      written_back_(metrics.counter(
          {"tidemark_node_row_cache_written_back_total", "Rows written from the cache to disk."})),
      database_bytes_(metrics.gauge({"tidemark_node_database_memory_bytes",
                                     "Memory of RocksDB: block cache, write buffers, table readers."})) {}

void StoreMetrics::sample(const RocksStore& store) {
  const RowCache::Figures& figures = store.figures();
  rows_.set(static_cast<double>(figures.rows));
  bytes_.set(static_cast<double>(figures.bytes));
  dirty_bytes_.set(static_cast<double>(figures.dirty_bytes));
  hits_.follow(figures.hits);
  misses_.follow(figures.misses);
  evicted_.follow(figures.evicted);
  written_back_.follow(figures.written_back);
  database_bytes_.set(static_cast<double>(store.database_memory_bytes()));
}

}  // namespace tidemark
