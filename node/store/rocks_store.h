// A node's disk in production: a row cache over RocksDB. One database per node, one column family, its own
// log off: RocksDB is a checkpoint, the WAL streams are the truth. What it has on disk is always a prefix of
// what was written to it, so checkpoints need only be written after the rows that they stand for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/scheduler.h"
#include "node/store/node_store.h"
#include "node/store/row_cache.h"

namespace tidemark {

struct RocksStoreOptions {
  std::string directory;
  uint64_t cluster = 0;  // The directory belongs to one node of one cluster; any other is refused.
  std::string node;
  ShardCount shards;

  // Memory: the row cache, RocksDB's block cache, and its write buffers.
  size_t row_cache_bytes = size_t{256} << 20;
  size_t block_cache_bytes = size_t{64} << 20;
  size_t write_buffer_bytes = size_t{64} << 20;

  size_t write_back_rows = 256;  // Per slice of a save: in between the loop goes on.

  Logger log;  // What RocksDB has to say of its troubles; from any thread.
  // The disk can not be read. Must not return: the process ends, and the log has everything.
  std::function<void(const std::string&)> on_unreadable;
};

class RocksStore : public NodeStore {
 public:
  // Error: says what is wrong with the directory and what to do. Nothing in it has been changed then.
  // REQUIRES: the scheduler outlives the store.
  static Result<std::unique_ptr<RocksStore>> open(RocksStoreOptions options, Scheduler& scheduler);
  ~RocksStore() override;  // On the loop. Waits for a flush under way; a save under way is not finished.

  RowStore& rows() override;
  const std::vector<Checkpoint>& loaded() const override;
  std::optional<MapVersion> first_map() const override;
  void set_first_map(MapVersion version) override;
  void save(std::vector<Checkpoint> checkpoints, Done done) override;
  void forget(RegionId region) override;
  void erase_shards(ShardRange shards) override;

  const RowCache::Figures& figures() const;
  size_t database_memory_bytes() const;  // Of RocksDB: block cache, write buffers, table readers.

 private:
  class Impl;
  explicit RocksStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
