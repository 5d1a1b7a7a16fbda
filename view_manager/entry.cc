#include "view_manager/entry.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

void EffectEntry::reset(Generation generation, Offset offset) {
  generation_ = generation;
  offset_ = offset;
  bytes_.clear();
  effects_.clear();
  open_ = 0;
  counts = false;
  marker = false;
  hint = false;
  cost = 0;
  catalog_version = {};
}

void EffectEntry::append(ShardId lane, uint32_t step, ShardCount shards, const Effect& effect) {
  StoredEffect stored;
  stored.shard = shards.shard_of(effect.hash);
  stored.lane = lane;
  stored.step = step;
  stored.begin = static_cast<uint32_t>(bytes_.size());
  append_effect(bytes_, effect);
  TM_ASSERT(bytes_.size() <= UINT32_MAX, bytes_.size());
  stored.size = static_cast<uint32_t>(bytes_.size()) - stored.begin;
  effects_.push_back(stored);
  ++open_;
}

void EffectEntry::seal() {
  std::sort(effects_.begin(), effects_.end(), [](const StoredEffect& a, const StoredEffect& b) {
    return (uint64_t{a.shard.value} << 32 | a.begin) < (uint64_t{b.shard.value} << 32 | b.begin);
  });
}

std::span<StoredEffect> EffectEntry::for_shards(ShardRange shards) {
  auto before = [](const StoredEffect& effect, ShardId shard) { return effect.shard < shard; };
  auto first = std::lower_bound(effects_.begin(), effects_.end(), shards.begin, before);
  auto last = std::lower_bound(first, effects_.end(), shards.end, before);
  return {first, last};
}

Effect EffectEntry::decode(const StoredEffect& effect) const {
  EffectReader reader(std::string_view(bytes_).substr(effect.begin, effect.size));
  Effect out;
  bool read = reader.next(out);
  TM_ASSERT(read);
  return out;
}

bool EffectEntry::acknowledge(ShardRange shards, const LaneRuns& positions, Position lowest) {
  if (open_ == 0) return true;
  bool all = true;
  const bool whole = lowest >= end();
  for (StoredEffect& effect : for_shards(shards)) {
    if (effect.done) continue;
    if (whole || positions.at(effect.lane) > position_of(effect)) {
      effect.done = true;
      --open_;
    } else {
      all = false;
    }
  }
  return all;
}

uint32_t EffectEntry::let_go(ShardRange shards) {
  uint32_t count = 0;
  for (StoredEffect& effect : for_shards(shards)) {
    if (effect.done) continue;
    effect.done = true;
    ++count;
  }
  open_ -= count;
  return count;
}

void EffectEntry::drop_lanes(ShardRange lanes) {
  for (StoredEffect& effect : effects_) {
    if (effect.done || !lanes.contains(effect.lane)) continue;
    effect.done = true;
    --open_;
  }
}

}  // namespace tidemark
