#include "hashring/weighted_move.h"

#include <gmock/gmock.h>

#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

using ::testing::ElementsAre;

Assignment halves(uint32_t shards) {
  std::vector<MemberId> owners(shards, MemberId{0});
  std::fill(owners.begin() + shards / 2, owners.end(), MemberId{1});
  return Assignment(owners);
}

std::vector<SliceLoad> loads(uint32_t width, std::vector<uint64_t> values) {
  std::vector<SliceLoad> load;
  for (uint32_t i = 0; i < values.size(); ++i) load.push_back({{i * width, (i + 1) * width}, values[i]});
  return load;
}

TEST(WeightedMove, MovesTheSliceWithTheMostGainPerShard) {
  const auto load = loads(5, {1, 30, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const auto next = *weighted_move({.split_below = 0}, equal_members(2), halves(100), load);
  // Only one of its five-shard slices fits the 9 shards; the 30 would only turn the tables.
  EXPECT_EQ(next.moved_shards, 5u);
  EXPECT_LT(imbalance(equal_members(2), next.assignment, load),
            imbalance(equal_members(2), halves(100), load));
}

TEST(WeightedMove, StaysWithinTheChurnBudget) {
  std::vector<uint64_t> values(100, 1);
  std::fill(values.begin(), values.begin() + 50, 1000);
  const auto next = *weighted_move({}, equal_members(2), halves(100), loads(1, values));
  EXPECT_EQ(next.moved_shards, 9u);
  EXPECT_EQ(next.merged_shards, 0u);  // Nobody has more than 50 slices.
}

TEST(WeightedMove, SplitsHotSlicesWhereTheyAreAndDoesNotMoveTheHalves) {
  const auto next = *weighted_move({.move_percent_max = 0}, equal_members(2), halves(8), loads(4, {10, 10}));
  EXPECT_THAT(next.slices, ElementsAre(ShardRange{0, 4}, ShardRange{4, 8}));
  const auto hot =
      *weighted_move({.move_percent_max = 0}, equal_members(2), halves(8), loads(2, {1, 9, 1, 1}));
  EXPECT_THAT(hot.slices, ElementsAre(ShardRange{0, 2}, ShardRange{2, 3}, ShardRange{3, 4}, ShardRange{4, 6},
                                      ShardRange{6, 8}));
  EXPECT_EQ(hot.assignment, halves(8));
}

TEST(WeightedMove, MergesColdNeighboursOnlyAboveFiftySlices) {
  std::vector<uint64_t> values(120, 0);
  values[0] = 100;
  values[60] = 100;
  const MovePolicy policy{.move_percent_max = 0, .split_below = 0};
  const auto next = *weighted_move(policy, equal_members(2), halves(120), loads(1, values));
  EXPECT_EQ(next.slices.size(), 100u);  // Each was at 60 and stops at 50.
  EXPECT_LE(next.merged_shards, 1u);    // One percent of 120 shards.
}

TEST(WeightedMove, GivesWhatALeaverHadToTheColdest) {
  const auto load = loads(1, {5, 5, 5, 5, 0, 0, 0, 0});
  const auto next = *weighted_move({.move_percent_max = 0}, {{MemberId{1}, "b", 1}, {MemberId{2}, "c", 1}},
                                   halves(8), load);
  EXPECT_EQ(next.orphaned_shards, 4u);
  EXPECT_DOUBLE_EQ(imbalance({{MemberId{1}, "b", 1}, {MemberId{2}, "c", 1}}, next.assignment, load), 1);
}

TEST(WeightedMove, ACongestedMemberReceivesNothing) {
  std::vector<uint64_t> values(100, 1);
  std::fill(values.begin(), values.begin() + 50, 1000);
  MovePolicy policy{.in_transit_max = 10, .in_transit = {{MemberId{1}, 10}}};
  EXPECT_EQ(weighted_move(policy, equal_members(2), halves(100), loads(1, values))->moved_shards, 0u);
  policy.in_transit[0].shards = 7;
  EXPECT_EQ(weighted_move(policy, equal_members(2), halves(100), loads(1, values))->moved_shards, 3u);
}

TEST(WeightedMove, LoadMeasuredAcrossAChangeOfOwnerIsSpreadInProportion) {
  const auto next = *weighted_move({}, equal_members(2), halves(8), std::vector<SliceLoad>{{{0, 8}, 7}});
  EXPECT_THAT(next.slices, ElementsAre(ShardRange{0, 4}, ShardRange{4, 8}));
}

TEST(Imbalance, IsThePeakOverTheMeanPerWeight) {
  EXPECT_DOUBLE_EQ(imbalance(equal_members(2), halves(4), loads(1, {3, 3, 1, 1})), 1.5);
  const Members weighted = {{MemberId{0}, "a", 3}, {MemberId{1}, "b", 1}};
  EXPECT_DOUBLE_EQ(imbalance(weighted, halves(4), loads(1, {3, 3, 1, 1})), 1);
  EXPECT_DOUBLE_EQ(imbalance(equal_members(2), halves(4), loads(1, {0, 0, 0, 0})), 1);
}

}  // namespace
}  // namespace tidemark::hashring
