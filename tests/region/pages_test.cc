// docs/design.md, "Joins".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// Rows of any bytes: a region reads no more of them than the join key.
class LargeJoins : public Joins {
 protected:
  static std::string large(const TestTable& table, int64_t join_key, int64_t key, size_t bytes, char fill) {
    sql::EncodedRow place = table.encode({join_key, key, 0});
    std::string out;
    append_effect(out, {EffectKind::Put, table.id(), place.hash, place.key, std::string(bytes, fill)});
    return out;
  }
  // Enough that a change of the other side is paged.
  void add_matches(int64_t join_key, size_t bytes) {
    for (int64_t i = 0; i < 5; ++i) rig_.apply(large(right_, join_key, i, bytes, 'm'));
  }
  void expect_records_fit() {
    for (const auto& record : rig_.log()->records) EXPECT_LE(record->payload.size(), 900'000u);
    EXPECT_TRUE(rig_.state().pending_joins().empty());
  }
};

TEST_F(LargeJoins, ChangesToBePagedCountTwiceInARecord) {
  std::string all;
  for (int64_t key = 0; key < 6; ++key) {
    add_matches(key, 10);
    all += large(left_, key, 1, 100'000, 'x');
  }
  uint64_t together = rig_.effects(batch(all));
  EXPECT_EQ(rig_.verdict(together), pb::EffectAnswer::BUSY);
  // One by one they are taken into one record as long as it has room.
  std::vector<uint64_t> requests;
  --sent_;
  for (int64_t key = 0; key < 6; ++key) {
    pb::EffectBatch one = batch(large(left_, key, 1, 100'000, 'x'));
    if (key > 0) *one.mutable_lanes(0)->mutable_prev() = to_pb(pos(95, sent_ - 1));
    requests.push_back(rig_.effects(one));
  }
  rig_.settle();
  for (uint64_t request : requests) EXPECT_EQ(rig_.verdict(request), pb::EffectAnswer::APPLIED);
  expect_records_fit();
}

// The row before and after, matches, and the change once more for where its pages go on.
TEST_F(LargeJoins, TheLargestRowsFitThePagesOfTheirJoin) {
  add_matches(1, 130'000);
  rig_.apply(large(left_, 1, 1, 139'000, 'x'));
  rig_.apply(large(left_, 1, 1, 139'000, 'y'));
  expect_records_fit();
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
  rig_.split(11, 12);
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

}  // namespace
}  // namespace tidemark
