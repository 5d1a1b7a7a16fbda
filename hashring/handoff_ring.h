// The difference of two rings of slices: the borders of both, and for each piece its old and its new owner.
#pragma once

#include "hashring/result.h"
#include "hashring/slice_ring.h"

namespace tidemark::hashring {

struct HandoffSlice {
  uint64_t begin;
  u128 length;
  MemberId from;
  MemberId to;
  bool moves() const { return from != to; }
  auto operator<=>(const HandoffSlice&) const = default;
};

// Covers the whole ring, pieces that stay included: each piece is served by `from` until its hand-off is
// done. RingsDiffer if the sizes differ.
Result<std::vector<HandoffSlice>> handoff_ring(const SliceRing& old, const SliceRing& next);

// Units that change hands; units that nobody owned do not count, they have no data to move.
u128 units_moved(const std::vector<HandoffSlice>& handoff);

}  // namespace tidemark::hashring
