// How many changes per second go through the lanes of a region, by pieces of its shards. Counting a change is
// an addition to an array; rates follow once per sample.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"
#include "node/decayed_rate.h"
#include "proto/messages.pb.h"

namespace tidemark {

class LoadMeter {
 public:
  static constexpr uint32_t kPiecesMax = 64;

  // REQUIRES: shards is not empty.
  explicit LoadMeter(ShardRange shards);

  // A shard that is not the region's counts as its last: a figure is no place to find damage.
  void count(ShardId shard) { ++counts_[piece_of(shard)]; }

  // Rates are of the time between samples. The first one only begins.
  void sample(Micros now);
  // What was counted so far was not now: the replica has only caught up.
  void restart(Micros now);

  // Changes per second, and the load of each piece unless there is none.
  void report(pb::RegionStatus& out) const;

 private:
  uint32_t piece_of(ShardId shard) const {
    uint64_t piece = uint64_t{shard.value - shards_.begin.value} * pieces_ / shards_.size();
    return piece < pieces_ ? static_cast<uint32_t>(piece) : pieces_ - 1;
  }
  ShardRange piece(uint32_t index) const;

  ShardRange shards_;
  uint32_t pieces_;
  std::array<uint64_t, kPiecesMax> counts_{};
  std::array<DecayedRate, kPiecesMax> rates_{};
  DecayedRate all_;  // Its own: rounding must not add up over pieces.
  Micros sampled_at_{-1};
};

}  // namespace tidemark
