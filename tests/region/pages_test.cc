// DESIGN "Joins" and "Backfill".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "proto/change.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

// A change of a join side, as a view manager sees it.
struct SeenChange {
  Cells row;
  bool gone = false;
  std::vector<Cells> matches;
  bool first = false;
  bool last = false;
};

class Joins : public ::testing::Test {
 protected:
  static RegionOptions options() {
    RegionOptions out;
    out.join_page_matches_max = 3;
    return out;
  }

  Joins() {
    pb::TableDefinition left = left_.definition();
    left.set_partner(5);
    pb::TableDefinition right = right_.definition();
    right.set_partner(4);
    catalog_.create_together(
        {define({.id = 1}), define({.id = 3, .kind = pb::VIEW, .sources = {1}}), left, right});
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
  }

  static std::string put(const TestTable& table, const Cells& cells) {
    std::string out;
    add_effect(out, EffectKind::Put, table, cells);
    return out;
  }
  static std::string erase(const TestTable& table, const Cells& cells) {
    std::string out;
    add_effect(out, EffectKind::Delete, table, cells);
    return out;
  }
  pb::EffectBatch batch(const std::string& effects) {
    Position prev = rig_.state().parts().all()[0].applied.at(ShardId{0});
    return make_batch(kShards.all(), {{shards(0, 1), prev, pos(95, ++sent_)}}, effects);
  }
  // The changes of sides in records from `from` on.
  std::vector<SeenChange> seen(size_t from) { return seen(rig_, from); }
  std::vector<SeenChange> seen(const Rig& rig, size_t from) {
    std::vector<SeenChange> out;
    std::vector<pb::RecordBody> bodies = rig.bodies();
    for (size_t i = from; i < bodies.size(); ++i) {
      ChangeReader reader(bodies[i].has_commit() ? bodies[i].commit().changes()
                                                 : bodies[i].join_page().changes());
      for (Change change; reader.next(change);) {
        const TestTable& mine = change.table == left_.id() ? left_ : right_;
        const TestTable& other = change.table == left_.id() ? right_ : left_;
        SeenChange& one = out.emplace_back();
        one.row = mine.decode(change.key, change.after ? *change.after : *change.before);
        one.gone = !change.after;
        one.first = change.first_of_side;
        one.last = change.last_of_side;
        EXPECT_TRUE(change.has_matches);
        MatchReader matches(change.matches);
        for (Match match; matches.next(match);) one.matches.push_back(other.decode(match.key, match.row));
      }
    }
    return out;
  }

  // Keyed by (join key, own key).
  TestTable left_{
      define({.id = 4, .kind = pb::AUXILIARY, .rule = pb::JOIN_SIDE, .clustering = 1, .view = 3})};
  TestTable right_{
      define({.id = 5, .kind = pb::AUXILIARY, .rule = pb::JOIN_SIDE, .clustering = 1, .view = 3})};
  TestCatalog catalog_;
  Rig rig_{{RegionId{1}, kShards.all(), Generation{1}, kShards}, options()};
  uint64_t sent_ = 0;
};

TEST_F(Joins, AChangeCarriesTheMatchesOfTheOtherSideUnderTheSameJoinKey) {
  rig_.apply(put(right_, {1, 100, 7}) + put(right_, {1, 101, 8}) + put(right_, {2, 102, 9}));
  size_t from = rig_.bodies().size();
  rig_.apply(put(left_, {1, 10, 5}));
  std::vector<SeenChange> changes = seen(from);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].matches, (std::vector<Cells>{{1, 100, 7}, {1, 101, 8}}));
}

