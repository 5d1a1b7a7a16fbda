// docs/design.md, "Batches": the compare-and-set of effects on a region's parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/change.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

constexpr auto kApplied = pb::EffectAnswer::APPLIED;
constexpr auto kRefused = pb::EffectAnswer::REFUSED;

class Effects : public ::testing::Test {
 protected:
  Effects() {
    catalog_.create(base_.definition());
    catalog_.create(sums_.definition());
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
  }

  // Adds 1 and `value` to group 5.
  std::string add(int64_t value = 1) {
    std::string out;
    add_effect(out, EffectKind::Add, sums_, {5, 1, value});
    return out;
  }
  Cell count() {
    auto row = rig_.row(sums_, {5, 0, 0});
    return row ? (*row)[1] : Cell();
  }
  // What the region says of a lane.
  Position applied(uint32_t lane) { return rig_.state().parts().all()[0].applied.at(ShardId{lane}); }

  TestTable base_{define({.id = 1})};
  TestTable sums_{define({.id = 2, .kind = pb::VIEW, .rule = pb::SUM, .values = 2, .sources = {1}})};
  TestCatalog catalog_;
  Rig rig_;
  ShardRange all_ = kShards.all();
};

TEST_F(Effects, ABatchIsAcceptedIfEveryLaneIsAtPrev) {
  uint64_t batch =
      rig_.effects(make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}, {shards(5, 6), {}, pos(0, 9)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(batch), kApplied);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(applied(2), pos(0, 4));
  EXPECT_EQ(applied(3), pos(0, 0));
  EXPECT_EQ(applied(5), pos(0, 9));
}

// An answer would tell that it was applied, or that it never will be.
TEST_F(Effects, ABatchIsNotAnsweredWhileThereIsNoRoomForRows) {
  pb::EffectBatch batch = make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}}, add());
  rig_.rows().set_room(false);
  uint64_t first = rig_.effects(batch);
  rig_.settle();
  EXPECT_FALSE(rig_.answered(first));
  EXPECT_EQ(applied(0), Position{});
  uint64_t asked = rig_.positions();
  rig_.settle();
  EXPECT_FALSE(rig_.answered(asked)) << "it would be sent the batch again, for ever, and hold others up";
  rig_.rows().set_room(true);
  uint64_t again = rig_.effects(batch);
  rig_.settle();
  EXPECT_EQ(rig_.verdict(again), kApplied);
  EXPECT_EQ(count(), 1);
}

TEST_F(Effects, ABatchThatWasAppliedBeforeIsDroppedAndAnsweredTheSame) {
  pb::EffectBatch batch = make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}}, add());
  rig_.effects(batch);
  rig_.settle();
  size_t records = rig_.log()->records.size();
  uint64_t again = rig_.effects(batch);
  rig_.settle();
  EXPECT_EQ(rig_.verdict(again), kApplied);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(rig_.log()->records.size(), records);
}

TEST_F(Effects, ABatchThatNeitherFollowsNorWasAppliedIsRefusedWithAllPartsAndPositions) {
  rig_.effects(make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}}, add()));
  rig_.settle();
  // A gap, an overlap, and lanes that disagree.
  for (const LaneSpan& span :
       {LaneSpan{shards(0, 3), pos(0, 5), pos(0, 6)}, LaneSpan{shards(0, 3), pos(0, 2), pos(0, 6)},
        LaneSpan{shards(0, 4), pos(0, 4), pos(0, 6)}, LaneSpan{shards(0, 4), {}, pos(0, 4)}}) {
    uint64_t batch = rig_.effects(make_batch(all_, {span}, add()));
    rig_.settle();
    ASSERT_EQ(rig_.verdict(batch), kRefused);
    const pb::EffectAnswer& answer = rig_.reply(batch).effects_answer();
    ASSERT_EQ(answer.parts_size(), 1);
    EXPECT_EQ(from_pb(answer.parts(0).shards()), all_);
    ASSERT_EQ(answer.parts(0).applied_size(), 1);
    EXPECT_EQ(from_pb(answer.parts(0).applied(0).position()), pos(0, 4));
  }
  EXPECT_EQ(count(), 1);
}

