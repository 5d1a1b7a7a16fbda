// docs/design.md, "Backfill".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "node/region/backfill_pace.h"
#include "proto/change.h"
#include "proto/convert.h"
#include "tests/region/rig.h"

namespace tidemark {
namespace {

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
    begun_ = catalog_.version();
    rig_.catalog(catalog_);
  }
  void pace(std::optional<uint64_t> rows_per_second) {
    catalog_.pace(3, rows_per_second);
    rig_.catalog(catalog_);
  }
  // Before it begins.
  void create_at(uint64_t rows_per_second) {
    pb::TableDefinition paced = view_.definition();
    paced.set_backfill_rows_per_second(rows_per_second);
    catalog_.create(paced);
    catalog_.begin(3);
    begun_ = catalog_.version();
    rig_.catalog(catalog_);
  }
  bool is_done(uint32_t view = 3) {
    auto found = rig_.state().backfills().find(TableId{view});
    return found != rig_.state().backfills().end() && found->second.done;
  }
  size_t pages() {
    size_t out = 0;
    told(&out);
    return out;
  }
  // What the view is told: each change that is not marked, and each page, in order.
  std::map<int64_t, int64_t> told(size_t* pages = nullptr) {
    std::map<int64_t, int64_t> out;
    for (const pb::RecordBody& body : rig_.bodies()) {
      if (body.catalog_version() < begun_) continue;
      bool page = body.has_backfill_page();
      if (page && body.backfill_page().view() != view_.id().value) continue;
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
  uint64_t begun_ = 0;  // The version.
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

TEST_F(Backfills, OfAnEmptyRegionEndByProgressThatPassesNothingElse) {
  rig_.report(kShards.all(), pos(1, rig_.log()->records.size()));
  create_and_begin();
  rig_.settle();
  EXPECT_EQ(rig_.state().backfilling(), std::vector<TableId>{TableId{3}});
  rig_.report(kShards.all(), pos(1, rig_.log()->records.size()));
  rig_.settle();
  EXPECT_TRUE(rig_.last_body().has_progress());
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

// ---- at a limited pace

TEST(BackfillPace, OfAllRegionsTogetherIsThatOfTheView) {
  pb::TableDefinition view;
  EXPECT_FALSE(BackfillPace(view, shards(0, 4), kShards).is_limited());
  view.set_backfill_rows_per_second(1'600);
  const BackfillPace quarter(view, shards(0, 4), kShards);
  EXPECT_EQ(quarter.page_rows_max(), 400u);
  EXPECT_EQ(quarter.time_for(400), Micros{1'000'000});
  const BackfillPace rest(view, shards(4, 16), kShards);
  EXPECT_EQ(rest.page_rows_max(), 1'200u);
  EXPECT_EQ(rest.time_for(1'200), Micros{1'000'000});
}

TEST(BackfillPace, MayBeLessThanARowASecond) {
  pb::TableDefinition view;
  view.set_backfill_rows_per_second(1);
  const BackfillPace sixteenth(view, shards(3, 4), kShards);
  EXPECT_EQ(sixteenth.page_rows_max(), 1u);
  EXPECT_EQ(sixteenth.time_for(1), Micros{16'000'000});
  EXPECT_FALSE(sixteenth.is_paused());
  view.set_backfill_rows_per_second(0);
  EXPECT_TRUE(BackfillPace(view, shards(3, 4), kShards).is_paused());
}

TEST_F(Backfills, KeepToTheirRateByTheTimesThatTheyAskFor) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_at(10);
  rig_.tick();
  const Micros began = rig_.now();
  for (;;) {
    rig_.land();
    if (is_done()) break;
    rig_.tick();
    if (rig_.in_flight() > 0) continue;
    // And one page ahead.
    ASSERT_LE(told().size(), static_cast<size_t>(10 + 10 * (rig_.now().value - began.value) / 1'000'000));
    const std::optional<Micros> next = rig_.region().next_tick();
    ASSERT_TRUE(next && *next > rig_.now()) << "nothing would wake it";
    rig_.tick(next->value - rig_.now().value);
  }
  EXPECT_EQ(told(), rows());
  const int64_t took = rig_.now().value - began.value;
  EXPECT_GE(took, 3'000'000);
  EXPECT_LE(took, 5'000'000);
}

TEST_F(Backfills, WriteNoPageWhilePausedAndGoOnWhereTheyWere) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_at(10);
  for (size_t i = 0; i < 10 && pages() < 2; ++i) {
    rig_.tick(200'000);
    rig_.land();
  }
  pace(0);
  rig_.settle();
  const size_t before = pages();
  const std::string cursor = rig_.state().backfills().at(TableId{3}).cursor;
  EXPECT_GT(before, 0u);
  for (int64_t key = 30; key < 60; ++key) rig_.put(base_, {key, 1'000 + key});
  rig_.tick(3'600'000'000);
  rig_.settle();
  EXPECT_EQ(pages(), before);
  EXPECT_FALSE(is_done());
  EXPECT_EQ(rig_.region().next_tick(), std::nullopt) << "a paused one costs nothing";

  pace(std::nullopt);
  EXPECT_EQ(rig_.state().backfills().at(TableId{3}).cursor, cursor);
  rig_.settle();
  EXPECT_TRUE(is_done());
  EXPECT_EQ(told(), rows());
}

TEST_F(Backfills, HoldUpNoOtherViewWhilePaused) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_at(0);
  catalog_.create(define({.id = 4, .kind = pb::VIEW, .sources = {1}}));
  catalog_.begin(4);
  rig_.catalog(catalog_);
  rig_.settle();
  EXPECT_TRUE(is_done(4));
  EXPECT_EQ(pages(), 0u);
}

TEST_F(Backfills, ARaisedRateCountsAtOnce) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_at(1);  // Forty seconds.
  rig_.tick();
  rig_.land();
  rig_.tick();
  rig_.land();
  EXPECT_EQ(pages(), 1u);
  EXPECT_EQ(told().size(), 1u) << "a page is what a second may bring";
  pace(1'000'000);
  rig_.settle();
  EXPECT_TRUE(is_done());
  EXPECT_EQ(told(), rows());
}

// What a successor knows is the log: it was told no catalog.
TEST_F(Backfills, StayPausedInTheChildrenOfASplit) {
  for (int64_t key = 0; key < 40; ++key) rig_.put(base_, {key, key});
  create_at(10);
  rig_.tick();
  rig_.land();
  pace(0);
  rig_.settle();
  rig_.end();
  rig_.open(2);
  rig_.split(11, 12);
  rig_.settle();
  std::set<int64_t> keys;
  for (const auto& [key, value] : told()) keys.insert(key);
  EXPECT_LT(keys.size(), 40u);
  catalog_.pace(3, 1'000);
  for (uint64_t id : {11u, 12u}) {
    RegionState state = RegionState::split_child(rig_.state(), RegionId{id});
    Result<RegionState> stored = RegionState::from_snapshot(state.to_snapshot());
    ASSERT_TRUE(stored.ok());
    Rig child(std::move(*stored), rig_.rows(), std::make_shared<TestLog>(), options());
    child.open();
    child.settle();
    EXPECT_TRUE(child.bodies().empty());
    child.catalog(catalog_);
    child.settle();
    for (const pb::RecordBody& body : child.bodies()) {
      ChangeReader reader(body.backfill_page().changes());
      for (Change change; reader.next(change);)
        EXPECT_TRUE(keys.insert(*base_.decode(change.key, *change.after)[0]).second);
    }
  }
  EXPECT_EQ(keys.size(), 40u);
}

TEST_F(Backfills, APausedOneIsDroppedWithItsView) {
  rig_.put(base_, {1, 1});
  create_at(0);
  rig_.settle();
  EXPECT_FALSE(rig_.state().all_backfilled());
  catalog_.drop(3);
  rig_.catalog(catalog_);
  rig_.settle();
  EXPECT_TRUE(rig_.state().all_backfilled());
  EXPECT_EQ(pages(), 0u);
}

// The record of a new pace has the one definition; nothing begins anew.
TEST_F(Backfills, AFilledViewIsNotTouchedByANewPace) {
  rig_.put(base_, {1, 1});
  create_and_begin();
  rig_.settle();
  rig_.report(kShards.all(), pos(1, rig_.log()->records.size()));
  rig_.settle();
  ASSERT_TRUE(rig_.state().backfilling().empty());
  pace(0);
  rig_.settle();
  ASSERT_EQ(rig_.last_body().catalog().tables_size(), 1);
  EXPECT_EQ(rig_.last_body().catalog().tables(0).id(), 3u);
  EXPECT_TRUE(rig_.state().backfilling().empty());
}

}  // namespace
}  // namespace tidemark
