#include "proto/convert.h"

namespace tidemark {

pb::Position to_pb(const Position& position) {
  pb::Position out;
  out.set_generation(position.generation.value);
  out.set_offset(position.offset.value);
  out.set_step(position.step);
  return out;
}

pb::ShardRange to_pb(const ShardRange& range) {
  pb::ShardRange out;
  out.set_begin(range.begin.value);
  out.set_end(range.end.value);
  return out;
}

Result<std::vector<LaneRun>> from_pb(const PbLaneRuns& runs, ShardCount shards) {
  std::vector<LaneRun> out;
  out.reserve(static_cast<size_t>(runs.size()));
  for (const pb::LaneRun& run : runs) {
    ShardRange lanes = from_pb(run.lanes());
    if (lanes.empty() || lanes.end > shards.all().end) return Error{"a run of lanes out of range"};
    out.push_back({lanes, from_pb(run.position())});
  }
  return out;
}

void to_pb(const std::vector<LaneRun>& runs, PbLaneRuns& out) {
  for (const LaneRun& run : runs) {
    pb::LaneRun& to = *out.Add();
    *to.mutable_lanes() = to_pb(run.lanes);
    *to.mutable_position() = to_pb(run.position);
  }
}

}  // namespace tidemark