TEST_F(Effects, TheRangeMustBeExactlyOnePart) {
  for (ShardRange range : {shards(0, 8), shards(8, 16), shards(0, 15)}) {
    uint64_t batch = rig_.effects(make_batch(range, {{shards(0, 1), {}, pos(0, 1)}}, ""));
    EXPECT_EQ(rig_.verdict(batch), kRefused) << range;
  }
}

// It may be for a range that this region has only a piece of: what is applied here tells nothing of the rest.
TEST_F(Effects, AnAppliedBatchForAnotherRangeIsRefusedNotDropped) {
  rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 4)}}, add()));
  rig_.settle();
  uint64_t batch = rig_.effects(make_batch(shards(0, 8), {{shards(0, 1), {}, pos(0, 4)}}, ""));
  EXPECT_EQ(rig_.verdict(batch), kRefused);
}

TEST_F(Effects, PositionsAreRaisedToTheFloorFirst) {
  uint64_t batch = rig_.effects(make_batch(all_, {{shards(0, 3), pos(0, 7), pos(0, 8), pos(0, 7)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(batch), kApplied);
  EXPECT_EQ(applied(1), pos(0, 8));
  // A floor at or past `to`: everything was applied, by whoever owned the row then.
  uint64_t old = rig_.effects(make_batch(all_, {{shards(3, 4), {}, pos(0, 2), pos(0, 3)}}, add()));
  EXPECT_EQ(rig_.verdict(old), kApplied);
  EXPECT_EQ(count(), 1);
}

TEST_F(Effects, EveryAnswerWaitsUntilThePositionsItTellsAreDurable) {
  pb::EffectBatch batch = make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}}, add());
  uint64_t accepted = rig_.effects(batch);
  uint64_t dropped = rig_.effects(batch);
  uint64_t refused = rig_.effects(make_batch(all_, {{shards(0, 3), pos(0, 5), pos(0, 6)}}, add()));
  uint64_t asked = rig_.positions();
  rig_.tick();
  for (uint64_t request : {accepted, dropped, refused, asked}) EXPECT_FALSE(rig_.answered(request));
  rig_.land();
  for (uint64_t request : {accepted, dropped, refused, asked}) EXPECT_TRUE(rig_.answered(request));
  EXPECT_EQ(rig_.verdict(asked), kRefused);
}

TEST_F(Effects, OneQuestionForPositionsIsHeldPerPeerWhileTheLogStalls) {
  rig_.effects(make_batch(all_, {{shards(0, 3), {}, pos(0, 4)}}, add()));
  std::vector<uint64_t> asked;
  for (int i = 0; i < 5; ++i) asked.push_back(rig_.positions());
  rig_.tick();
  rig_.land();
  for (uint64_t request : asked) EXPECT_EQ(rig_.answered(request), request == asked.back());
}

// It would never be answered if each question waited for what was in flight when it came.
TEST_F(Effects, AQuestionForPositionsIsAnsweredWhileMoreIsAlwaysInFlight) {
  rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add()));
  rig_.tick();
  rig_.positions();
  rig_.effects(make_batch(all_, {{shards(0, 1), pos(0, 1), pos(0, 2)}}, add()));
  rig_.tick(10'000);
  ASSERT_EQ(rig_.in_flight(), 2u);
  const uint64_t again = rig_.positions();
  rig_.land(1);
  EXPECT_TRUE(rig_.answered(again));
}

