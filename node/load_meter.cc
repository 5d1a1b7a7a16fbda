#include "node/load_meter.h"

#include <algorithm>

#include "base/assert.h"
#include "proto/convert.h"

namespace tidemark {

LoadMeter::LoadMeter(ShardRange shards) : shards_(shards), pieces_(std::min(kPiecesMax, shards.size())) {
  TM_ASSERT(!shards.empty(), shards);
}

// The shards for which piece_of() gives the index.
ShardRange LoadMeter::piece(uint32_t index) const {
  auto first = [this](uint64_t i) {
    uint64_t shards = (i * shards_.size() + pieces_ - 1) / pieces_;
    return ShardId{shards_.begin.value + static_cast<uint32_t>(shards)};
  };
  return {first(index), first(index + 1)};
}

void LoadMeter::sample(Micros now) {
  if (sampled_at_.value < 0) return restart(now);
  Micros passed{now.value - sampled_at_.value};
  if (passed.value <= 0) return;
  uint64_t total = 0;
  for (uint32_t i = 0; i < pieces_; ++i) {
    rates_[i].sample(counts_[i], passed);
    total += counts_[i];
  }
  all_.sample(total, passed);
  counts_.fill(0);
  sampled_at_ = now;
}

void LoadMeter::restart(Micros now) {
  counts_.fill(0);
  sampled_at_ = now;
}

void LoadMeter::report(pb::RegionStatus& out) const {
  out.set_changes_per_second(all_.per_second());
  if (all_.per_second() == 0) return;
  for (uint32_t i = 0; i < pieces_; ++i) {
    pb::ShardLoad& load = *out.add_load();
    *load.mutable_shards() = to_pb(piece(i));
    load.set_changes_per_second(rates_[i].per_second());
  }
}

}  // namespace tidemark