TEST_F(Joins, MatchesSeeWhatTheSameBatchDid) {
  size_t from = rig_.bodies().size();
  rig_.apply(put(right_, {1, 100, 7}) + put(left_, {1, 10, 5}) + erase(right_, {1, 100, 0}));
  std::vector<SeenChange> changes = seen(from);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].matches.size(), 0u);
  EXPECT_EQ(changes[1].matches, (std::vector<Cells>{{1, 100, 7}}));
  EXPECT_EQ(changes[2].matches, (std::vector<Cells>{{1, 10, 5}}));
  EXPECT_TRUE(changes[2].gone);
}

TEST_F(Joins, AChangeTellsWhetherItMadeTheFirstRowOfItsSideOrTookTheLast) {
  size_t from = rig_.bodies().size();
  rig_.apply(put(right_, {1, 100, 7}) + put(right_, {1, 101, 7}) + put(right_, {1, 101, 8}) +
             put(right_, {2, 5, 7}) + erase(right_, {1, 100, 0}) + erase(right_, {1, 101, 0}));
  std::vector<SeenChange> changes = seen(from);
  ASSERT_EQ(changes.size(), 6u);
  std::vector<bool> first, last;
  for (const SeenChange& change : changes) {
    first.push_back(change.first);
    last.push_back(change.last);
  }
  EXPECT_EQ(first, (std::vector<bool>{true, false, false, true, false, false}));
  EXPECT_EQ(last, (std::vector<bool>{false, false, false, false, false, true}));
}

TEST_F(Joins, AChangeWithManyMatchesIsWrittenAsPages) {
  std::string rows;
  for (int64_t i = 0; i < 10; ++i) rows += put(right_, {1, i, i});
  rig_.apply(rows);
  size_t from = rig_.bodies().size();
  rig_.apply(put(left_, {1, 10, 5}));
  std::vector<SeenChange> pages = seen(from);
  ASSERT_EQ(pages.size(), 4u);
  std::set<int64_t> keys;
  for (const SeenChange& page : pages) {
    EXPECT_LE(page.matches.size(), 3u);
    EXPECT_TRUE(page.first);
    for (const Cells& match : page.matches) EXPECT_TRUE(keys.insert(*match[1]).second);
  }
  EXPECT_EQ(keys.size(), 10u);
  EXPECT_TRUE(rig_.state().pending_joins().empty());
}

TEST_F(Joins, ABatchThatMeetsAKeyWhoseJoinIsBeingPagedIsBusyAndHoldsNothing) {
  std::string rows;
  for (int64_t i = 0; i < 10; ++i) rows += put(right_, {1, i, i});
  rig_.apply(rows);
  uint64_t paged = rig_.effects(batch(put(left_, {1, 10, 5})));
  // Even by itself: the second effect of a batch whose first began the paging.
  pb::EffectBatch late = batch(put(left_, {2, 1, 1}) + put(left_, {1, 11, 5}));
  *late.mutable_lanes(0)->mutable_prev() = to_pb(pos(95, sent_ - 1));
  uint64_t busy = rig_.effects(late);
  EXPECT_EQ(rig_.verdict(busy), pb::EffectAnswer::BUSY);
  rig_.settle();
  EXPECT_EQ(rig_.verdict(paged), pb::EffectAnswer::APPLIED);
  EXPECT_EQ(rig_.all(left_), (std::vector<Cells>{{1, 10, 5}}));
  uint64_t again = rig_.effects(late);
  rig_.settle();
  EXPECT_EQ(rig_.verdict(again), pb::EffectAnswer::APPLIED);
  EXPECT_EQ(rig_.all(left_).size(), 3u);
}

TEST_F(Joins, ABatchThatBeginsToPageAKeyTwiceIsBusy) {
  std::string rows;
  for (int64_t i = 0; i < 10; ++i) rows += put(right_, {1, i, i});
  rig_.apply(rows);
  uint64_t both = rig_.effects(batch(put(left_, {1, 10, 5}) + put(left_, {1, 11, 5})));
  EXPECT_EQ(rig_.verdict(both), pb::EffectAnswer::BUSY);
  rig_.settle();
  EXPECT_EQ(rig_.all(left_).size(), 0u);
}

