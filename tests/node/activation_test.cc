// Which view manager a lane is active at: one test per rule.
#include "node/queue/activation.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/node/feed_bed.h"

namespace tidemark {
namespace {

// Lane 0 belongs to `first` under ring 1 and to `second` under ring 2.
class Activation : public testing::Test {
 protected:
  Activation() : rings_(ShardCount{4}) {}

  std::string active(uint64_t at_committed, const std::set<std::string>& alive,
                     pb::ActivationPolicy policy = pb::ACTIVATE_BY_NODE, uint64_t activated = 0) {
    pb::RingFact fact;
    *fact.mutable_ring() = ring_of(2, {"second", "same", "second", "second"});
    *fact.add_previous() = ring_of(1, {"first", "same", "first", "first"});
    fact.set_policy(policy);
    fact.set_activated(activated);
    EXPECT_TRUE(rings_.update(fact).ok());
    auto is_alive = [&](MemberIndex member) { return alive.count(rings_.identity(member)) != 0; };
    LaneView view{RingVersion{at_committed}, RingVersion{2}};
    return rings_.identity(active_at(rings_, lane_, view, is_alive));
  }

  Rings rings_;
  ShardId lane_{0};
};

TEST_F(Activation, IsAtTheOwnerByTheRingInForceAtTheCommittedPosition) {
  EXPECT_EQ(active(1, {"first", "second"}), "first");
  EXPECT_EQ(active(2, {"first", "second"}), "second");
}

TEST_F(Activation, IsAtTheNewestOwnerIfThatOneIsDead) {
  EXPECT_EQ(active(1, {"second"}), "second");
}

// Who was responsible for a while only still has its share to do: nobody else reads it.
TEST_F(Activation, IsAtEachOwnerBetweenTheFirstAndTheNewestInTurn) {
  pb::RingFact fact;
  *fact.mutable_ring() = ring_of(3, {"third", "third", "third", "third"});
  *fact.add_previous() = ring_of(1, {"first", "first", "first", "first"});
  *fact.add_previous() = ring_of(2, {"second", "second", "second", "second"});
  ASSERT_TRUE(rings_.update(fact).ok());
  for (uint64_t ring : {1, 2, 3}) {
    LaneView view{RingVersion{ring}, RingVersion{3}};
    const MemberIndex member = active_at(rings_, lane_, view, [](MemberIndex) { return true; });
    EXPECT_EQ(rings_.identity(member), (std::array{"first", "second", "third"}[ring - 1]));
  }
}

TEST_F(Activation, WaitsIfNobodyIsAlive) {
  EXPECT_EQ(active(1, {"same"}), "");
}

TEST_F(Activation, BeforeTheFirstCutIsAtTheNewestOwner) {
  EXPECT_EQ(active(0, {"first", "second"}), "second");
}

TEST_F(Activation, ByTheCoordinatorWaitsUntilAllMarkersAreAcknowledged) {
  EXPECT_EQ(active(2, {"first", "second"}, pb::ACTIVATE_BY_COORDINATOR, 1), "");
  EXPECT_EQ(active(2, {"first", "second"}, pb::ACTIVATE_BY_COORDINATOR, 2), "second");
}

TEST_F(Activation, ByTheCoordinatorDoesNotWaitForTheDeadNorForLanesThatStay) {
  EXPECT_EQ(active(2, {"second"}, pb::ACTIVATE_BY_COORDINATOR, 1), "second");
  lane_ = ShardId{1};
  EXPECT_EQ(active(2, {"same"}, pb::ACTIVATE_BY_COORDINATOR, 1), "same");
}

}  // namespace
}  // namespace tidemark
