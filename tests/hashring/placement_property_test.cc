#include "hashring/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/hashring/histories.h"

namespace tidemark::hashring {
namespace {

constexpr uint32_t kShards = 512;

std::vector<SliceLoad> flat_load() {
  std::vector<SliceLoad> load;
  for (uint32_t shard = 0; shard < kShards; shard += 4) load.push_back({{shard, shard + 4}, 4});
  return load;
}

Assignment planned(StrategyKind kind, const Members& members, const Assignment& present) {
  return plan({.kind = kind}, members, present, flat_load())->assignment;
}

RC_GTEST_PROP(Plan, EveryShardHasAnOwnerAmongTheMembersAndTheSameEveryTime, ()) {
  const Members first = any_members(10, Weights::Equal);
  Members second = first;  // Grown at the end: what jump hash can do too.
  second.push_back({MemberId{100}, "member-100", 1});
  for (const StrategyKind kind : all_strategies()) {
    Assignment present = Assignment::unowned(kShards);
    for (const Members& members : {first, second, first}) {
      const Assignment next = planned(kind, members, present);
      RC_ASSERT(next == planned(kind, members, present));
      RC_ASSERT(next.shards() == kShards);
      for (const MemberId owner : next.owners()) {
        RC_ASSERT(
            std::any_of(members.begin(), members.end(), [&](const Member& m) { return m.id == owner; }));
      }
      present = next;
    }
  }
}

// Who joins only receives, who leaves only gives; nothing moves between the others.
RC_GTEST_PROP(Plan, ConsistentStrategiesMoveNothingBetweenThoseWhoStay, ()) {
  const Members before = any_members(10, Weights::Equal);
  Members after = before;
  after.push_back({MemberId{100}, "member-100", 1});
  for (const StrategyKind kind :
       {StrategyKind::Greedy, StrategyKind::CutShiftSorted, StrategyKind::Coalescing, StrategyKind::TokenRing,
        StrategyKind::Karger, StrategyKind::Rendezvous, StrategyKind::Jump}) {
    const Assignment small = planned(kind, before, Assignment::unowned(kShards));
    const Assignment large = planned(kind, after, small);
    for (const Move& move : *diff(small, large)) RC_ASSERT(move.to == MemberId{100});
    for (const Move& move : *diff(large, planned(kind, before, large))) RC_ASSERT(move.from == MemberId{100});
  }
}

RC_GTEST_PROP(Plan, WeightsShiftSharesTheRightWay, ()) {
  Members members = any_members(6, Weights::Equal);
  RC_PRE(members.size() >= 2);
  for (const StrategyKind kind : {StrategyKind::Rendezvous, StrategyKind::Karger, StrategyKind::TokenRing}) {
    const auto share = [&](const Assignment& a) {
      return std::count(a.owners().begin(), a.owners().end(), members[0].id);
    };
    members[0].weight = 1;
    const auto light = share(planned(kind, members, Assignment::unowned(kShards)));
    members[0].weight = 3;
    const auto heavy = share(planned(kind, members, Assignment::unowned(kShards)));
    RC_ASSERT(heavy > light);
  }
}

}  // namespace
}  // namespace tidemark::hashring