TEST_F(Joins, PagesGoOnAfterARestart) {
  std::string rows;
  for (int64_t i = 0; i < 10; ++i) rows += put(right_, {1, i, i});
  rig_.apply(rows);
  size_t from = rig_.bodies().size();
  rig_.effects(batch(put(left_, {1, 10, 5})));
  rig_.tick();
  rig_.tick();
  rig_.end(1);
  EXPECT_EQ(rig_.state().pending_joins().size(), 1u);
  rig_.open(2);
  rig_.settle();
  std::set<int64_t> keys;
  for (const SeenChange& page : seen(from)) {
    for (const Cells& match : page.matches) EXPECT_TRUE(keys.insert(*match[1]).second);
  }
  EXPECT_EQ(keys.size(), 10u);
}

TEST_F(Joins, ChildrenOfASplitGoOnWithPendingPages) {
  std::string rows;
  for (int64_t i = 0; i < 10; ++i) rows += put(right_, {1, i, i});
  rig_.apply(rows);
  size_t from = rig_.bodies().size();
  rig_.effects(batch(put(left_, {1, 10, 5})));
  RegionFacts facts;
  facts.map_version = MapVersion{2};
  facts.child_generation = Generation{2};
  facts.change.emplace();
  facts.change->set_phase(pb::RegionChange::SPLIT_SEAL);
  for (uint32_t half : {0u, 1u}) {
    auto& child = *facts.change->add_children();
    child.set_region(11 + half);
    *child.mutable_shards() = to_pb(shards(half * 8, half * 8 + 8));
  }
  rig_.facts(facts);
  rig_.settle();
  ASSERT_EQ(rig_.state().pending_joins().size(), 1u);
  std::set<int64_t> keys;
  auto count = [&](const std::vector<SeenChange>& pages) {
    for (const SeenChange& page : pages) {
      for (const Cells& match : page.matches) EXPECT_TRUE(keys.insert(*match[1]).second);
    }
  };
  count(seen(rig_, from));
  EXPECT_LT(keys.size(), 10u);
  for (uint64_t id : {11u, 12u}) {
    Rig child(RegionState::split_child(rig_.state(), RegionId{id}), rig_.rows(), std::make_shared<TestLog>(),
              options());
    child.open();
    child.settle();
    count(seen(child, 0));
  }
  EXPECT_EQ(keys.size(), 10u);
}

// ---- backfill

class Backfills : public ::testing::Test {
 protected:
  static RegionOptions options() {
    RegionOptions out;
    out.page_bytes_max = 100;  // A few rows.
    return out;
  }
  Backfills() {
    catalog_.create(base_.definition());
    rig_.catalog(catalog_);
    rig_.open();
    rig_.settle();
  }
  void create_and_begin() {
    catalog_.create(view_.definition());
    catalog_.begin(3);
    rig_.catalog(catalog_);
  }
  // What the view is told: each change that is not marked, and each page, in order.
  std::map<int64_t, int64_t> told(size_t* pages = nullptr) {
    std::map<int64_t, int64_t> out;
    for (const pb::RecordBody& body : rig_.bodies()) {
      if (body.catalog_version() < catalog_.version()) continue;
      bool page = body.has_backfill_page();
      if (page && pages != nullptr) ++*pages;
      ChangeReader reader(page ? body.backfill_page().changes() : body.commit().changes());
      for (Change change; reader.next(change);) {
        if (change.skips(view_.id())) continue;
        int64_t key = *base_.decode(change.key, change.after ? *change.after : *change.before)[0];
        EXPECT_FALSE(page && out.contains(key)) << "paged, but told before: " << key;
        if (change.after) {
          out[key] = *base_.decode(change.key, *change.after)[1];
        } else {
          out.erase(key);
        }
      }
    }
    return out;
  }
  std::map<int64_t, int64_t> rows() {
    std::map<int64_t, int64_t> out;
    for (const Cells& row : rig_.all(base_)) out[*row[0]] = *row[1];
    return out;
  }

