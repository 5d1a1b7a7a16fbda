// The members for one key in order of preference: the owner, the other replicas, and then those to hand off
// to while a replica is away. Lazy: each next() computes one member, so nobody pays for a list it does not
// read.
#pragma once

#include <optional>

#include "hashring/result.h"
#include "hashring/slice_ring.h"

namespace tidemark::hashring {

enum class ReplicaPlacement : uint8_t {
  Clockwise,  // The owners of the slices after the key's.
  Random,     // The owners of a sequence of random units that the key seeds.
  Rotation,   // The ring turned by one slice's length after the other, then by halves, quarters, ...
  Jumping,    // From the key on, each time by the length of the slice it lies in.
};

class PreferenceList {
 public:
  // REQUIRES: `ring` outlives the list; key < ring.size().
  PreferenceList(const SliceRing& ring, ReplicaPlacement placement, uint64_t key);

  // The next member that was not given yet; nothing once every owner in the ring was.
  //
  // Random, rotation and jumping may need steps without number to hit a tiny slice. After a bound (16 per
  // slice) the rest comes clockwise: so every member is reached in every configuration.
  std::optional<MemberId> next();

  // Lookups made so far, the first included.
  uint64_t queries() const { return queries_; }

 private:
  struct Turn {  // Where a rotation stands.
    uint32_t round = 0;
    size_t slice = 0;  // Counted from the key's own.
    u128 part = 1;     // Odd multiples of 2^-round of the slice's length.
    u128 offset = 0;   // Lengths of the slices turned by in this round.
  };

  MemberId probe();
  size_t probe_random();
  size_t probe_rotation();
  size_t probe_jump();
  uint64_t turned_by(u128 units) const;

  const SliceRing& ring_;
  ReplicaPlacement placement_;
  uint64_t key_;
  uint64_t at_;       // The unit that jumping has reached.
  size_t start_;      // The slice of the key.
  size_t clockwise_;  // The slice that the clockwise walk has reached.
  uint64_t queries_ = 0;
  uint64_t queries_max_;
  Turn turn_;
  std::vector<MemberId> given_;
};

// The first `replicas` of the list. TooManyReplicas if the ring has fewer owners.
Result<std::vector<MemberId>> replica_list(const SliceRing& ring, ReplicaPlacement placement, uint64_t key,
                                           size_t replicas);

// Those to hand off to: the next up to `count` members after the replicas.
Result<std::vector<MemberId>> handoff_list(const SliceRing& ring, ReplicaPlacement placement, uint64_t key,
                                           size_t replicas, size_t count);

}  // namespace tidemark::hashring
