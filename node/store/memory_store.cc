#include "node/store/memory_store.h"

#include <utility>

#include "base/assert.h"
#include "base/mutation.h"

namespace tidemark {

void MemoryDisk::sync(size_t count) {
  for (size_t i = 0; i < count; ++i) unsynced_[i](*this);
  unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<ptrdiff_t>(count));
}

void MemoryDisk::crash(Random& random) {
  sync(random.below(unsynced_.size() + 1));
  unsynced_.clear();
}

// ---- rows --------------------------------------------------------------------------------------------

std::optional<std::string_view> MemoryStore::Recorder::get(TableId table, uint64_t hash,
                                                           std::string_view key) {
  return now_.get(table, hash, key);
}

void MemoryStore::Recorder::put(TableId table, uint64_t hash, std::string_view key, std::string_view row) {
  now_.put(table, hash, key, row);
  disk_.unsynced_.push_back([table, hash, key = std::string(key), row = std::string(row)](MemoryDisk& disk) {
    disk.rows_.put(table, hash, key, row);
  });
}

void MemoryStore::Recorder::erase(TableId table, uint64_t hash, std::string_view key) {
  now_.erase(table, hash, key);
  disk_.unsynced_.push_back(
      [table, hash, key = std::string(key)](MemoryDisk& disk) { disk.rows_.erase(table, hash, key); });
}

void MemoryStore::Recorder::erase_tables(std::span<const TableId> tables, ShardRange shards) {
  now_.erase_tables(tables, shards);
  disk_.unsynced_.push_back([tables = std::vector<TableId>(tables.begin(), tables.end()),
                             shards](MemoryDisk& disk) { disk.rows_.erase_tables(tables, shards); });
}

std::unique_ptr<RowCursor> MemoryStore::Recorder::seek(TableId table, uint64_t hash, std::string_view key,
                                                       Direction direction) {
  return now_.seek(table, hash, key, direction);
}

// ---- store -------------------------------------------------------------------------------------------

MemoryStore::MemoryStore(MemoryDisk& disk, Scheduler& scheduler, ShardCount shards, Micros save_delay)
    : disk_(disk), scheduler_(scheduler), save_delay_(save_delay), rows_(disk, shards) {
  disk_.unsynced_.clear();
  rows_.now_ = disk_.rows_;
  for (const auto& [region, checkpoint] : disk_.checkpoints_) loaded_.push_back(checkpoint);
}

MemoryStore::~MemoryStore() = default;

void MemoryStore::set_first_map(MapVersion version) {
  disk_.first_map_ = version;
}

void MemoryStore::save(std::vector<Checkpoint> checkpoints, Done done) {
  TM_ASSERT(saving_.empty());
  saving_ = std::move(checkpoints);
  if (TM_MUTATION("position saved before the rows")) {
    for (const Checkpoint& checkpoint : saving_) disk_.checkpoints_[checkpoint.region] = checkpoint;
  }
  std::weak_ptr<Alive> alive = alive_;
  scheduler_.post_after(save_delay_, [this, alive, done = std::move(done)] {
    if (alive.expired()) return;
    std::vector<Checkpoint> saved = std::exchange(saving_, {});
    if (!disk_.refusal_.empty()) return done(Error{disk_.refusal_});
    disk_.unsynced_.push_back([saved = std::move(saved)](MemoryDisk& disk) {
      for (const Checkpoint& checkpoint : saved) disk.checkpoints_[checkpoint.region] = checkpoint;
    });
    disk_.sync(disk_.unsynced_.size());
    disk_.full_ = false;
    done(Status{});
  });
}

void MemoryStore::forget(RegionId region) {
  std::erase_if(saving_, [&](const Checkpoint& it) { return it.region == region; });
  disk_.unsynced_.push_back([region](MemoryDisk& disk) { disk.checkpoints_.erase(region); });
}

void MemoryStore::erase_shards(ShardRange shards) {
  rows_.now_.erase_shards(shards);
  disk_.unsynced_.push_back([shards](MemoryDisk& disk) { disk.rows_.erase_shards(shards); });
}

}  // namespace tidemark