  TestTable base_{define({.id = 1})};
  TestTable view_{define({.id = 3, .kind = pb::VIEW, .sources = {1}})};
  TestCatalog catalog_;
  Rig rig_{{RegionId{1}, kShards.all(), Generation{1}, kShards}, options()};
};

TEST_F(Backfills, ARegionWritesItsRowsAsPagesInOrder) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_and_begin();
  rig_.settle();
  size_t pages = 0;
  EXPECT_EQ(told(&pages), rows());
  EXPECT_GT(pages, 4u);
  EXPECT_TRUE(rig_.state().backfills().at(TableId{3}).done);
}

TEST_F(Backfills, AnEmptyRegionWritesItsLastPageAtOnce) {
  create_and_begin();
  rig_.settle();
  EXPECT_TRUE(rig_.last_body().backfill_page().last());
}

TEST_F(Backfills, LiveChangesBeyondTheCursorAreMarkedAndComeWithALaterPage) {
  for (int64_t key = 0; key < 60; key += 2) rig_.put(base_, {key, key});
  pb::SessionName session = rig_.session();
  create_and_begin();
  uint64_t number = 0;
  for (int64_t step = 0; step < 60; ++step) {
    std::string operations;
    if (step % 3 == 0) {
      add_delete(operations, base_, {step, 0});
    } else {
      add_put(operations, base_, {step * 7 % 60, 1000 + step});
    }
    ++number;
    rig_.write(rig_.request(session, number, operations, number));
    rig_.tick(5'000);
    if (step % 2 == 0) rig_.land(1);
  }
  rig_.settle();
  EXPECT_EQ(told(), rows());
}

TEST_F(Backfills, GoOnFromTheCursorAfterARestart) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_and_begin();
  for (uint64_t version = 2;
       !rig_.state().backfills().contains(TableId{3}) || !rig_.state().backfills().at(TableId{3}).done;
       ++version) {
    rig_.tick();
    rig_.land(1);
    rig_.tick();
    rig_.end(version % 2);
    rig_.open(version);
    ASSERT_LT(version, 100u);
  }
  EXPECT_EQ(told(), rows());
}

TEST_F(Backfills, WaitWhileViewsLag) {
  rig_.put(base_, {1, 1});
  rig_.region().hold_back(true);
  create_and_begin();
  rig_.settle();
  EXPECT_FALSE(rig_.state().backfills().at(TableId{3}).done);
  rig_.region().hold_back(false);
  rig_.settle();
  EXPECT_TRUE(rig_.state().backfills().at(TableId{3}).done);
}

TEST_F(Backfills, HaveEndedWhenEveryLaneHasCommittedPastTheLastPage) {
  rig_.put(base_, {1, 1});
  create_and_begin();
  rig_.settle();
  EXPECT_EQ(rig_.state().backfilling(), std::vector<TableId>{TableId{3}});
  Position end = pos(1, rig_.log()->records.size());
  rig_.report(shards(0, 15), end);
  rig_.settle();
  EXPECT_EQ(rig_.state().backfilling(), std::vector<TableId>{TableId{3}});
  rig_.report(shards(15, 16), end);
  rig_.settle();
  EXPECT_EQ(rig_.state().backfilling(), std::vector<TableId>{});
}

TEST_F(Backfills, AViewThatHasNotBegunIsBackfilling) {
  catalog_.create(view_.definition());
  rig_.catalog(catalog_);
  rig_.settle();
  EXPECT_EQ(rig_.state().backfilling(), std::vector<TableId>{TableId{3}});
  EXPECT_FALSE(rig_.state().all_backfilled());
  EXPECT_TRUE(rig_.state().backfills().empty());  // No pages before begin.
}

}  // namespace
}  // namespace tidemark
