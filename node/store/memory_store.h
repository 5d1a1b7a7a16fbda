// A node's disk in memory, for tests and the simulation. MemoryDisk outlives the process; a crash keeps what
// was saved and some of what was written since, in the order of writing, as RocksDB without its log does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/scheduler.h"
#include "node/store/memory_row_store.h"
#include "node/store/node_store.h"

namespace tidemark {

class MemoryDisk {
 public:
  explicit MemoryDisk(ShardCount shards) : rows_(shards) {}

  // The process has died: a prefix of what was not yet synced is there all the same.
  void crash(Random& random);

  const MemoryRowStore& rows() const { return rows_; }
  const std::map<RegionId, Checkpoint>& checkpoints() const { return checkpoints_; }
  void refuse_saves(std::string reason) { refusal_ = std::move(reason); }  // "" ends it.
  void fill() { full_ = true; }  // No room for rows, until it takes a save.

 private:
  friend class MemoryStore;

  using Write = std::function<void(MemoryDisk&)>;

  void sync(size_t count);  // The oldest `count` writes become durable.

  MemoryRowStore rows_;
  std::map<RegionId, Checkpoint> checkpoints_;
  std::optional<MapVersion> first_map_;
  std::vector<Write> unsynced_;
  std::string refusal_;
  bool full_ = false;
};

class MemoryStore : public NodeStore {
 public:
  // As a process finds the disk. REQUIRES: disk and scheduler outlive it; one at a time per disk.
  MemoryStore(MemoryDisk& disk, Scheduler& scheduler, ShardCount shards, Micros save_delay = Micros{1000});
  ~MemoryStore() override;

  RowStore& rows() override { return rows_; }
  const std::vector<Checkpoint>& loaded() const override { return loaded_; }
  std::optional<MapVersion> first_map() const override { return disk_.first_map_; }
  void set_first_map(MapVersion version) override;
  void save(std::vector<Checkpoint> checkpoints, Done done) override;
  void forget(RegionId region) override;
  void erase_shards(ShardRange shards) override;

 private:
  struct Alive {};

  class Recorder : public RowStore {
   public:
    Recorder(MemoryDisk& disk, ShardCount shards) : disk_(disk), now_(shards) {}
    bool has_room() const override { return !disk_.full_; }
    std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) override;
    void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) override;
    void erase(TableId table, uint64_t hash, std::string_view key) override;
    void erase_tables(std::span<const TableId> tables, ShardRange shards) override;
    std::unique_ptr<RowCursor> seek(TableId table, uint64_t hash, std::string_view key,
                                    Direction direction) override;

    MemoryDisk& disk_;
    MemoryRowStore now_;
  };

  MemoryDisk& disk_;
  Scheduler& scheduler_;
  Micros save_delay_;
  Recorder rows_;
  std::vector<Checkpoint> loaded_;
  std::vector<Checkpoint> saving_;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace tidemark
