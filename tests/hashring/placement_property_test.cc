#include "hashring/placement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "hashring/baselines/baselines.h"
#include "hashring/mix.h"
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

// Every point of every member looked at for every shard.
RC_GTEST_PROP(Karger, AgreesWithItsNaiveTwin, ()) {
  Members members = any_members(6, Weights::Equal);
  members[0].weight = *rc::gen::inRange<uint64_t>(1, 4);
  const Assignment ring = *karger(members, 64, 5);
  for (uint32_t shard = 0; shard < 64; ++shard) {
    std::tuple<bool, uint64_t, MemberId> nearest{true, UINT64_MAX, kNoMember};
    for (const Member& member : members) {
      for (uint64_t i = 0; i < member.weight * 5; ++i) {
        const uint64_t hash = draw(hash_name(member.name), i);
        nearest = std::min(nearest, std::tuple(unit_of(hash, {64}) < shard, hash, member.id));
      }
    }
    RC_ASSERT(ring.owner({shard}) == std::get<2>(nearest));
  }
}

// The same race in floating point, where it is not too close to call.
RC_GTEST_PROP(Rendezvous, AgreesWithItsNaiveTwin, ()) {
  Members members = any_members(8, Weights::Equal);
  for (Member& member : members) member.weight = *rc::gen::inRange<uint64_t>(1, 6);
  const Assignment ring = *rendezvous(members, 64);
  for (uint32_t shard = 0; shard < 64; ++shard) {
    std::map<double, MemberId> times;
    for (const Member& member : members) {
      const double number = std::ldexp(static_cast<double>(draw(hash_name(member.name), shard)), -64);
      times[-std::log2(number) / static_cast<double>(member.weight)] = member.id;
    }
    if (times.size() > 1 && std::next(times.begin())->first - times.begin()->first < 1e-6) continue;
    RC_ASSERT(ring.owner({shard}) == times.begin()->second);
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
