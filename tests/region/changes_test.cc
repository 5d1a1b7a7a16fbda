// What an owner derives from the facts: docs/design.md, "Catalog"; docs/protocols.md, "Split a region",
// "Merge two regions".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "node/store/store_key.h"
#include "proto/change.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

RegionFacts facts_with(uint64_t region, pb::RegionChange change, uint64_t map_version) {
  RegionFacts out;
  out.map_version = MapVersion{map_version};
  out.entry.set_region(region);
  change.set_version(map_version);
  out.change = std::move(change);
  out.child_generation = Generation{2};
  return out;
}

pb::RegionChange split_at(uint32_t shard) {
  pb::RegionChange out;
  out.set_id(7);
  out.add_parents(1);
  out.set_phase(pb::RegionChange::SPLIT_SEAL);
  auto add = [&](uint64_t region, ShardRange range) {
    auto& child = *out.add_children();
    child.set_region(region);
    *child.mutable_shards() = to_pb(range);
  };
  add(11, shards(0, shard));
  add(12, shards(shard, 16));
  return out;
}

pb::RegionChange merge_of(uint64_t first, uint64_t second, pb::RegionChange::Phase phase,
                          uint64_t catalog = 2) {
  pb::RegionChange out;
  out.set_id(8);
  out.add_parents(first);
  out.add_parents(second);
  out.set_phase(phase);
  out.set_catalog_version(catalog);
  auto& child = *out.add_children();
  child.set_region(20);
  *child.mutable_shards() = to_pb(kShards.all());
  return out;
}

class Changes : public ::testing::Test {
 protected:
  Changes() {
    catalog_.create(base_.definition());
    catalog_.create(sums_.definition());
  }
  void start(Rig& rig) {
    rig.catalog(catalog_);
    rig.open();
    rig.settle();
  }
  std::string add(int64_t group, int64_t value = 1) {
    std::string out;
    add_effect(out, EffectKind::Add, sums_, {group, 1, value});
    return out;
  }
  // A key of the base table in these shards.
  int64_t key_in(ShardRange range, int64_t from = 0) {
    while (!range.contains(kShards.shard_of(base_.encode({from, 0}).hash))) ++from;
    return from;
  }

  TestTable base_{define({.id = 1})};
  TestTable sums_{define({.id = 2, .kind = pb::VIEW, .rule = pb::SUM, .values = 2, .sources = {1}})};
  TestCatalog catalog_;
};

// ---- catalog and ring

