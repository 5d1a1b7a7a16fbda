// The figures of regions, each against a sequence of events and times that the test decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process/prometheus_metrics.h"
#include "node/backfill_meter.h"
#include "node/decayed_rate.h"
#include "node/lag_meter.h"
#include "node/load_meter.h"
#include "node/node_metrics.h"
#include "node/region_meter.h"
#include "node/store/memory_row_store.h"
#include "proto/change.h"

namespace tidemark {
namespace {

constexpr Micros kSecond{1'000'000};

TableSet only(uint32_t table) {
  TableSet out;
  out.add(TableId{table});
  return out;
}

// ---- rates

TEST(DecayedRate, ComesToASteadyRateAndFallsToNothing) {
  DecayedRate rate;
  for (int i = 0; i < 100; ++i) rate.sample(250, kSecond);
  EXPECT_EQ(rate.per_second(), 250u);
  rate.sample(0, DecayedRate::kMemory);
  EXPECT_EQ(rate.per_second(), 125u);
  for (int i = 0; i < 100; ++i) rate.sample(0, kSecond);
  EXPECT_EQ(rate.per_second(), 0u);
}

// ---- load

pb::RegionStatus report(const LoadMeter& meter) {
  pb::RegionStatus out;
  meter.report(out);
  return out;
}

TEST(LoadMeter, TellsWhichShardsAreBusy) {
  LoadMeter meter({ShardId{1000}, ShardId{1000 + 2 * LoadMeter::kPiecesMax}});
  meter.sample(Micros{0});
  for (int second = 1; second <= 60; ++second) {
    for (int i = 0; i < 300; ++i) meter.count(ShardId{1004});
    for (int i = 0; i < 100; ++i) meter.count(ShardId{1005});
    meter.sample(Micros{second * kSecond.value});
  }
  pb::RegionStatus status = report(meter);
  EXPECT_EQ(status.changes_per_second(), 400u);
  ASSERT_EQ(status.load_size(), static_cast<int>(LoadMeter::kPiecesMax));
  for (int i = 0; i < status.load_size(); ++i) {
    const pb::ShardLoad& load = status.load(i);
    EXPECT_EQ(load.shards().begin(), 1000u + 2 * static_cast<uint32_t>(i));
    EXPECT_EQ(load.shards().end(), load.shards().begin() + 2);
    EXPECT_EQ(load.changes_per_second(), i == 2 ? 400u : 0u) << i;
  }
}

// Whatever the number of shards, pieces cover them all and each is counted in its own.
TEST(LoadMeter, PiecesCoverTheRegion) {
  for (uint32_t size : {1u, 3u, 63u, 64u, 65u, 100u, 129u, 2048u}) {
    for (uint32_t busy : {0u, size / 2, size - 1}) {
      LoadMeter meter({ShardId{7}, ShardId{7 + size}});
      meter.sample(Micros{0});
      for (int i = 0; i < 1000; ++i) meter.count(ShardId{7 + busy});
      meter.sample(kSecond);
      pb::RegionStatus status = report(meter);
      uint32_t at = 7;
      for (const pb::ShardLoad& load : status.load()) {
        EXPECT_EQ(load.shards().begin(), at) << size;
        EXPECT_LT(load.shards().begin(), load.shards().end()) << size;
        at = load.shards().end();
        bool here = load.shards().begin() <= 7 + busy && 7 + busy < load.shards().end();
        EXPECT_EQ(load.changes_per_second() > 0, here) << size << " " << busy;
      }
      EXPECT_EQ(at, 7 + size);
    }
  }
}

TEST(LoadMeter, WhatWasReadToCatchUpIsNoLoad) {
  LoadMeter meter({ShardId{0}, ShardId{4}});
  meter.sample(Micros{0});
  for (int i = 0; i < 1'000'000; ++i) meter.count(ShardId{1});
  meter.restart(kSecond);
  meter.sample(Micros{2 * kSecond.value});
  EXPECT_EQ(report(meter).changes_per_second(), 0u);
  EXPECT_EQ(report(meter).load_size(), 0);
}

// ---- lag

TEST(LagMeter, IsTheAgeOfTheOldestChangeNotCommitted) {
  LagMeter meter;
  meter.note(Offset{10}, 1'000, only(1));
  meter.note(Offset{12}, 2'000, only(2));
  meter.note(Offset{15}, 3'000, only(1));
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{0}, 10'000), (Lag{6, 9'000}));
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{11}, 10'000), (Lag{4, 8'000}));
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{15}, 10'000), (Lag{1, 7'000}));
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{16}, 10'000), Lag{});
}