// Somebody else may have told it, who owns the region by now: only an append finds out.
TEST_F(Effects, ARefusalOfOneWhoKnowsMoreIsAnOwnersOnly) {
  const pb::EffectBatch next = make_batch(all_, {{shards(0, 1), pos(0, 4), pos(0, 5)}}, add());
  uint64_t batch = rig_.effects(next);
  rig_.tick();
  EXPECT_FALSE(rig_.answered(batch));
  EXPECT_EQ(rig_.in_flight(), 1u);
  rig_.land();
  EXPECT_EQ(rig_.verdict(batch), kRefused);

  batch = rig_.effects(next);
  rig_.tick();
  rig_.end();
  EXPECT_EQ(rig_.refused(batch), pb::OUTCOME_UNKNOWN);
}

TEST_F(Effects, AChainOfBatchesIsAppliedAheadOfTheLog) {
  std::vector<uint64_t> batches;
  for (uint64_t i = 0; i < 10; ++i) {
    batches.push_back(rig_.effects(make_batch(all_, {{shards(0, 1), pos(0, i), pos(0, i + 1)}}, add())));
    if (i % 3 == 0) rig_.tick(10'000);
  }
  rig_.settle();
  for (uint64_t batch : batches) EXPECT_EQ(rig_.verdict(batch), kApplied);
  EXPECT_EQ(count(), 10);
}

TEST_F(Effects, WhatWasInFlightWhenTheIncarnationEndedIsAskedForAgain) {
  rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add()));
  rig_.tick();
  rig_.end(0);
  rig_.open(2);
  uint64_t next = rig_.effects(make_batch(all_, {{shards(0, 1), pos(0, 1), pos(0, 2)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(next), kRefused);
  uint64_t first = rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(first), kApplied);
  EXPECT_EQ(count(), 1);
}

TEST_F(Effects, EffectsThatCombineToNothingStillMoveThePositions) {
  uint64_t batch = rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, ""));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(batch), kApplied);
  EXPECT_EQ(applied(0), pos(0, 1));
}

TEST_F(Effects, ABatchMayEndInsideARecord) {
  rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 3, 2)}}, add()));
  uint64_t rest = rig_.effects(make_batch(all_, {{shards(0, 1), pos(0, 3, 2), pos(0, 4)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(rest), kApplied);
  EXPECT_EQ(count(), 2);
}

TEST_F(Effects, OfACatalogThatTheStreamHasNotReachedWait) {
  uint64_t early =
      rig_.effects(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add(), catalog_.version() + 1));
  EXPECT_EQ(rig_.verdict(early), pb::EffectAnswer::CATALOG_BEHIND);
  EXPECT_EQ(applied(0), pos(0, 0));
}

TEST_F(Effects, ForADroppedTableAreDiscardedButAdvancePositions) {
  rig_.apply(add());
  catalog_.drop(2);
  rig_.catalog(catalog_);
  rig_.settle();
  EXPECT_EQ(rig_.all(sums_).size(), 0u);  // Its rows went with it.
  Position at = applied(0);
  uint64_t batch = rig_.effects(make_batch(all_, {{shards(0, 1), at, pos(99, 1)}}, add()));
  rig_.settle();
  EXPECT_EQ(rig_.verdict(batch), kApplied);
  EXPECT_EQ(applied(0), pos(99, 1));
  EXPECT_EQ(rig_.all(sums_).size(), 0u);
}

TEST_F(Effects, MalformedBatchesAreRefusedAndLeaveNothing) {
  auto refused = [&](const pb::EffectBatch& batch) {
    return rig_.refused(rig_.effects(batch)) == pb::MALFORMED;
  };
  EXPECT_TRUE(refused(make_batch(all_, {}, add())));
  EXPECT_TRUE(refused(make_batch(all_, {{shards(0, 1), pos(0, 1), pos(0, 1)}}, add())));
  EXPECT_TRUE(
      refused(make_batch(all_, {{shards(2, 4), {}, pos(0, 1)}, {shards(3, 5), {}, pos(0, 1)}}, add())));
  EXPECT_TRUE(refused(make_batch(all_, {{shards(15, 17), {}, pos(0, 1)}}, add())));
  EXPECT_TRUE(refused(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add() + "garbage")));
  std::string put;
  add_effect(put, EffectKind::Put, sums_, {5, 1, 1});
  EXPECT_TRUE(refused(make_batch(all_, {{shards(0, 1), {}, pos(0, 1)}}, add() + put)));
  rig_.settle();
  EXPECT_EQ(count(), Cell());
}

