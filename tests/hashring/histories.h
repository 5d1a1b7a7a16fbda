// Random members and histories of changes, for properties.
#pragma once

#include <rapidcheck.h>

#include "tests/hashring/members.h"

namespace tidemark::hashring {

enum class Weights : bool { Equal, Any };

inline rc::Gen<uint64_t> any_weight() {
  return rc::gen::weightedOneOf<uint64_t>({{8, rc::gen::inRange<uint64_t>(1, 10)},
                                           {2, rc::gen::inRange<uint64_t>(1, 1'000'000)},
                                           {1, rc::gen::inRange<uint64_t>(1, UINT64_MAX)}});
}

// One to `most` members with ids from 0 to 2 * most, in any order.
inline Members any_members(uint32_t most, Weights weights) {
  std::set<uint32_t> ids;
  const auto count = *rc::gen::inRange<uint32_t>(1, most + 1);
  while (ids.size() < count) ids.insert(*rc::gen::inRange<uint32_t>(0, 2 * most));
  Members members;
  for (const uint32_t id : ids) {
    const uint64_t weight = weights == Weights::Any ? *any_weight() : 1;
    members.push_back({MemberId{id}, "member-" + std::to_string(id), weight});
  }
  const uint64_t turn = *rc::gen::inRange<uint64_t>(0, members.size());
  std::rotate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(turn), members.end());
  return members;
}

// Up to eight sets of members, one after the other: several join, leave and change weight at once.
inline std::vector<Members> any_history(uint32_t most, Weights weights) {
  std::vector<Members> history;
  const auto length = *rc::gen::inRange<size_t>(1, 9);
  for (size_t i = 0; i < length; ++i) history.push_back(any_members(most, weights));
  return history;
}

inline RingSize any_size(uint32_t at_least) {
  return {*rc::gen::oneOf(rc::gen::map(rc::gen::inRange<uint64_t>(at_least, 4 * at_least + 64),
                                       [](uint64_t units) { return u128{units}; }),
                          rc::gen::just(u128{16'384}), rc::gen::just(kHashSpace.units))};
}

}  // namespace tidemark::hashring
