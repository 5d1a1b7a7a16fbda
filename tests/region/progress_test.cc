// docs/design.md, "Batches" (progress), "Tokens", and the acknowledgement of markers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

class Progress : public ::testing::Test {
 protected:
  Progress() {
    catalog_.create(base_.definition());
    catalog_.create(view_.definition());
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
  }
  size_t records() { return rig_.log()->records.size(); }
  Position end() { return pos(1, records()); }
  pb::WaitRequest waits_for(ShardRange lanes, Position position, bool pass_on = false) {
    pb::WaitRequest out;
    out.set_table(2);
    to_pb({{lanes, position}}, *out.mutable_tokens());
    out.set_pass_on(pass_on);
    return out;
  }
  std::string an_effect() {
    std::string out;
    add_effect(out, EffectKind::Add, view_, {5, 1, 1});
    return out;
  }

  ShardRange all_ = kShards.all();
  TestTable base_{define({.id = 1})};
  TestTable view_{define({.id = 2, .kind = pb::VIEW, .rule = pb::SUM, .values = 2, .sources = {1}})};
  TestCatalog catalog_;
  Rig rig_;
};

TEST_F(Progress, IsRecordedWhenItPassesAChange) {
  rig_.put(base_, {1, 1});
  Position after = end();
  rig_.report(all_, after);
  rig_.settle();
  ASSERT_TRUE(rig_.last_body().has_progress());
  EXPECT_EQ(rig_.state().committed().at(ShardId{3}), after);
}

TEST_F(Progress, ThatPassesNothingIsNotRecordedSoAQuietSystemIsSilent) {
  rig_.put(base_, {1, 1});
  rig_.report(all_, end());
  rig_.settle();
  size_t before = records();
  rig_.report(all_, end());  // Past the progress record.
  rig_.settle();
  EXPECT_EQ(records(), before);
}

TEST_F(Progress, ThatPassesAMarkerIsRecordedAndAcknowledgesTheRing) {
  rig_.report(all_, end());
  rig_.ring(3);
  rig_.settle();
  EXPECT_EQ(rig_.state().ring(), RingVersion{3});
  EXPECT_EQ(rig_.state().ring_acknowledged(), RingVersion{0});
  EXPECT_EQ(rig_.state().ring_at(ShardId{0}, pos(1, records() - 1)), RingVersion{0});
  EXPECT_EQ(rig_.state().ring_at(ShardId{0}, pos(1, records())), RingVersion{3});
  Position after = end();
  rig_.report(shards(0, 9), after);
  rig_.settle();
  EXPECT_EQ(rig_.state().ring_acknowledged(), RingVersion{0});
  rig_.report(shards(9, 16), after);
  rig_.settle();
  EXPECT_EQ(rig_.state().ring_acknowledged(), RingVersion{3});
}

TEST_F(Progress, AcknowledgesSeveralMarkersOneByOne) {
  rig_.ring(1);
  rig_.settle();
  Position first = end();
  rig_.ring(4);
  rig_.settle();
  rig_.report(all_, first);
  rig_.settle();
  EXPECT_EQ(rig_.state().ring_acknowledged(), RingVersion{1});
  EXPECT_EQ(rig_.state().ring(), RingVersion{4});
}

TEST_F(Progress, BeyondTheEndOfTheLogIsNotBelieved) {
  rig_.put(base_, {1, 1});
  rig_.report(all_, pos(1, records() + 1));
  rig_.report(all_, pos(2, 0));
  size_t before = records();
  rig_.settle();
  EXPECT_EQ(records(), before);
}

TEST_F(Progress, NeverGoesBack) {
  rig_.put(base_, {1, 1});
  rig_.put(base_, {2, 1});
  Position after = end();
  rig_.report(all_, after);
  rig_.settle();
  rig_.report(all_, pos(1, 2));
  rig_.settle();
  EXPECT_EQ(rig_.state().committed().at(ShardId{0}), after);
}

TEST_F(Progress, TellsTheFloorBelowWhichTheLogIsNotNeeded) {
  rig_.put(base_, {1, 1});
  Position after = end();
  rig_.report(shards(0, 15), after);
  rig_.settle();
  EXPECT_EQ(rig_.state().committed_floor(), Offset{0});
  rig_.report(shards(15, 16), after);
  rig_.settle();
  EXPECT_EQ(rig_.state().committed_floor(), after.offset);
}