TEST_F(Effects, AreComputedInTheSameRecordAsThePositions) {
  rig_.apply(add());
  pb::RecordBody body = rig_.last_body();
  EXPECT_EQ(body.commit().batches_size(), 1);
  EXPECT_FALSE(body.commit().changes().empty());
  EXPECT_EQ(body.catalog_version(), catalog_.version());
}

TEST_F(Effects, OfASilentSystemNothingIsWritten) {
  rig_.apply(add());
  size_t records = rig_.log()->records.size();
  for (int i = 0; i < 100; ++i) rig_.settle();
  EXPECT_EQ(rig_.log()->records.size(), records);
}

// ---- row rules

class RowRules : public ::testing::Test {
 protected:
  void start(const std::vector<const TestTable*>& tables) {
    std::vector<pb::TableDefinition> definitions;
    for (const TestTable* table : tables) definitions.push_back(table->definition());
    catalog_.create_together(definitions);
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
  }
  static void add(std::string& out, const TestTable& table, const Cells& cells) {
    add_effect(out, EffectKind::Add, table, cells);
  }

  TestCatalog catalog_;
  Rig rig_;
};

TEST_F(RowRules, PutAndDelete) {
  TestTable table(define({.id = 3, .kind = pb::VIEW}));
  start({&table});
  std::string effects;
  add_effect(effects, EffectKind::Put, table, {1, 10});
  add_effect(effects, EffectKind::Put, table, {2, 20});
  add_effect(effects, EffectKind::Delete, table, {1, 0});
  add_effect(effects, EffectKind::Delete, table, {9, 0});
  rig_.apply(effects);
  EXPECT_EQ(rig_.all(table), (std::vector<Cells>{{2, 20}}));
}

TEST_F(RowRules, ASumGoesWhenItsCountComesToZero) {
  TestTable table(define({.id = 3, .kind = pb::VIEW, .rule = pb::SUM, .values = 3}));
  start({&table});
  std::string effects;
  add(effects, table, {7, 1, 100, Cell()});
  add(effects, table, {7, 1, -30, 4});
  rig_.apply(effects);
  EXPECT_EQ(rig_.all(table), (std::vector<Cells>{{7, 2, 70, 4}}));
  effects.clear();
  add(effects, table, {7, -2, -70, -4});
  rig_.apply(effects);
  EXPECT_EQ(rig_.all(table).size(), 0u);
}

class DerivedColumns : public RowRules {
 protected:
  DerivedColumns() {
    pb::TableDefinition sums = define({.id = 3, .kind = pb::VIEW, .rule = pb::SUM, .values = 5});
    auto derive = [&](uint32_t column, pb::DerivedColumn::Kind kind) {
      pb::DerivedColumn& derived = *sums.add_derived();
      derived.set_column(column);
      derived.set_kind(kind);
      derived.set_multiset(4);
    };
    derive(3, pb::DerivedColumn::MIN);
    derive(4, pb::DerivedColumn::MAX);
    derive(5, pb::DerivedColumn::COUNT_DISTINCT);
    sums_ = std::make_unique<TestTable>(sums);
    start({sums_.get(), &values_});
  }
  void sum(int64_t count, int64_t total) { add(effects_, *sums_, {7, count, total, Cell(), Cell(), Cell()}); }
  void value(int64_t value, int64_t count) { add(effects_, values_, {7, value, count}); }
  void send() {
    rig_.apply(effects_);
    effects_.clear();
  }

  TestTable values_{
      define({.id = 4, .kind = pb::AUXILIARY, .rule = pb::MULTISET, .clustering = 1, .view = 3})};
  std::unique_ptr<TestTable> sums_;
  std::string effects_;
};

