// Between the domain's types and their messages.
#pragma once

#include <vector>

#include "base/lane_runs.h"
#include "base/result.h"
#include "base/types.h"
#include "proto/common.pb.h"

namespace tidemark {

inline Position from_pb(const pb::Position& p) {
  return {Generation{p.generation()}, Offset{p.offset()}, p.step()};
}
inline ShardRange from_pb(const pb::ShardRange& r) {
  return {ShardId{r.begin()}, ShardId{r.end()}};
}

using PbLaneRuns = google::protobuf::RepeatedPtrField<pb::LaneRun>;

// Malformed input (an empty or reversed range, past the last shard) gives an error.
Result<std::vector<LaneRun>> from_pb(const PbLaneRuns& runs, ShardCount shards);
void to_pb(const std::vector<LaneRun>& runs, PbLaneRuns& out);

pb::Position to_pb(const Position& position);
pb::ShardRange to_pb(const ShardRange& range);

}  // namespace tidemark
