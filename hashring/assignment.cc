#include "hashring/assignment.h"

namespace tidemark::hashring {

SliceRing to_slices(const Assignment& assignment) {
  std::vector<Slice> slices;
  for (uint32_t shard = 0; shard < assignment.shards(); ++shard) {
    const MemberId owner = assignment.owner({shard});
    if (!slices.empty() && slices.back().owner == owner) {
      ++slices.back().length;
    } else {
      slices.push_back({shard, 1, owner});
    }
  }
  return SliceRing(assignment.size(), slices);
}

Assignment to_assignment(const SliceRing& ring) {
  std::vector<MemberId> owners;
  owners.reserve(static_cast<size_t>(ring.size().units));
  for (const Slice& slice : ring.slices()) {
    owners.insert(owners.end(), static_cast<size_t>(slice.length), slice.owner);
  }
  return Assignment(std::move(owners));
}

Result<std::vector<Move>> diff(const Assignment& old, const Assignment& next) {
  if (old.shards() != next.shards()) {
    return Error{Refusal::RingsDiffer, "one ring has " + std::to_string(old.shards()) +
                                           " shards, the other " + std::to_string(next.shards())};
  }
  std::vector<Move> moves;
  for (uint32_t shard = 0; shard < old.shards(); ++shard) {
    const MemberId from = old.owner({shard}), to = next.owner({shard});
    if (from == to) continue;
    if (!moves.empty() && moves.back().shards.end == shard && moves.back().from == from &&
        moves.back().to == to) {
      ++moves.back().shards.end;
    } else {
      moves.push_back({{shard, shard + 1}, from, to});
    }
  }
  return moves;
}

}  // namespace tidemark::hashring