TEST_F(DerivedColumns, FollowTheMultisetOfTheirGroup) {
  sum(3, 60);
  for (int64_t v : {10, 20, 30}) value(v, 1);
  value(20, 1);
  send();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 3, 60, 10, 30, 3}}));
  sum(-1, -10);
  value(10, -1);
  value(30, -1);
  value(-5, 2);
  send();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 2, 50, -5, 20, 2}}));
  value(-5, -2);
  value(20, -2);
  send();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 2, 50, Cell(), Cell(), 0}}));
}

TEST_F(DerivedColumns, AreRightWhicheverOfRowAndValuesComesFirst) {
  for (int64_t v : {10, 20, 30}) value(v, 1);
  send();
  EXPECT_EQ(rig_.all(*sums_).size(), 0u);
  sum(3, 60);
  send();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 3, 60, 10, 30, 3}}));
  sum(-3, -60);
  send();
  EXPECT_EQ(rig_.all(*sums_).size(), 0u);
  for (int64_t v : {10, 20, 30}) value(v, -1);
  send();
  EXPECT_EQ(rig_.all(values_).size(), 0u);
}

TEST_F(DerivedColumns, SurviveARowThatGoesAndComesWithinABatch) {
  sum(1, 10);
  value(10, 1);
  send();
  sum(-1, -10);
  sum(1, 10);
  send();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 1, 10, 10, 10, 1}}));
}

TEST_F(DerivedColumns, SeeWhatIsInFlight) {
  sum(1, 10);
  value(10, 1);
  rig_.effects(make_batch(kShards.all(), {{shards(0, 1), {}, pos(0, 1)}}, effects_));
  rig_.tick();
  effects_.clear();
  value(10, -1);
  value(12, 1);
  rig_.effects(make_batch(kShards.all(), {{shards(0, 1), pos(0, 1), pos(0, 2)}}, effects_));
  rig_.settle();
  EXPECT_EQ(rig_.all(*sums_), (std::vector<Cells>{{7, 1, 10, 12, 12, 1}}));
}

TEST_F(RowRules, TheFirstRowsOfAMultisetAreTheRowsOfItsTopTable) {
  TestTable values(
      define({.id = 4, .kind = pb::AUXILIARY, .rule = pb::MULTISET, .clustering = 2, .view = 5}));
  pb::TableDefinition definition = define({.id = 5, .kind = pb::VIEW, .rule = pb::TOP, .clustering = 2});
  definition.set_top_of(4);
  definition.set_top_limit(2);
  TestTable top(definition);
  start({&values, &top});
  std::string effects;
  for (int64_t v : {30, 10, 20, 40}) add(effects, values, {7, v, v + 1, 1});
  add(effects, values, {8, 1, 1, 1});
  rig_.apply(effects);
  EXPECT_EQ(rig_.all(top), (std::vector<Cells>{{7, 10, 11, 1}, {7, 20, 21, 1}, {8, 1, 1, 1}}));
  effects.clear();
  add(effects, values, {7, 10, 11, -1});
  add(effects, values, {8, 1, 1, -1});
  rig_.apply(effects);
  EXPECT_EQ(rig_.all(top), (std::vector<Cells>{{7, 20, 21, 1}, {7, 30, 31, 1}}));
}

TEST_F(RowRules, AChangeCarriesTheRowBeforeOnlyIfSomeViewIsMadeFromTheTable) {
  TestTable alone(define({.id = 6}));
  TestTable watched(define({.id = 7}));
  TestTable view(define({.id = 8, .kind = pb::VIEW, .sources = {7}}));
  start({&alone, &watched, &view});
  for (const TestTable* table : {&alone, &watched}) {
    rig_.put(*table, {1, 10});
    rig_.put(*table, {1, 11});
    Change change;
    ASSERT_TRUE(ChangeReader(rig_.last_body().commit().changes()).next(change));
    EXPECT_EQ(change.before.has_value(), table == &watched);
    EXPECT_TRUE(change.after.has_value());
  }
}

}  // namespace
}  // namespace tidemark
