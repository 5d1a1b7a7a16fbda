// The figures of one replica of a region: load, lag, backfills. Fed with what was applied; told the time,
// never asking for it; decides nothing. Lives on the region's loop.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "node/backfill_meter.h"
#include "node/lag_meter.h"
#include "node/load_meter.h"
#include "node/region/region_state.h"
#include "proto/messages.pb.h"

namespace tidemark {

class RegionMeter {
 public:
  // Goes on from a state whose changes it has not seen: they count as written at `now_micros`, the time of
  // day.
  RegionMeter(const RegionState& state, int64_t now_micros);

  // A record was applied; `state` has it. Gives the number of its changes.
  size_t on_applied(const RegionState& state, const DecodedRecord& record);
  // About once a second. `now` is the loop's.
  void sample(const RegionState& state, Micros now);
  // From now on, what is applied is live.
  void restart_load(Micros now) { load_.restart(now); }

  // Of all lanes and tables. `parents_records`: what lanes have still to commit in the streams that this one
  // came from.
  Lag lag(const RegionState& state, int64_t now_micros, uint64_t parents_records) const {
    return lag_of(state, TableSet::all(), now_micros, parents_records);
  }
  void report(const RegionState& state, int64_t now_micros, uint64_t parents_records,
              pb::RegionStatus& out) const;

 private:
  Lag lag_of(const RegionState& state, TableSet tables, int64_t now_micros, uint64_t parents_records) const;

  ShardCount shards_;
  int64_t began_micros_;
  LoadMeter load_;
  LagMeter lag_;
  BackfillMeter backfills_;
};

}  // namespace tidemark
