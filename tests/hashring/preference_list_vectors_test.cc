// The examples of "Adopting Random Slicing for Riak Core", sections 4.1 and 4.2: nodes n0 to n3, then n4,
// then n5 and n6, then n7 to n9, equal weights, and the key 0.345 of the unit interval.
#include <gmock/gmock.h>

#include "hashring/preference_list.h"
#include "hashring/random_slicing.h"
#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kKey = static_cast<uint64_t>((u128{345} << 64) / 1000);

SliceRing grown(std::initializer_list<uint32_t> counts) {
  SliceRing ring = SliceRing::unowned(kHashSpace);
  for (const uint32_t count : counts) ring = *reslice(ring, equal_members(count), GapCollection::Greedy);
  return ring;
}

std::vector<uint32_t> ids(ReplicaPlacement placement, size_t count, uint64_t* queries = nullptr) {
  const SliceRing ring = grown({4, 5, 7, 10});
  PreferenceList list(ring, placement, kKey);
  std::vector<uint32_t> ids;
  while (ids.size() < count) ids.push_back(list.next()->value);
  if (queries != nullptr) *queries = list.queries();
  return ids;
}

TEST(GreedySlicing, TakesTheTailOfEverySliceWhenTheFirstNodeJoins) {
  const SliceRing ring = grown({4, 5});
  std::vector<uint32_t> owners;
  for (const Slice& slice : ring.slices()) owners.push_back(slice.owner.value);
  EXPECT_THAT(owners, ElementsAre(0, 4, 1, 4, 2, 4, 3, 4));
}

TEST(GreedySlicing, AddsThreeSlicesFromThreeToFourNodes) {  // "only three new sections", section 6.4.3.
  EXPECT_EQ(grown({3}).slice_count(), 3u);
  EXPECT_EQ(grown({3, 4}).slice_count(), 6u);
}

TEST(GreedySlicing, SliceCountsOfTheFigure) {  // Counted on figure 4.1, recomputed with exact fractions.
  EXPECT_EQ(grown({4}).slice_count(), 4u);
  EXPECT_EQ(grown({4, 5}).slice_count(), 8u);
  EXPECT_EQ(grown({4, 5, 7}).slice_count(), 13u);
  EXPECT_EQ(grown({4, 5, 7, 10}).slice_count(), 18u);
}

TEST(Rotation, ReproducesThePrintedList) {
  EXPECT_THAT(ids(ReplicaPlacement::Rotation, 10), ElementsAre(1, 8, 2, 9, 4, 3, 6, 0, 5, 7));
}

// "3 rotation steps" for three replicas and "15" for all ten: both are one less than it takes, so the first
// rotation was not counted. Nor was the query for the key itself.
TEST(Rotation, NeedsThePrintedNumberOfStepsAndOne) {
  uint64_t queries = 0;
  ids(ReplicaPlacement::Rotation, 3, &queries);
  EXPECT_EQ(queries - 2, 3u);
  ids(ReplicaPlacement::Rotation, 10, &queries);
  EXPECT_EQ(queries - 2, 15u);
}

// Printed without n4, one name short of the ten that its 13 queries are said to find.
TEST(Jumping, ReproducesThePrintedListAndTheNodeItOmits) {
  uint64_t queries = 0;
  EXPECT_THAT(ids(ReplicaPlacement::Jumping, 10, &queries), ElementsAre(1, 8, 2, 9, 6, 4, 3, 0, 7, 5));
  EXPECT_EQ(queries, 13u);
  ids(ReplicaPlacement::Jumping, 6, &queries);
  EXPECT_EQ(queries, 6u);  // "an efficiency of 100% for the first six nodes".
}

// The printed list depends on the seeding of a generator that the text does not give.
TEST(RandomReplicas, StartWithTheOwnerAndAreTheSameEveryTime) {
  const std::vector<uint32_t> list = ids(ReplicaPlacement::Random, 10);
  EXPECT_EQ(list.front(), 1u);
  EXPECT_THAT(list, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(list, ids(ReplicaPlacement::Random, 10));
}

TEST(PreferenceList, EndsAfterTheLastMember) {
  const SliceRing ring = grown({4});
  PreferenceList list(ring, ReplicaPlacement::Clockwise, kKey);
  EXPECT_EQ(list.next()->value, 1u);
  EXPECT_EQ(list.next()->value, 2u);
  EXPECT_EQ(list.next()->value, 3u);
  EXPECT_EQ(list.next()->value, 0u);
  EXPECT_EQ(list.next(), std::nullopt);
}

TEST(HandoffList, GoesOnWhereTheReplicasEnd) {
  const SliceRing ring = grown({4, 5, 7, 10});
  EXPECT_THAT(*replica_list(ring, ReplicaPlacement::Rotation, kKey, 3),
              ElementsAre(MemberId{1}, MemberId{8}, MemberId{2}));
  EXPECT_THAT(*handoff_list(ring, ReplicaPlacement::Rotation, kKey, 3, 3),
              ElementsAre(MemberId{9}, MemberId{4}, MemberId{3}));
  EXPECT_EQ(handoff_list(ring, ReplicaPlacement::Rotation, kKey, 8, 3)->size(), 2u);  // All that are left.
  EXPECT_EQ(replica_list(ring, ReplicaPlacement::Rotation, kKey, 11).error().code, Refusal::TooManyReplicas);
}

}  // namespace
}  // namespace tidemark::hashring
