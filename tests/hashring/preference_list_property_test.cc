#include "hashring/preference_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hashring/random_slicing.h"
#include "tests/hashring/histories.h"

namespace tidemark::hashring {
namespace {

constexpr ReplicaPlacement kPlacements[] = {ReplicaPlacement::Clockwise, ReplicaPlacement::Random,
                                            ReplicaPlacement::Rotation, ReplicaPlacement::Jumping};

// Weights from 1 to 2^64 leave slices of one unit beside slices of nearly the whole ring.
SliceRing any_ring() {
  SliceRing ring = SliceRing::unowned(any_size(12));
  for (const Members& members : any_history(12, Weights::Any)) {
    ring = *reslice(ring, members, GapCollection::Greedy);
  }
  return ring;
}

RC_GTEST_PROP(PreferenceList, ReachesEveryMemberOnceInEveryConfiguration, ()) {
  const SliceRing ring = any_ring();
  const uint64_t key = unit_of(*rc::gen::arbitrary<uint64_t>(), ring.size());
  for (const ReplicaPlacement placement : kPlacements) {
    PreferenceList list(ring, placement, key), again(ring, placement, key);
    std::set<uint32_t> seen;
    for (size_t i = 0; i < ring.owner_count(); ++i) {
      const std::optional<MemberId> member = list.next();
      RC_ASSERT(member.has_value());
      RC_ASSERT(seen.insert(member->value).second);
      RC_ASSERT(again.next() == member);
      if (i == 0) RC_ASSERT(*member == ring.owner_of(key));
    }
    RC_ASSERT(!list.next().has_value());
    RC_ASSERT(list.queries() <= 18 * ring.slice_count());
  }
}

RC_GTEST_PROP(ReplicaList, HasAsManyDistinctMembersAsAskedForOrIsRefused, ()) {
  const SliceRing ring = any_ring();
  const uint64_t key = unit_of(*rc::gen::arbitrary<uint64_t>(), ring.size());
  const size_t wanted = *rc::gen::inRange<size_t>(0, 15);
  for (const ReplicaPlacement placement : kPlacements) {
    const auto list = replica_list(ring, placement, key, wanted);
    RC_ASSERT(list.ok() == (wanted <= ring.owner_count()));
    if (!list.ok()) continue;
    RC_ASSERT(std::set(list->begin(), list->end()).size() == wanted);
  }
}

RC_GTEST_PROP(ClockwiseReplicas, AreTheNextDistinctOwnersOfANaiveWalk, ()) {
  const SliceRing ring = any_ring();
  const uint64_t key = unit_of(*rc::gen::arbitrary<uint64_t>(), ring.size());
  std::vector<MemberId> walked;
  const size_t start = ring.index_of(key);
  for (size_t i = 0; i < ring.slice_count(); ++i) {
    const MemberId owner = ring.slice((start + i) % ring.slice_count()).owner;
    if (std::find(walked.begin(), walked.end(), owner) == walked.end()) walked.push_back(owner);
  }
  RC_ASSERT(*replica_list(ring, ReplicaPlacement::Clockwise, key, ring.owner_count()) == walked);
}

}  // namespace
}  // namespace tidemark::hashring