TEST(LagMeter, TellsTablesApart) {
  LagMeter meter;
  meter.note(Offset{10}, 1'000, only(1));
  meter.note(Offset{12}, 2'000, only(2));
  EXPECT_EQ(meter.lag(only(2), Offset{0}, 10'000), (Lag{1, 8'000}));
  EXPECT_EQ(meter.lag(only(1), Offset{11}, 10'000), Lag{});
  EXPECT_EQ(meter.lag(only(3), Offset{0}, 10'000), Lag{});
}

TEST(LagMeter, AClockThatWasAheadMakesNoNegativeAge) {
  LagMeter meter;
  meter.note(Offset{10}, 5'000, only(1));
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{0}, 4'000), (Lag{1, 0}));
}

// However many records wait: memory is bounded, and no figure is below the true one.
TEST(LagMeter, IsBoundedAndNeverTooLow) {
  LagMeter meter;
  constexpr uint64_t kRecords = 10'000;
  for (uint64_t i = 0; i < kRecords; ++i) {
    meter.note(Offset{2 * i}, static_cast<int64_t>(i), only(i % 2));
    ASSERT_LE(meter.runs(), LagMeter::kRunsMax);
  }
  for (uint64_t floor = 0; floor < 2 * kRecords; floor += 97) {
    uint64_t oldest = (floor + 1) / 2;
    Lag lag = meter.lag(TableSet::all(), Offset{floor}, kRecords);
    EXPECT_GE(lag.micros, static_cast<int64_t>(kRecords - oldest)) << floor;
    EXPECT_GE(lag.records, 2 * kRecords - 1 - 2 * oldest) << floor;
    EXPECT_LE(lag.records, 2 * kRecords - floor) << floor;
  }
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{2 * kRecords - 1}, kRecords), Lag{});
  meter.forget_before(Offset{kRecords});
  EXPECT_EQ(meter.lag(TableSet::all(), Offset{2 * kRecords - 2}, kRecords).records, 1u);
  meter.forget_before(Offset{2 * kRecords});
  EXPECT_EQ(meter.runs(), 0u);
}

// ---- a region

constexpr ShardCount kShards{16};
constexpr uint32_t kBase = 1;
constexpr uint32_t kOther = 2;
constexpr uint32_t kView = 3;

std::string change(uint32_t table, uint32_t shard, const std::string& key = "k") {
  std::string out;
  Change one;
  one.table = TableId{table};
  one.hash = kShards.first_hash(ShardId{shard});
  one.key = key;
  one.after = "row";
  append_change(out, one);
  return out;
}

class RegionFigures : public testing::Test {
 protected:
  RegionFigures() {
    pb::RecordBody body;
    pb::CatalogChange& first = *body.mutable_catalog();
    first.set_version(1);
    for (uint32_t id : {kBase, kOther}) add_table(first, id, pb::MANAGED);
    add_table(first, kView, pb::VIEW).add_sources(kBase);
    apply(body);
    pb::TableDefinition begun = first.tables(2);
    begun.set_begun(2);
    first.set_version(2);
    first.clear_tables();
    *first.add_tables() = begun;
    apply(body);
  }

  static pb::TableDefinition& add_table(pb::CatalogChange& to, uint32_t id, pb::TableKind kind) {
    pb::TableDefinition& table = *to.add_tables();
    table.set_id(id);
    table.set_kind(kind);
    table.set_row_rule(pb::PUT);
    return table;
  }

  void apply(pb::RecordBody body) {
    body.set_written_at_micros(now);
    DecodedRecord record{next, RecordKind::Body, std::make_shared<pb::RecordBody>(std::move(body)), nullptr};
    next = Offset{next.value + 1};
    ReaderState after;
    after.next = next;
    ASSERT_TRUE(state.apply(record, after, rows).ok());
    meter.on_applied(state, record);
  }
  void commit(const std::string& changes) {
    pb::RecordBody body;
    body.mutable_commit()->set_changes(changes);
    apply(body);
  }
  void page(const std::string& changes, const std::string& cursor, bool last = false) {
    pb::RecordBody body;
    body.mutable_backfill_page()->set_view(kView);
    body.mutable_backfill_page()->set_changes(changes);
    body.mutable_backfill_page()->set_cursor(cursor);
    body.mutable_backfill_page()->set_last(last);
    apply(body);
  }
  void pace(uint64_t rows_per_second) {
    pb::RecordBody body;
    pb::CatalogChange& change = *body.mutable_catalog();
    change.set_version(state.catalog().version().value + 1);
    *change.add_tables() = *state.catalog().find(TableId{kView})->definition;
    change.mutable_tables(0)->set_backfill_rows_per_second(rows_per_second);
    apply(body);
  }
  void progress(uint32_t begin, uint32_t end, Offset to) {
    pb::RecordBody body;
    pb::LaneRun& run = *body.mutable_progress()->add_committed();
    run.mutable_lanes()->set_begin(begin);
    run.mutable_lanes()->set_end(end);
    run.mutable_position()->set_generation(1);
    run.mutable_position()->set_offset(to.value);
    apply(body);
  }
  pb::RegionStatus status(uint64_t parents_records = 0) const {
    pb::RegionStatus out;
    meter.report(state, recorded_floor(state), now, parents_records, out);
    return out;
  }

  int64_t now = 1'000'000'000;
  Offset next;
  MemoryRowStore rows{kShards};
  RegionState state{{RegionId{1}, kShards.all(), Generation{1}, kShards}};
  RegionMeter meter{state, now};
};

TEST_F(RegionFigures, LagIsThatOfTheLaneFurthestBehindAndEndsWithIt) {
  EXPECT_EQ(status().lag_records(), 0u) << "a catalog is no change";
  commit(change(kBase, 3));
  Offset changed{next.value - 1};
  now += 5'000;
  commit(change(kOther, 9));
  now += 1'000;
  EXPECT_EQ(status().lag_records(), 2u);
  EXPECT_EQ(status().lag_micros(), 6'000);

  progress(0, 4, next);
  EXPECT_EQ(status().lag_lane(), 4u);
  EXPECT_EQ(status().lag_records(), 2u) << "one lane has not passed it";
  ASSERT_EQ(status().table_lags_size(), 1) << "the other table feeds no view";
  EXPECT_EQ(status().table_lags(0).table(), kBase);
  EXPECT_EQ(status().table_lags(0).records(), 1u);
  EXPECT_EQ(status().table_lags(0).micros(), 6'000);

  progress(4, 16, Offset{changed.value + 1});
  EXPECT_EQ(status().lag_micros(), 1'000);
  EXPECT_EQ(status().table_lags_size(), 0) << "its last change is committed";
  progress(4, 16, next);
  EXPECT_EQ(status().lag_records(), 0u) << "progress itself is no lag";
  EXPECT_EQ(status().lag_micros(), 0);
}

TEST_F(RegionFigures, AReplicaThatDidNotSeeTheChangesCountsFromItsStart) {
  commit(change(kBase, 3));
  now += 60'000;
  RegionMeter later(state, now);
  now += 500;
  pb::RegionStatus out;
  later.report(state, recorded_floor(state), now, 0, out);
  EXPECT_GE(out.lag_records(), 1u);
  EXPECT_EQ(out.lag_micros(), 500);
  EXPECT_EQ(out.table_lags_size(), 1);
}

TEST_F(RegionFigures, LanesInAParentsStreamLag) {
  now += 700;
  pb::RegionStatus out = status(5);
  EXPECT_EQ(out.lag_records(), 5u);
  EXPECT_EQ(out.lag_micros(), 700);
  EXPECT_EQ(out.table_lags_size(), 1) << "of every table that feeds a view";
}

TEST_F(RegionFigures, LoadIsCountedByLane) {
  meter.sample(state, recorded_floor(state), Micros{0});
  for (int second = 1; second <= 60; ++second) {
    commit(change(kBase, 3) + change(kBase, 3) + change(kOther, 9));
    meter.sample(state, recorded_floor(state), Micros{second * kSecond.value});
  }
  pb::RegionStatus out = status();
  EXPECT_EQ(out.changes_per_second(), 3u);
  ASSERT_EQ(out.load_size(), 16);
  EXPECT_EQ(out.load(3).changes_per_second(), 2u);
  EXPECT_EQ(out.load(9).changes_per_second(), 1u);
}

TEST_F(RegionFigures, ABackfillTellsHowFarItIs) {
  meter.sample(state, recorded_floor(state), Micros{0});
  ASSERT_EQ(status().backfills_size(), 1);
  EXPECT_EQ(status().backfills(0).view(), kView);
  EXPECT_EQ(status().backfills(0).done_per_million(), 0u);
  EXPECT_LT(status().backfills(0).micros_left(), 0) << "not known yet";

  std::string rows_of_page;
  for (int i = 0; i < 600; ++i) rows_of_page += change(kBase, 4, std::to_string(i));
  page(rows_of_page, encode_store_key(TableId{kBase}, kShards.first_hash(ShardId{4}), "k"));
  meter.sample(state, recorded_floor(state), Micros{10 * kSecond.value});
  pb::BackfillProgress quarter = status().backfills(0);
  EXPECT_EQ(quarter.done_per_million(), 250'000u);
  EXPECT_EQ(quarter.micros_left(), 30 * kSecond.value);
  EXPECT_EQ(quarter.rows_per_second(), 40u);
  EXPECT_EQ(status().table_lags_size(), 0) << "pages are old rows: other views are no staler for them";

  page(change(kBase, 12), "", true);
  meter.sample(state, recorded_floor(state), Micros{20 * kSecond.value});
  EXPECT_EQ(status().backfills(0).done_per_million(), 1'000'000u);
  EXPECT_EQ(status().backfills(0).micros_left(), 0);
  progress(0, 16, next);
  meter.sample(state, recorded_floor(state), Micros{21 * kSecond.value});
  EXPECT_EQ(status().backfills_size(), 0);
}

TEST_F(RegionFigures, TheTimeLeftIsThatOfThePresentLimit) {
  auto to = [](uint32_t shard) {
    return encode_store_key(TableId{kBase}, kShards.first_hash(ShardId{shard}), "k");
  };
  auto sample = [this](int64_t second) {
    meter.sample(state, recorded_floor(state), Micros{second * kSecond.value});
    return status().backfills(0).micros_left();
  };
  sample(0);
  page(change(kBase, 4), to(4));
  EXPECT_EQ(sample(10), 30 * kSecond.value);
  pace(0);
  EXPECT_LT(sample(11), 0) << "nobody knows how long a pause is";
  EXPECT_LT(sample(1'000), 0);
  pace(100);
  EXPECT_LT(sample(1'001), 0) << "how it went before tells nothing";
  page(change(kBase, 8), to(8));
  EXPECT_EQ(sample(1'101), 200 * kSecond.value) << "a quarter took 100 seconds, a half is left";
}

// ---- for Prometheus

TEST(NodeMetrics, CountRecordsAndAnswers) {
  using testing::HasSubstr;
  PrometheusMetrics served;
  NodeMetrics metrics(served);
  pb::RecordBody body;
  body.mutable_commit()->add_batches();
  metrics.on_own_record(body, 30, Micros{2'000});
  pb::Message answer;
  answer.mutable_written();
  metrics.on_answer(answer);
  answer.mutable_written()->set_failed("23505 duplicate key");
  metrics.on_answer(answer);
  answer.mutable_refusal()->set_code(pb::OVERLOADED);
  metrics.on_answer(answer);
  answer.mutable_effects_answer()->set_verdict(pb::EffectAnswer::BUSY);
  metrics.on_answer(answer);
  answer.mutable_look_again();
  metrics.on_answer(answer);
  for (const char* line :
       {"tidemark_node_records_total 1", "tidemark_node_changes_total 30",
        "tidemark_node_record_changes_sum 30", "tidemark_node_append_seconds_bucket{le=\"0.001\"} 0",
        "tidemark_node_append_seconds_bucket{le=\"0.0025\"} 1", "tidemark_node_effect_batches_logged_total 1",
        "tidemark_node_writes_total{outcome=\"done\"} 1", "tidemark_node_writes_total{outcome=\"failed\"} 1",
        "tidemark_node_refusals_total{reason=\"overloaded\"} 1",
        "tidemark_node_refusals_total{reason=\"not_owner\"} 0",
        "tidemark_node_effect_batches_total{answer=\"busy\"} 1",
        "tidemark_node_effect_batches_total{answer=\"applied\"} 0"})
    EXPECT_THAT(served.text(), HasSubstr(line));
  EXPECT_THAT(served.text(), testing::Not(HasSubstr("unspecified")));

  NodeMetrics::Sample sample;
  sample.regions_owned = 3;
  sample.lag_micros = 1'500'000;
  metrics.sample(sample);
  EXPECT_THAT(served.text(), HasSubstr("tidemark_node_regions{state=\"owned\"} 3"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_node_lag_seconds 1.5"));
}

}  // namespace
}  // namespace tidemark
