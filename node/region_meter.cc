#include "node/region_meter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "proto/change.h"

namespace tidemark {

namespace {

std::string_view changes_of(const pb::RecordBody& body) {
  switch (body.body_case()) {
    case pb::RecordBody::kCommit: return body.commit().changes();
    case pb::RecordBody::kBackfillPage: return body.backfill_page().changes();
    case pb::RecordBody::kJoinPage: return body.join_page().changes();
    default: return {};
  }
}

}  // namespace

LaneFloor recorded_floor(const RegionState& state) {
  ShardRange shards = state.identity().shards;
  Position lowest = state.committed().lowest(shards);
  for (const LaneRun& run : state.committed().cover(shards)) {
    if (run.position == lowest) return {state.committed_floor(), run.lanes.begin};
  }
  return {state.committed_floor(), shards.begin};
}

RegionMeter::RegionMeter(const RegionState& state, int64_t now_micros)
    : shards_(state.identity().shard_count), began_micros_(now_micros), load_(state.identity().shards) {
  lag_.note_unknown(state.committed_floor(), state.last_change().offset, now_micros);
}

size_t RegionMeter::on_applied(const RegionState& state, const DecodedRecord& record) {
  if (!record.body) return 0;
  std::string_view changes = changes_of(*record.body);
  if (changes.empty()) return 0;
  size_t count = 0;
  TableSet tables;
  ChangeReader reader(changes);
  for (Change change; reader.next(change); ++count) {
    load_.count(shards_.shard_of(change.hash));
    tables.add(change.table);
  }
  if (record.body->has_backfill_page()) {
    TableId view{record.body->backfill_page().view()};
    backfills_.count(view, count);
    tables = {};  // Its rows are old; only this view has to wait for them.
    tables.add(view);
  }
  if (lag_.runs() == LagMeter::kRunsMax) lag_.forget_before(std::max(passed_, state.committed_floor()));
  lag_.note(record.at, record.body->written_at_micros(), tables);
  return count;
}

void RegionMeter::sample(const RegionState& state, LaneFloor floor, Micros now) {
  load_.sample(now);
  backfills_.sample(state, now);
  passed_ = std::max(passed_, std::min(floor.floor, state.reader().next));
  lag_.forget_before(passed_);
}

// While lanes are in a parent's stream, nothing is known of its tables or times but that they were before
// this one.
Lag RegionMeter::lag_of(TableSet tables, LaneFloor floor, int64_t now_micros,
                        uint64_t parents_records) const {
  Lag out = lag_.lag(tables, std::max(floor.floor, passed_), now_micros);
  if (parents_records == 0) return out;
  out.records += parents_records;
  out.micros = std::max({out.micros, int64_t{0}, now_micros - began_micros_});
  return out;
}

void RegionMeter::report(const RegionState& state, LaneFloor floor, int64_t now_micros,
                         uint64_t parents_records, pb::RegionStatus& out) const {
  load_.report(out);
  backfills_.report(state, out);
  Lag all = lag(floor, now_micros, parents_records);
  out.set_lag_records(all.records);
  out.set_lag_micros(all.micros);
  if (all == Lag{}) return;
  out.set_lag_lane(floor.lane.value);
  std::array<std::optional<Lag>, TableSet::kClasses> lags;  // There may be thousands of tables.
  state.catalog().for_each([&](const Table& table) {
    if (!table.feeds_views) return;
    TableSet one;
    one.add(table.id);
    std::optional<Lag>& here = lags[TableSet::class_of(table.id)];
    if (!here) here = lag_of(one, floor, now_micros, parents_records);
    if (*here == Lag{}) return;
    pb::TableLag& told = *out.add_table_lags();
    told.set_table(table.id.value);
    told.set_records(here->records);
    told.set_micros(here->micros);
  });
}

}  // namespace tidemark
