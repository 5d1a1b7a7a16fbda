// Refusals of the one entry point, and what tells the strategies apart.
#include <gtest/gtest.h>

#include "hashring/baselines/baselines.h"
#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

constexpr uint32_t kShards = 256;

std::vector<SliceLoad> flat_load(uint32_t shards) {
  std::vector<SliceLoad> load;
  for (uint32_t shard = 0; shard < shards; ++shard) load.push_back({{shard, shard + 1}, 1});
  return load;
}

Result<Plan> planned(StrategyKind kind, const Members& members, const Assignment& present) {
  return plan({.kind = kind}, members, present, flat_load(present.shards()));
}

TEST(Plan, EveryStrategyRefusesBadMembers) {
  const Assignment empty = Assignment::unowned(kShards);
  for (const StrategyKind kind : all_strategies()) {
    SCOPED_TRACE(name_of(kind));
    EXPECT_EQ(planned(kind, {}, empty).error().code, Refusal::NoMembers);
    EXPECT_EQ(planned(kind, {{MemberId{0}, "a", 0}}, empty).error().code, Refusal::WeightZero);
    EXPECT_EQ(planned(kind, {{MemberId{0}, "a", 1}, {MemberId{1}, "a", 1}}, empty).error().code,
              Refusal::DuplicateMember);
    EXPECT_EQ(planned(kind, {{MemberId{0}, "a", 1}, {MemberId{0}, "b", 1}}, empty).error().code,
              Refusal::DuplicateMember);
    EXPECT_EQ(planned(kind, {{kNoMember, "a", 1}}, empty).error().code, Refusal::DuplicateMember);
    EXPECT_EQ(planned(kind, equal_members(kShards + 1), empty).error().code, Refusal::MoreMembersThanUnits);
  }
}

TEST(Plan, EveryStrategyHasANameThatFindsIt) {
  for (const StrategyKind kind : all_strategies()) EXPECT_EQ(strategy_named(name_of(kind)), kind);
  EXPECT_EQ(strategy_named("best"), std::nullopt);
}

TEST(Plan, JumpAndClaimRefuseWeights) {
  const Members members = {{MemberId{0}, "a", 1}, {MemberId{1}, "b", 2}};
  for (const StrategyKind kind : {StrategyKind::Jump, StrategyKind::RiakClaim}) {
    EXPECT_EQ(planned(kind, members, Assignment::unowned(kShards)).error().code, Refusal::WeightsUnsupported);
  }
}

TEST(Plan, JumpRemovesOnlyTheLastMember) {
  const Assignment four =
      planned(StrategyKind::Jump, equal_members(4), Assignment::unowned(kShards))->assignment;
  Members members = equal_members(4);
  members.pop_back();
  EXPECT_TRUE(planned(StrategyKind::Jump, members, four).ok());
  members = equal_members(4);
  members.erase(members.begin() + 1);
  EXPECT_EQ(planned(StrategyKind::Jump, members, four).error().code, Refusal::RemovalUnsupported);
}

TEST(Plan, WeightedMoveNeedsLoadThatCoversTheRing) {
  const Strategy strategy{.kind = StrategyKind::WeightedMove};
  const Assignment empty = Assignment::unowned(4);
  const Members members = equal_members(2);
  const auto refusal = [&](std::vector<SliceLoad> load) {
    return plan(strategy, members, empty, load).error().code;
  };
  EXPECT_EQ(refusal({}), Refusal::LoadUnusable);
  EXPECT_EQ(refusal({{{0, 2}, 1}}), Refusal::LoadUnusable);
  EXPECT_EQ(refusal({{{0, 2}, 1}, {{1, 4}, 1}}), Refusal::LoadUnusable);
  EXPECT_EQ(refusal({{{0, 2}, UINT64_MAX}, {{2, 4}, UINT64_MAX}}), Refusal::LoadUnusable);
  EXPECT_TRUE(plan(strategy, members, empty, std::vector<SliceLoad>{{{0, 2}, 1}, {{2, 4}, 1}}).ok());
}

TEST(Plan, TokensMustBeComputable) {
  const Members heavy = {{MemberId{0}, "a", uint64_t{1} << 60}};
  for (const StrategyKind kind : {StrategyKind::TokenRing, StrategyKind::Karger}) {
    EXPECT_EQ(planned(kind, heavy, Assignment::unowned(kShards)).error().code, Refusal::OutOfRange);
  }
}

TEST(RiakClaim, KeepsReplicasApartWhereMembersSuffice) {
  Assignment ring = Assignment::unowned(64);
  for (uint32_t count = 5; count <= 16; ++count) {
    ring = *riak_claim(equal_members(count), ring, 4);
    EXPECT_TRUE(keeps_distance(ring, 4)) << count << " members";
  }
}

TEST(SmallShares, AMemberOfLittleWeightStillGetsOneUnit) {
  const Members members = {{MemberId{0}, "a", 1}, {MemberId{1}, "b", 1'000'000}, {MemberId{2}, "c", 1}};
  const Assignment ring = plan({}, members, Assignment::unowned(8))->assignment;
  EXPECT_EQ(std::count(ring.owners().begin(), ring.owners().end(), MemberId{0}), 1);
  EXPECT_EQ(std::count(ring.owners().begin(), ring.owners().end(), MemberId{1}), 6);
  EXPECT_EQ(std::count(ring.owners().begin(), ring.owners().end(), MemberId{2}), 1);
}

}  // namespace
}  // namespace tidemark::hashring
