#include "hashring/weighted_move.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/hashring/histories.h"

namespace tidemark::hashring {
namespace {

constexpr uint32_t kMovedShards = 1000;

struct Situation {
  Members members;
  Assignment present;
  std::vector<SliceLoad> load;
};

// Any owners in runs, any slices, loads skewed by powers of two.
Situation any_situation() {
  Situation now;
  now.members = any_members(6, *rc::gen::arbitrary<bool>() ? Weights::Any : Weights::Equal);
  for (Member& member : now.members) member.weight = member.weight % 7 + 1;
  std::vector<MemberId> owners;
  while (owners.size() < kMovedShards) {
    const Member& member = now.members[*rc::gen::inRange<size_t>(0, now.members.size())];
    owners.insert(owners.end(), std::min<size_t>(*rc::gen::inRange(1, 60), kMovedShards - owners.size()),
                  member.id);
  }
  now.present = Assignment(owners);
  for (uint32_t at = 0; at < kMovedShards;) {
    const uint32_t end = std::min(kMovedShards, at + *rc::gen::inRange(1u, 20u));
    now.load.push_back({{at, end}, uint64_t{1} << *rc::gen::inRange(0, 16)});
    at = end;
  }
  return now;
}

uint64_t moved_between(const Assignment& a, const Assignment& b) {
  uint64_t moved = 0;
  for (const Move& move : *diff(a, b)) moved += move.shards.count();
  return moved;
}

RC_GTEST_PROP(WeightedMove, KeepsItsBudgetsAndItsSlicesWithinOneOwner, ()) {
  const Situation now = any_situation();
  const auto next = *weighted_move({}, now.members, now.present, now.load);
  RC_ASSERT(next.moved_shards <= kMovedShards * 9 / 100);
  RC_ASSERT(next.merged_shards <= kMovedShards / 100);
  RC_ASSERT(next.orphaned_shards == 0u);
  RC_ASSERT(moved_between(now.present, next.assignment) <= next.moved_shards + next.merged_shards);
  uint32_t at = 0;
  for (const ShardRange& slice : next.slices) {
    RC_ASSERT(slice.first == at && slice.end > at);
    for (uint32_t shard = slice.first; shard < slice.end; ++shard) {
      RC_ASSERT(next.assignment.owner({shard}) == next.assignment.owner({slice.first}));
    }
    at = slice.end;
  }
  RC_ASSERT(at == kMovedShards);
}

RC_GTEST_PROP(WeightedMove, NeverRaisesTheImbalanceItMeasured, ()) {
  const Situation now = any_situation();
  const auto next = *weighted_move({}, now.members, now.present, now.load);
  // A slice measured across owners is spread by whole numbers: allow for that rounding.
  RC_ASSERT(imbalance(now.members, next.assignment, now.load) <=
            imbalance(now.members, now.present, now.load) * 1.01 + 0.01);
}

RC_GTEST_PROP(WeightedMove, ReachesAPlanThatItLeavesAlone, ()) {
  Situation now = any_situation();

  const auto measured = [&](const std::vector<ShardRange>& slices) {
    std::vector<SliceLoad> load;
    for (const ShardRange& slice : slices) load.push_back({slice, 10u * slice.count()});
    return load;
  };
  auto next = *weighted_move({}, now.members, now.present, now.load);
  for (int round = 0; round < 60; ++round) {
    next = *weighted_move({}, now.members, next.assignment, measured(next.slices));
    if (next.moved_shards + next.merged_shards == 0) return;
  }
  RC_FAIL("still moving a steady load after 60 rounds");
}

}  // namespace
}  // namespace tidemark::hashring
