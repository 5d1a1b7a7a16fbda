// One record of a source stream, reduced to the lanes of a queue, as its effects: computed once, in a defined
// order, and kept uncombined until every destination has acknowledged them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"
#include "proto/effect.h"

namespace tidemark {

// Where an effect lies and what it waits for. Its position is (generation, offset of the record, step).
struct StoredEffect {
  ShardId shard;  // Of the row it is for.
  ShardId lane;   // Of the change it comes from.
  uint32_t step = 0;
  uint32_t begin = 0;  // Of its encoding, in EffectEntry::bytes_.
  uint32_t size = 0;
  bool done = false;  // Acknowledged, or let go.
};

class EffectEntry {
 public:
  // Pooled: everything but the memory is forgotten.
  void reset(Generation generation, Offset offset);

  // Filling: in the order of the record's changes, all effects of a change together. Then seal() once.
  void append(ShardId lane, uint32_t step, ShardCount shards, const Effect& effect);
  void seal();

  Offset offset() const { return offset_; }
  Position begin() const { return {generation_, offset_, 0}; }
  Position end() const { return {generation_, Offset{offset_.value + 1}, 0}; }
  Position position_of(const StoredEffect& effect) const { return {generation_, offset_, effect.step}; }
  size_t bytes() const { return bytes_.size() + effects_.size() * sizeof(StoredEffect); }
  // What it holds on to, in the pool too.
  size_t capacity_bytes() const { return bytes_.capacity() + effects_.capacity() * sizeof(StoredEffect); }
  uint32_t open() const { return open_; }

  // The effects for these shards, in an order that keeps that of each row.
  std::span<StoredEffect> for_shards(ShardRange shards);
  std::span<const StoredEffect> effects() const { return effects_; }
  Effect decode(const StoredEffect& effect) const;

  // Marks what lies before the lanes' positions. True if nothing is left open for the shards.
  bool acknowledge(ShardRange shards, const LaneRuns& positions, Position lowest);
  // Marks all that is open for the shards, and tells how much it was.
  uint32_t let_go(ShardRange shards);

  // The same for the effects of these lanes, which another reads now.
  void drop_lanes(ShardRange lanes);

  // Set by who fills it.
  bool counts = false;  // Progress past it is reported until it is recorded,
  bool marker = false;  // and at once.
  bool hint = false;    // It is reported once.
  size_t cost = 0;      // Of the queue's credit.
  CatalogVersion catalog_version;

 private:
  Generation generation_;
  Offset offset_;
  std::string bytes_;
  std::vector<StoredEffect> effects_;  // After seal(): by destination shard, then as they were appended.
  uint32_t open_ = 0;
};

}  // namespace tidemark
