#include "hashring/handoff_ring.h"

#include <algorithm>

namespace tidemark::hashring {

Result<std::vector<HandoffSlice>> handoff_ring(const SliceRing& old, const SliceRing& next) {
  if (old.size() != next.size()) return Error{Refusal::RingsDiffer, "the rings have different sizes"};
  std::vector<HandoffSlice> handoff;
  size_t i = 0, j = 0;
  for (u128 at = 0; at < old.size().units;) {
    const Slice from = old.slice(i), to = next.slice(j);
    const u128 from_end = from.begin + from.length, to_end = to.begin + to.length;
    const u128 end = std::min(from_end, to_end);
    handoff.push_back({static_cast<uint64_t>(at), end - at, from.owner, to.owner});
    at = end;
    if (from_end == end) ++i;
    if (to_end == end) ++j;
  }
  return handoff;
}

u128 units_moved(const std::vector<HandoffSlice>& handoff) {
  u128 moved = 0;
  for (const HandoffSlice& slice : handoff) {
    if (slice.moves() && slice.from != kNoMember) moved += slice.length;
  }
  return moved;
}

}  // namespace tidemark::hashring