TEST_F(Progress, RecordsThatNobodyTellsOfDoNotCountAsBehind) {  // Else they would hold writes back for good.
  rig_.put(base_, {1, 1});
  EXPECT_GE(rig_.state().records_behind(), 1u);
  rig_.report(all_, end());
  rig_.settle();
  EXPECT_EQ(rig_.state().records_behind(), 0u);
  for (int i = 0; i < 5; ++i) rig_.session();
  EXPECT_EQ(rig_.state().records_behind(), 0u);
  rig_.put(base_, {2, 1});
  const uint64_t behind = rig_.state().records_behind();
  EXPECT_GE(behind, 1u);
  EXPECT_LE(behind, 2u) << "from the change on, not from the floor";
}

// Else the log could be cut behind a successor, which knows only what is recorded.
TEST_F(Progress, IsToldToTheCoordinatorOnlyOnceItIsRecorded) {
  rig_.put(base_, {1, 1});
  Position after = end();
  rig_.report(all_, after);
  EXPECT_EQ(rig_.region().status().committed_floor(), 0u);
  rig_.tick();
  EXPECT_EQ(rig_.region().status().committed_floor(), 0u);
  rig_.settle();
  EXPECT_EQ(rig_.region().status().committed_floor(), after.offset.value);
}

TEST_F(Progress, CarriesTheFenceInForceSoThatAReaderMayStartThere) {
  rig_.put(base_, {1, 1});
  rig_.report(all_, end());
  rig_.settle();
  const pb::ReaderState reader = rig_.last_body().progress().reader();
  EXPECT_EQ(reader.next(), records());
  EXPECT_EQ(Offset{reader.incarnation()}, *rig_.state().reader().incarnation);
  EXPECT_EQ(MapVersion{reader.fence_version()}, rig_.state().reader().fence_version);
}

// ---- tokens

using Tokens = Progress;

TEST_F(Tokens, AReadReturnsOnceTheRegionHasAppliedTheLane) {
  uint64_t wait = rig_.wait(waits_for(shards(3, 4), pos(1, 50)));
  rig_.settle();
  EXPECT_FALSE(rig_.answered(wait));
  rig_.effects(make_batch(all_, {{shards(3, 4), {}, pos(1, 50)}}, an_effect()));
  rig_.tick();
  rig_.tick();
  EXPECT_FALSE(rig_.answered(wait));  // In flight only.
  rig_.settle();
  EXPECT_TRUE(rig_.reply(wait).has_waited());
}

TEST_F(Tokens, OfALaneThatHasOnlyCommittedTheRegionFirstRaisesItsOwnPosition) {
  Rig other({RegionId{2}, shards(0, 8), Generation{1}, kShards});
  other.catalog(catalog_);
  other.open();
  other.settle();
  uint64_t wait = other.wait(waits_for(shards(12, 13), pos(1, 50)));
  other.settle();
  EXPECT_FALSE(other.answered(wait));
  ASSERT_FALSE(other.asks().empty());
  EXPECT_EQ(other.asks().front().wanted, (std::vector<LaneRun>{{shards(12, 13), pos(1, 50)}}));
  other.committed_positions(shards(12, 13), pos(1, 49));
  other.settle();
  EXPECT_FALSE(other.answered(wait));
  other.committed_positions(shards(12, 13), pos(1, 60));
  other.tick();
  EXPECT_EQ(other.in_flight(), 1u);
  EXPECT_FALSE(other.answered(wait));  // The record also proves that it still owns the region.
  other.settle();
  EXPECT_TRUE(other.answered(wait));
  EXPECT_TRUE(other.last_body().has_raise());
  EXPECT_EQ(other.state().parts().all()[0].applied.at(ShardId{12}), pos(1, 60));
}

TEST_F(Tokens, OfItsOwnLanesTheRegionKnowsTheCommittedPosition) {
  pb::WriteReply written = rig_.put(base_, {1, 1});
  pb::WaitRequest request;
  request.set_table(2);
  *request.mutable_tokens() = written.tokens();
  uint64_t wait = rig_.wait(request);
  rig_.settle();
  EXPECT_FALSE(rig_.answered(wait));
  EXPECT_TRUE(rig_.asks().empty());
  rig_.report(all_, end());
  rig_.settle();
  EXPECT_TRUE(rig_.answered(wait));
}

