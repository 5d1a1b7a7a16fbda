#include "node/region/parts.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutation.h"
#include "base/probe.h"

namespace tidemark {

Admission Parts::admit(ShardRange range, const std::vector<LaneMove>& lanes) const {
  auto part = std::find_if(parts_.begin(), parts_.end(), [&](const RegionPart& p) {
    return p.shards == range || (TM_MUTATION("batch without a range") && p.shards.contains(range.begin)) ||
           (TM_MUTATION("batch for a piece of a part accepted") && p.shards.contains(range));
  });
  if (TM_MUTATION("batch dropped without its range") &&
      std::all_of(lanes.begin(), lanes.end(),
                  [&](const LaneMove& move) { return all_reached(move.lanes, move.to); }))
    return Admission::Drop;
  if (part == parts_.end()) {
    TM_PROBE("region: a batch for another range");
    return Admission::Refuse;
  }
  bool at_prev = true;
  bool past_to = true;
  bool any_at_prev = false;
  bool overlaps = true;
  bool before_prev = true;
  bool any_past_to = false;
  const bool looks_at_all =
      TM_MUTATION("mixed-lane batch accepted") || TM_MUTATION("overlapping batch accepted") ||
      TM_MUTATION("batch accepted over a gap") || TM_MUTATION("batch dropped if any lane is past it");
  for (const LaneMove& move : lanes) {
    part->applied.visit(move.lanes, [&](ShardRange, Position applied) {
      Position here = TM_MUTATION("no floor") ? applied : std::max(applied, move.floor);
      any_at_prev = any_at_prev || here == move.prev;
      overlaps = overlaps && here >= move.prev && here < move.to;
      at_prev = at_prev && here == move.prev;
      past_to = past_to && here >= move.to;
      before_prev = before_prev && here <= move.prev;
      any_past_to = any_past_to || here >= move.to;
      return at_prev || past_to || looks_at_all;
    });
  }
  if (at_prev) return Admission::Accept;
  if (TM_MUTATION("mixed-lane batch accepted") && any_at_prev) return Admission::Accept;
  if (TM_MUTATION("overlapping batch accepted") && overlaps) return Admission::Accept;
  if (TM_MUTATION("batch accepted over a gap") && before_prev) return Admission::Accept;
  if (TM_MUTATION("batch dropped if any lane is past it") && any_past_to) return Admission::Drop;
  if (past_to) TM_PROBE("region: a batch that was applied before");
  return past_to ? Admission::Drop : Admission::Refuse;
}

void Parts::apply(ShardRange part, const std::vector<LaneRun>& floors, const std::vector<LaneRun>& to) {
  for (RegionPart& one : parts_) {
    for (const LaneRun& floor : floors) {
      if (!TM_MUTATION("no floor")) one.applied.raise(floor.lanes, floor.position);
    }
    if (one.shards != part && !(TM_MUTATION("batch without a range") && one.shards.contains(part.begin)) &&
        !(TM_MUTATION("batch for a piece of a part accepted") && one.shards.contains(part)))
      continue;
    for (const LaneRun& run : to) one.applied.set(run.lanes, run.position);
  }
  unite_equal();
}

void Parts::raise(const std::vector<LaneRun>& floors) {
  for (RegionPart& one : parts_) {
    for (const LaneRun& floor : floors) one.applied.raise(floor.lanes, floor.position);
  }
  unite_equal();
}

bool Parts::all_reached(ShardRange lanes, Position position) const {
  return !raises(lanes, position);
}

bool Parts::raises(ShardRange lanes, Position floor) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const RegionPart& part) {
    return !part.applied.visit(lanes, [&](ShardRange, Position applied) { return applied >= floor; });
  });
}

size_t Parts::size_after_raise(const std::vector<LaneRun>& floors) const {
  Parts raised = *this;
  raised.raise(floors);
  return raised.size();
}

std::vector<LaneRun> Parts::differences(ShardRange all_lanes) const {
  LaneRuns highest;
  for (const RegionPart& part : parts_) highest.raise(part.applied);
  std::vector<LaneRun> out;
  for (const LaneRun& run : highest.cover(all_lanes)) {
    if (raises(run.lanes, run.position)) out.push_back(run);
  }
  return out;
}

Parts Parts::restricted(ShardRange shards) const {
  Parts out;
  for (const RegionPart& part : parts_) {
    ShardRange both{std::max(part.shards.begin, shards.begin), std::min(part.shards.end, shards.end)};
    if (!both.empty()) out.parts_.push_back({both, part.applied});
  }
  return out;
}

void Parts::merge(const Parts& other) {
  TM_ASSERT(!parts_.empty());
  TM_ASSERT(!other.parts_.empty());
  TM_ASSERT(parts_.back().shards.end == other.parts_.front().shards.begin);
  parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
  unite_equal();
}

void Parts::unite_equal() {
  for (size_t i = 1; i < parts_.size();) {
    if (parts_[i - 1].applied == parts_[i].applied) {
      parts_[i - 1].shards.end = parts_[i].shards.end;
      parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace tidemark
