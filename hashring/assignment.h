// Who owns each of Q shards: an array, read by index.
#pragma once

#include "hashring/result.h"
#include "hashring/slice_ring.h"

namespace tidemark::hashring {

struct Shard {
  uint32_t value;
  auto operator<=>(const Shard&) const = default;
};

// A run of shards, [first, end).
struct ShardRange {
  uint32_t first;
  uint32_t end;
  uint32_t count() const { return end - first; }
  auto operator<=>(const ShardRange&) const = default;
};

inline constexpr uint32_t kShardsMax = 1u << 24;

class Assignment {
 public:
  Assignment() = default;
  explicit Assignment(std::vector<MemberId> owners) : owners_(std::move(owners)) {}
  static Assignment unowned(uint32_t shards) { return Assignment(std::vector(shards, kNoMember)); }

  uint32_t shards() const { return static_cast<uint32_t>(owners_.size()); }
  RingSize size() const { return {owners_.size()}; }
  // REQUIRES: shard < shards().
  MemberId owner(Shard shard) const { return owners_[shard.value]; }
  Shard shard_of(uint64_t hash) const { return {static_cast<uint32_t>(unit_of(hash, size()))}; }
  const std::vector<MemberId>& owners() const { return owners_; }

  bool operator==(const Assignment&) const = default;

 private:
  std::vector<MemberId> owners_;
};

// The same ring as slices, and back.
SliceRing to_slices(const Assignment& assignment);
Assignment to_assignment(const SliceRing& ring);

// Shards that change hands. `from` is kNoMember where nobody owned them.
struct Move {
  ShardRange shards;
  MemberId from;
  MemberId to;
  auto operator<=>(const Move&) const = default;
};

// Exactly what differs between two versions, in ring order, as the longest runs of one donor and one heir.
// RingsDiffer if they do not have the same number of shards.
Result<std::vector<Move>> diff(const Assignment& old, const Assignment& next);

}  // namespace tidemark::hashring
