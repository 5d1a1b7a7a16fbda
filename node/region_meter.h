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

// As the recorded committed positions tell. Lanes that nothing concerns for a while seem behind: an owner
// knows better by its queues.
LaneFloor recorded_floor(const RegionState& state);

class RegionMeter {
 public:
  // Goes on from a state whose changes it has not seen: they count as written at `now_micros`, the time of
  // day.
  RegionMeter(const RegionState& state, int64_t now_micros);

  // A record was applied; `state` has it. Gives the number of its changes.
  size_t on_applied(const RegionState& state, const DecodedRecord& record);
  // About once a second. `now` is the loop's. What lies before `floor` is committed for good.
  void sample(const RegionState& state, LaneFloor floor, Micros now);
  // From now on, what is applied is live.
  void restart_load(Micros now) { load_.restart(now); }

  // Of all lanes and tables. `parents_records`: what lanes have still to commit in the streams that this one
  // came from.
  Lag lag(LaneFloor floor, int64_t now_micros, uint64_t parents_records) const {
    return lag_of(TableSet::all(), floor, now_micros, parents_records);
  }
  void report(const RegionState& state, LaneFloor floor, int64_t now_micros, uint64_t parents_records,
              pb::RegionStatus& out) const;

 private:
  Lag lag_of(TableSet tables, LaneFloor floor, int64_t now_micros, uint64_t parents_records) const;

  ShardCount shards_;
  int64_t began_micros_;
  Offset passed_;  // What lies before it is committed for good, whatever a queue opened anew may think.
  LoadMeter load_;
  LagMeter lag_;
  BackfillMeter backfills_;
};

}  // namespace tidemark
