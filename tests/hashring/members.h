// Members for tests, and naive twins that several tests share.
#pragma once

#include <map>
#include <set>

#include "hashring/placement.h"

namespace tidemark::hashring {

// n0, n1, ... of weight 1.
inline Members equal_members(uint32_t count) {
  Members members;
  for (uint32_t i = 0; i < count; ++i) members.push_back({MemberId{i}, "n" + std::to_string(i), 1});
  return members;
}

inline std::map<uint32_t, u128> held_by_id(const SliceRing& ring) {
  std::map<uint32_t, u128> held;
  for (const Slice& slice : ring.slices()) held[slice.owner.value] += slice.length;
  return held;
}

}  // namespace tidemark::hashring