TEST_F(Changes, EachCatalogVersionIsARecordWithWhatItBrings) {
  catalog_.begin(2);
  catalog_.drop(1);
  Rig rig;
  start(rig);
  std::vector<uint64_t> versions;
  for (const pb::RecordBody& body : rig.bodies()) {
    if (!body.has_catalog()) continue;
    versions.push_back(body.catalog().version());
    ASSERT_EQ(body.catalog().tables_size(), 1);
    const pb::TableDefinition& table = body.catalog().tables(0);
    // As of that version: what came later is not told.
    EXPECT_LE(table.begun(), body.catalog().version());
    EXPECT_LE(table.dropped(), body.catalog().version());
  }
  EXPECT_THAT(versions, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(rig.state().catalog().find(TableId{1}), nullptr);
  EXPECT_EQ(rig.state().catalog().version(), CatalogVersion{4});
}

// However long their definitions are.
TEST_F(Changes, ARecordOfDroppedTablesHasTheirNumbersAlone) {
  pb::Catalog catalog;
  catalog.set_version(4);
  for (uint32_t id = 1; id <= 3; ++id) {
    pb::TableDefinition& table = *catalog.add_tables();
    table.set_id(id);
    table.set_kind(pb::MANAGED);
    table.set_row_rule(pb::PUT);
    table.set_sql(std::string(400'000, 'x'));
    table.set_created(id);
    table.set_dropped(4);
  }
  const pb::CatalogChange change = next_catalog_change(catalog, CatalogVersion{3});
  EXPECT_EQ(change.tables_size(), 3);
  EXPECT_LE(change.ByteSizeLong(), 3 * 64u);
  TableCatalog reached;
  std::vector<TableId> dropped;
  for (uint64_t from = 0; from < 4; ++from) {
    ASSERT_TRUE(reached.apply(next_catalog_change(catalog, CatalogVersion{from}), dropped).ok());
  }
  EXPECT_THAT(dropped, ElementsAre(TableId{1}, TableId{2}, TableId{3}));
}

TEST_F(Changes, FactsAreFollowedOnce) {
  Rig rig;
  start(rig);
  rig.ring(2);
  rig.settle();
  size_t records = rig.log()->records.size();
  rig.ring(1);
  rig.ring(2);
  rig.catalog(catalog_);
  rig.settle();
  rig.end();
  rig.open(2);
  rig.settle();
  EXPECT_EQ(rig.log()->records.size(), records + 1);  // The fence.
}

TEST_F(Changes, RecordsCarryTheCatalogVersionTheyWereMadeUnder) {
  Rig rig;
  start(rig);
  rig.put(base_, {1, 1});
  EXPECT_EQ(rig.last_body().catalog_version(), 2u);
  catalog_.begin(2);
  rig.catalog(catalog_);
  rig.settle();
  rig.put(base_, {2, 1});
  EXPECT_EQ(rig.last_body().catalog_version(), 3u);
}

// ---- split

TEST_F(Changes, AfterASealNothingIsServed) {
  Rig rig;
  start(rig);
  pb::SessionName session = rig.session();
  rig.facts(facts_with(1, split_at(8), 2));
  rig.tick();
  std::string operations;
  add_put(operations, base_, {1, 1});
  EXPECT_EQ(rig.refused(rig.write(rig.request(session, 1, operations))), pb::NOT_OWNER);
  EXPECT_EQ(rig.refused(rig.effects(make_batch(kShards.all(), {{shards(0, 1), {}, pos(0, 1)}}, add(1)))),
            pb::NOT_OWNER);
  rig.settle();
  ASSERT_TRUE(rig.state().seal().has_value());
  EXPECT_EQ(rig.state().seal()->change(), 7u);
  EXPECT_EQ(rig.state().seal()->generation(), 2u);
}

TEST_F(Changes, WhatCameBeforeTheSealIsInTheLogBeforeIt) {
  Rig rig;
  start(rig);
  pb::SessionName session = rig.session();
  std::string operations;
  add_put(operations, base_, {1, 1});
  uint64_t write = rig.write(rig.request(session, 1, operations));
  rig.facts(facts_with(1, split_at(8), 2));
  rig.settle();
  EXPECT_EQ(rig.reply(write).written().rows_affected_size(), 1);
  EXPECT_EQ(rig.log()->records.back()->header.kind, RecordKind::Seal);
}

TEST_F(Changes, ChildrenOfASplitKeepPositionsEntriesAndCommittedPositions) {
  Rig rig;
  start(rig);
  rig.ring(1);
  rig.settle();
  pb::SessionName session = rig.session();
  int64_t low = key_in(shards(0, 8)), high = key_in(shards(8, 16));
  std::string operations;
  add_put(operations, base_, {low, 1});
  add_put(operations, base_, {high, 2});
  rig.write(rig.request(session, 1, operations));
  rig.settle();
  rig.effects(make_batch(kShards.all(), {{shards(3, 5), {}, pos(0, 9)}}, add(1)));
  rig.settle();
  Position committed = pos(1, rig.log()->records.size());
  rig.report(shards(0, 4), committed);
  rig.settle();
  rig.facts(facts_with(1, split_at(8), 2));
  rig.settle();

  for (uint64_t id : {11u, 12u}) {
    Rig child(RegionState::split_child(rig.state(), RegionId{id}), rig.rows(), std::make_shared<TestLog>());
    bool is_low = id == 11;
    EXPECT_EQ(child.state().identity().generation, Generation{2});
    EXPECT_EQ(child.state().parts().all()[0].applied.at(ShardId{4}), pos(0, 9));
    EXPECT_EQ(child.state().parts().all()[0].shards, is_low ? shards(0, 8) : shards(8, 16));
    EXPECT_EQ(child.state().committed().at(ShardId{0}), is_low ? committed : Position{});
    EXPECT_FALSE(child.state().committed_past_parents());
    EXPECT_FALSE(child.region().status().committed_past_seal());
    EXPECT_EQ(child.state().ring(), RingVersion{1});
    EXPECT_EQ(child.state().last_change(), pos(2, 0));
    start(child);
    // The retry brings only the operations of this child's shards, and is not done again.
    std::string mine;
    add_put(mine, base_, {is_low ? low : high, 77});
    uint64_t retry = child.write(child.request(session, 1, mine));
    EXPECT_THAT(child.reply(retry).written().rows_affected(), ElementsAre(1));
    // A batch for the parent's range is refused; one for the child's goes on where the parent was.
    EXPECT_EQ(
        child.verdict(child.effects(make_batch(kShards.all(), {{shards(3, 5), pos(0, 9), pos(0, 10)}}, ""))),
        pb::EffectAnswer::REFUSED);
    uint64_t batch = child.effects(
        make_batch(child.state().identity().shards, {{shards(3, 5), pos(0, 9), pos(0, 10)}}, ""));
    // The parent's tail commits in the child; crossing the seal is always worth a record.
    child.report(child.state().identity().shards, pos(2, 0));
    child.settle();
    EXPECT_EQ(child.verdict(batch), pb::EffectAnswer::APPLIED);
    EXPECT_TRUE(child.state().committed_past_parents());
    EXPECT_TRUE(child.region().status().committed_past_seal());
    EXPECT_EQ(child.state().ring_acknowledged(), RingVersion{1});
  }
}

TEST_F(Changes, ASplitIsUndoneByAFenceUnderTheMapThatUndoesIt) {
  Rig rig;
  start(rig);
  pb::RegionChange change = split_at(8);
  change.set_phase(pb::RegionChange::UNDO);
  rig.facts(facts_with(1, change, 5));
  rig.settle();
  EXPECT_TRUE(rig.refence_wanted());
  rig.end();
  rig.open(5);
  rig.settle();
  EXPECT_FALSE(rig.state().seal().has_value());
}

TEST_F(Changes, AMapOlderThanTheFenceIsNotActedOn) {
  Rig rig;
  rig.catalog(catalog_);
  rig.open(6);
  rig.facts(facts_with(1, split_at(8), 5));
  rig.settle();
  EXPECT_FALSE(rig.state().seal().has_value());
  rig.facts(facts_with(1, split_at(8), 6));
  rig.settle();
  EXPECT_TRUE(rig.state().seal().has_value());
}

TEST_F(Changes, ASplitInTheMiddleOfABackfillGoesOnFromTheCursor) {
  RegionOptions options;
  options.page_bytes_max = 150;
  for (int pages = 0; pages < 12; ++pages) {
    TestCatalog catalog = catalog_;
    Rig rig({RegionId{1}, kShards.all(), Generation{1}, kShards}, options);
    start(rig);
    for (int64_t key = 0; key < 30; ++key) rig.put(base_, {key, key});
    catalog.begin(2);
    rig.catalog(catalog);
    size_t from = rig.log()->records.size();
    rig.tick();
    for (int i = 0; i < pages; ++i) {
      rig.land(1);
      rig.tick();
    }
    rig.facts(facts_with(1, split_at(6), 2));
    rig.settle();
    auto paged = [&](const Rig& of, size_t start_at) {
      std::multiset<std::string> out;
      for (size_t at = start_at; at < const_cast<Rig&>(of).log()->records.size(); ++at) {
        const WalRecord& record = *const_cast<Rig&>(of).log()->records[at];
        pb::RecordBody body;
        if (record.header.kind != RecordKind::Body || !body.ParseFromString(record.payload)) continue;
        ChangeReader reader(body.backfill_page().changes());
        for (Change change; reader.next(change);) out.emplace(change.key);
      }
      return out;
    };
    std::multiset<std::string> keys = paged(rig, from);
    for (uint64_t id : {11u, 12u}) {
      Rig child(RegionState::split_child(rig.state(), RegionId{id}), rig.rows(), std::make_shared<TestLog>(),
                options);
      child.catalog(catalog);
      child.open();
      child.settle();
      keys.merge(paged(child, 0));
      EXPECT_TRUE(child.state().all_backfilled());
    }
    EXPECT_EQ(keys.size(), 30u) << "after pages: " << pages;
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 30u);
  }
}

// ---- merge

class Merges : public Changes {
 protected:
  Merges() {
    catalog_.begin(2);
    start(first_);
    start(second_);
  }
  void both(pb::RegionChange::Phase phase, uint64_t version) {
    first_.facts(facts_with(1, merge_of(1, 2, phase, catalog_.version()), version));
    second_.facts(facts_with(2, merge_of(1, 2, phase, catalog_.version()), version));
    first_.settle();
    second_.settle();
  }

  Rig first_{{RegionId{1}, shards(0, 8), Generation{1}, kShards}};
  Rig second_{{RegionId{2}, shards(8, 16), Generation{1}, kShards}};
};

TEST_F(Merges, TheSecondMergesThenTheFirstIsSealedThenTheSecond) {
  both(pb::RegionChange::MERGE_MERGING, 2);
  EXPECT_EQ(second_.state().merging(), ChangeId{8});
  EXPECT_EQ(first_.state().merging(), std::nullopt);
  both(pb::RegionChange::MERGE_SEAL_FIRST, 3);
  EXPECT_TRUE(first_.state().seal().has_value());
  EXPECT_FALSE(second_.state().seal().has_value());
  both(pb::RegionChange::MERGE_SEAL_SECOND, 4);
  EXPECT_TRUE(second_.state().seal().has_value());
}

TEST_F(Merges, AMergingRegionRefusesCutsAndCatalogChangesButServes) {
  both(pb::RegionChange::MERGE_MERGING, 2);
  CatalogVersion before = second_.state().catalog().version();
  catalog_.create(define({.id = 9}));
  second_.catalog(catalog_);
  second_.ring(4);
  second_.settle();
  EXPECT_EQ(second_.state().catalog().version(), before);
  EXPECT_EQ(second_.state().ring(), RingVersion{0});
  int64_t key = key_in(shards(8, 16));
  second_.put(base_, {key, 1});
  EXPECT_EQ(second_.row(base_, {key, 0}), (Cells{key, 1}));
}

TEST_F(Merges, TheFirstIsSealedOnlyAtTheSameCatalogAndRing) {
  both(pb::RegionChange::MERGE_MERGING, 2);
  first_.ring(4);
  first_.settle();
  both(pb::RegionChange::MERGE_SEAL_FIRST, 3);
  EXPECT_FALSE(first_.state().seal().has_value());
}

TEST_F(Merges, NeitherMergesBeforeEveryViewHasBegunAndIsBackfilled) {
  catalog_.create(define({.id = 9, .kind = pb::VIEW, .sources = {1}}));
  for (Rig* rig : {&first_, &second_}) {
    rig->catalog(catalog_);
    rig->settle();
  }
  both(pb::RegionChange::MERGE_MERGING, 2);
  EXPECT_EQ(second_.state().merging(), std::nullopt);
  both(pb::RegionChange::MERGE_SEAL_FIRST, 3);
  EXPECT_FALSE(first_.state().seal().has_value());
}

TEST_F(Merges, UnmergeIsAlwaysWrittenAndAnUnmergedChangeNeverMergesAgain) {
  both(pb::RegionChange::MERGE_MERGING, 2);
  both(pb::RegionChange::UNDO, 3);
  EXPECT_TRUE(first_.refence_wanted());
  EXPECT_FALSE(second_.refence_wanted());
  both(pb::RegionChange::MERGE_UNMERGE, 4);
  EXPECT_EQ(second_.state().merging(), std::nullopt);
  EXPECT_THAT(second_.state().unmerged(), ElementsAre(ChangeId{8}));
  // A node restarts with a map that still says: merge.
  Rig stale(*RegionState::from_snapshot(second_.state().to_snapshot()), second_.rows(), second_.log());
  stale.facts(facts_with(2, merge_of(1, 2, pb::RegionChange::MERGE_MERGING), 4));
  stale.open(4);
  stale.settle();
  EXPECT_EQ(stale.state().merging(), std::nullopt);
}

TEST_F(Merges, UnmergeIsWrittenEvenWhereMergingNeverWas) {
  both(pb::RegionChange::MERGE_UNMERGE, 4);
  EXPECT_THAT(second_.state().unmerged(), ElementsAre(ChangeId{8}));
}

class Merged : public Merges {
 protected:
  Rig merge() {
    both(pb::RegionChange::MERGE_MERGING, 2);
    both(pb::RegionChange::MERGE_SEAL_FIRST, 3);
    both(pb::RegionChange::MERGE_SEAL_SECOND, 4);
    MemoryRowStore rows = first_.rows();
    for (const auto& [place, row] : second_.rows().all()) {
      DecodedStoreKey key = *decode_store_key(place);
      rows.put(key.table, key.hash, key.key, row);
    }
    return Rig(RegionState::merge_child(first_.state(), second_.state(), RegionId{20}), rows,
               std::make_shared<TestLog>());
  }
};

TEST_F(Merged, IsTwoPartsUntilTheirPositionsAgree) {
  first_.effects(make_batch(shards(0, 8), {{shards(0, 4), {}, pos(1, 9)}}, ""));
  first_.settle();
  second_.effects(make_batch(shards(8, 16), {{shards(0, 4), {}, pos(1, 6)}}, ""));
  second_.settle();
  Rig child = merge();
  ASSERT_EQ(child.state().parts().size(), 2u);
  EXPECT_EQ(child.state().identity().generation, Generation{2});
  start(child);
  // A batch for the whole is refused, with both parts.
  uint64_t whole = child.effects(make_batch(kShards.all(), {{shards(0, 4), pos(1, 9), pos(1, 12)}}, ""));
  child.settle();
  EXPECT_EQ(child.reply(whole).effects_answer().parts_size(), 2);
  // One per part moves that part only.
  uint64_t low = child.effects(make_batch(shards(0, 8), {{shards(0, 4), pos(1, 9), pos(1, 12)}}, ""));
  uint64_t high = child.effects(make_batch(shards(8, 16), {{shards(0, 4), pos(1, 6), pos(1, 12)}}, ""));
  child.settle();
  EXPECT_EQ(child.verdict(low), pb::EffectAnswer::APPLIED);
  EXPECT_EQ(child.verdict(high), pb::EffectAnswer::APPLIED);
  EXPECT_EQ(child.state().parts().size(), 1u);
}

TEST_F(Merged, RaisesItsPartsToTheCommittedPositionsWhenThatMakesThemFewer) {
  first_.effects(make_batch(shards(0, 8), {{shards(12, 14), {}, pos(1, 9)}}, ""));
  first_.settle();
  Rig child = merge();
  start(child);
  ASSERT_EQ(child.state().parts().size(), 2u);
  // Its own lanes it knows; of lanes elsewhere it would ask.
  EXPECT_TRUE(child.asks().empty());
  child.committed_positions(shards(12, 14), pos(1, 8));
  child.settle();
  EXPECT_EQ(child.state().parts().size(), 2u);
  child.committed_positions(shards(12, 14), pos(1, 9));
  child.settle();
  EXPECT_EQ(child.state().parts().size(), 1u);
  EXPECT_TRUE(child.last_body().has_raise());
}

TEST_F(Merged, KeepsForEachShardWhatItsParentKnewOfSessions) {
  pb::SessionName one = first_.session();
  pb::SessionName two = second_.session();
  int64_t low = key_in(shards(0, 8)), high = key_in(shards(8, 16));
  std::string lows, highs;
  add_put(lows, base_, {low, 1});
  add_put(highs, base_, {high, 2});
  first_.write(first_.request(one, 5, lows));
  second_.write(second_.request(two, 5, highs));
  first_.settle();
  second_.settle();
  Rig child = merge();
  start(child);
  EXPECT_TRUE(child.answered(child.write(child.request(one, 5, lows))));
  EXPECT_TRUE(child.answered(child.write(child.request(two, 5, highs))));
  // A session of one parent is not known on the shards of the other.
  EXPECT_EQ(child.refused(child.write(child.request(one, 6, highs))), pb::SESSION_EXPIRED);
  EXPECT_EQ(child.refused(child.write(child.request(two, 6, lows))), pb::SESSION_EXPIRED);
}

TEST_F(Merged, ARequestThatOneParentHadDoneIsDoneForTheOtherShardsOnly) {
  // One region, split, and merged again: the session is known everywhere, the request done in one half.
  Rig parent({RegionId{3}, kShards.all(), Generation{1}, kShards});
  start(parent);
  pb::SessionName session = parent.session();
  parent.facts(facts_with(3, split_at(8), 2));
  parent.settle();
  Rig low(RegionState::split_child(parent.state(), RegionId{11}), parent.rows(), std::make_shared<TestLog>());
  Rig high(RegionState::split_child(parent.state(), RegionId{12}), parent.rows(),
           std::make_shared<TestLog>());
  start(low);
  start(high);
  int64_t low_key = key_in(shards(0, 8)), high_key = key_in(shards(8, 16));
  std::string lows, highs;
  add_put(lows, base_, {low_key, 1});
  add_put(highs, base_, {high_key, 2});
  low.write(low.request(session, 1, lows));
  low.settle();
  low.put(base_, {low_key, 50});
  for (auto [phase, version] : {std::pair{pb::RegionChange::MERGE_MERGING, 2},
                                {pb::RegionChange::MERGE_SEAL_FIRST, 3},
                                {pb::RegionChange::MERGE_SEAL_SECOND, 4}}) {
    RegionFacts facts =
        facts_with(11, merge_of(11, 12, phase, catalog_.version()), static_cast<uint64_t>(version));
    facts.child_generation = Generation{3};
    low.facts(facts);
    high.facts(facts);
    low.settle();
    high.settle();
  }
  Rig child(RegionState::merge_child(low.state(), high.state(), RegionId{20}), low.rows(),
            std::make_shared<TestLog>());
  start(child);
  uint64_t retry = child.write(child.request(session, 1, lows + highs));
  child.settle();
  EXPECT_THAT(child.reply(retry).written().rows_affected(), ElementsAre(1, 1));
  EXPECT_EQ(child.row(base_, {low_key, 0}), (Cells{low_key, 50}));
  EXPECT_EQ(child.row(base_, {high_key, 0}), (Cells{high_key, 2}));
}

TEST_F(Merged, AcknowledgesARingOnceBothHalvesHave) {
  first_.ring(3);
  second_.ring(3);
  first_.settle();
  second_.settle();
  first_.report(shards(0, 8), pos(1, first_.log()->records.size()));
  first_.settle();
  for (Rig* rig : {&first_, &second_}) {
    for (auto [phase, version] : {std::pair{pb::RegionChange::MERGE_MERGING, 2},
                                  {pb::RegionChange::MERGE_SEAL_FIRST, 3},
                                  {pb::RegionChange::MERGE_SEAL_SECOND, 4}}) {
      pb::RegionChange change = merge_of(1, 2, phase, catalog_.version());
      change.set_ring_version(3);
      rig->facts(facts_with(rig->state().identity().region.value, change, static_cast<uint64_t>(version)));
      rig->settle();
    }
  }
  RegionState child = RegionState::merge_child(first_.state(), second_.state(), RegionId{20});
  EXPECT_EQ(child.ring(), RingVersion{3});
  EXPECT_EQ(child.ring_acknowledged(), RingVersion{0});
  EXPECT_EQ(child.ring_at(ShardId{0}, child.committed().at(ShardId{0})), RingVersion{3});
  EXPECT_EQ(child.ring_at(ShardId{9}, child.committed().at(ShardId{9})), RingVersion{0});
}

}  // namespace
}  // namespace tidemark
