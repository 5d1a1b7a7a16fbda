// The words of placement: members, units of the ring, and the counter of work.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::hashring {

// Wide enough for 2^64 units times a 64-bit weight: every share is computed exactly.
__extension__ typedef unsigned __int128 u128;

// Given by the caller, never reused; what the ring stores. Names are only hashed and shown.
struct MemberId {
  uint32_t value;
  auto operator<=>(const MemberId&) const = default;
};
inline constexpr MemberId kNoMember{UINT32_MAX};

struct Member {
  MemberId id;
  std::string name;
  uint64_t weight = 1;
};
using Members = std::vector<Member>;

// How many units the ring has: Q shards, or the whole 64-bit hash space. Units are numbered from 0.
struct RingSize {
  u128 units;
  auto operator<=>(const RingSize&) const = default;
};
inline constexpr RingSize kHashSpace{u128{1} << 64};

// The unit in which a 64-bit hash lies. Equal hashes ranges per unit, to one, for any size.
constexpr uint64_t unit_of(uint64_t hash, RingSize size) {
  return static_cast<uint64_t>((u128{hash} * size.units) >> 64);
}

// Steps taken to compute a change: slices and members visited, comparisons made. A count, not a time, so
// that growth can be asserted.
struct Work {
  uint64_t steps = 0;
};

}  // namespace tidemark::hashring