TEST_F(Tokens, AnOwnerThatWasReplacedDoesNotAnswerWhoHasSeenMore) {
  Rig successor(rig_.state(), rig_.rows(), rig_.log());
  successor.open(2);
  successor.settle();
  successor.effects(make_batch(all_, {{shards(3, 4), {}, pos(1, 50)}}, an_effect()));
  successor.settle();
  const uint64_t wait = successor.wait(waits_for(shards(3, 4), pos(1, 50)));
  successor.settle();
  const pb::LaneRun& reached = successor.reply(wait).waited().reached();
  EXPECT_EQ(from_pb(reached.lanes()), all_);

  pb::ScanRequest scan;
  scan.set_table(2);
  EXPECT_TRUE(rig_.reply(rig_.scan(scan)).has_rows());  // It has not heard of it; who has seen nothing may.
  *scan.mutable_seen() = reached.position();
  EXPECT_EQ(rig_.refused(rig_.scan(scan)), pb::NOT_OWNER);
  EXPECT_EQ(rig_.refused(rig_.get(view_, {5, 1, 1}, from_pb(reached.position()))), pb::NOT_OWNER);
  EXPECT_EQ(successor.reply(successor.scan(scan)).rows().count(), 1u);
}

TEST_F(Tokens, ArePassedOnAsThePositionAfterTheLastChange) {
  rig_.effects(make_batch(all_, {{shards(3, 4), {}, pos(1, 50)}}, an_effect()));
  rig_.settle();
  uint64_t after_change = records();
  rig_.report(all_, end());
  rig_.settle();  // A record without changes.
  ASSERT_GT(records(), after_change);
  uint64_t wait = rig_.wait(waits_for(shards(3, 4), pos(1, 50), true));
  rig_.settle();
  const pb::WaitReply& reply = rig_.reply(wait).waited();
  ASSERT_EQ(reply.tokens_size(), 1);
  EXPECT_EQ(from_pb(reply.tokens(0).lanes()), all_);
  EXPECT_EQ(from_pb(reply.tokens(0).position()), pos(1, after_change));
}

TEST_F(Tokens, AreNotPassedOnWhileJoinPagesArePending) {
  RegionOptions options;
  options.join_page_matches_max = 1;
  options.in_flight_records_max = 1;
  Rig rig({RegionId{1}, all_, Generation{1}, kShards}, options);
  pb::TableDefinition left =
      define({.id = 4, .kind = pb::AUXILIARY, .rule = pb::JOIN_SIDE, .clustering = 1, .view = 2});
  pb::TableDefinition right = left;
  right.set_id(5);
  left.set_partner(5);
  right.set_partner(4);
  catalog_.create_together({left, right});
  rig.catalog(catalog_);
  rig.open();
  rig.settle();
  TestTable lefts(left), rights(right);
  std::string effects;
  for (int64_t i = 0; i < 4; ++i) add_effect(effects, EffectKind::Put, rights, {1, i, i});
  rig.effects(make_batch(all_, {{shards(3, 4), {}, pos(1, 1)}}, effects));
  rig.settle();
  effects.clear();
  add_effect(effects, EffectKind::Put, lefts, {1, 1, 1});
  rig.effects(make_batch(all_, {{shards(3, 4), pos(1, 1), pos(1, 2)}}, effects));
  uint64_t wait = rig.wait(waits_for(shards(3, 4), pos(1, 2), true));
  int pages = 0;
  while (rig.tick(), rig.in_flight() > 0) {
    EXPECT_FALSE(rig.answered(wait));
    rig.land(1);
    ++pages;
  }
  EXPECT_EQ(pages, 4);
  EXPECT_TRUE(rig.answered(wait));
}

TEST_F(Tokens, TheOwnerOfALaneTellsItsRecordedPositionOnceItIsReached) {
  pb::WriteReply written = rig_.put(base_, {1, 1});
  Position after = from_pb(written.tokens(0).position());
  uint64_t now = rig_.committed_request({{shards(0, 16), {}}});
  uint64_t later = rig_.committed_request({{shards(0, 16), after}});
  rig_.tick();
  EXPECT_TRUE(rig_.answered(now));
  EXPECT_FALSE(rig_.answered(later));
  rig_.report(all_, after);
  rig_.tick();  // Somebody waits: progress is recorded at once.
  EXPECT_EQ(rig_.in_flight(), 1u);
  rig_.land();
  rig_.tick();
  ASSERT_TRUE(rig_.answered(later));
  EXPECT_EQ(from_pb(rig_.reply(later).committed_positions().recorded(0).position()), after);
}

TEST_F(Tokens, OfADroppedTableAreRefused) {
  pb::WaitRequest request = waits_for(shards(3, 4), pos(1, 50));
  request.set_table(77);
  EXPECT_EQ(rig_.refused(rig_.wait(request)), pb::STALE_CATALOG);
}

}  // namespace
}  // namespace tidemark
