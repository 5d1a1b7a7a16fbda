#include <gmock/gmock.h>

#include "hashring/handoff_ring.h"
#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

using ::testing::ElementsAre;

Assignment of(std::initializer_list<uint32_t> ids) {
  std::vector<MemberId> owners;
  for (const uint32_t id : ids) owners.push_back({id});
  return Assignment(owners);
}

TEST(Diff, NamesEveryShardThatMovesAndNoOther) {
  const Assignment old = of({0, 0, 0, 1, 1, 1, 2, 2});
  const Assignment next = of({0, 3, 3, 3, 1, 1, 2, 0});
  EXPECT_THAT(*diff(old, next),
              ElementsAre(Move{{1, 3}, MemberId{0}, MemberId{3}}, Move{{3, 4}, MemberId{1}, MemberId{3}},
                          Move{{7, 8}, MemberId{2}, MemberId{0}}));
  EXPECT_TRUE(diff(old, old)->empty());
}

TEST(Diff, RefusesRingsOfDifferentSize) {
  EXPECT_EQ(diff(of({0, 1}), of({0})).error().code, Refusal::RingsDiffer);
}

TEST(HandoffRing, HasTheBordersOfBothRings) {
  const SliceRing old = to_slices(of({0, 0, 0, 1, 1, 1})), next = to_slices(of({0, 0, 2, 2, 1, 1}));
  const auto handoff = *handoff_ring(old, next);
  EXPECT_THAT(handoff, ElementsAre(HandoffSlice{0, 2, MemberId{0}, MemberId{0}},
                                   HandoffSlice{2, 1, MemberId{0}, MemberId{2}},
                                   HandoffSlice{3, 1, MemberId{1}, MemberId{2}},
                                   HandoffSlice{4, 2, MemberId{1}, MemberId{1}}));
  EXPECT_TRUE(units_moved(handoff) == 2);
}

TEST(Assignment, SlicesAndBackIsTheSame) {
  const Assignment assignment = of({0, 0, 1, 2, 2, 0});
  EXPECT_EQ(to_slices(assignment).slice_count(), 4u);
  EXPECT_EQ(to_assignment(to_slices(assignment)), assignment);
}

TEST(Assignment, ShardOfAHashIsItsSixteenth) {
  const Assignment assignment = Assignment::unowned(16);
  EXPECT_EQ(assignment.shard_of(0).value, 0u);
  EXPECT_EQ(assignment.shard_of(UINT64_MAX).value, 15u);
  EXPECT_EQ(assignment.shard_of(uint64_t{1} << 60).value, 1u);
}

}  // namespace
}  // namespace tidemark::hashring
