// A position per lane, kept as runs of neighbouring lanes with equal positions: with few contiguous slices
// per view manager there are few runs, however many lanes. Lanes never mentioned are at the zero position.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.h"

namespace tidemark {

struct LaneRun {
  ShardRange lanes;
  Position position;
  bool operator==(const LaneRun&) const = default;
};

class LaneRuns {
 public:
  Position at(ShardId lane) const;

  void set(ShardRange lanes, Position position);
  void raise(ShardRange lanes, Position position);  // To at least `position`.
  void raise(const LaneRuns& other);
  void erase(ShardRange lanes) { set(lanes, Position{}); }

  // True if every lane of the range is at, or at or past, the position.
  bool all_at(ShardRange lanes, Position position) const;
  bool all_reached(ShardRange lanes, Position position) const;
  Position lowest(ShardRange lanes) const;  // REQUIRES: the range is not empty.

  // The runs that cover the range exactly, lanes at zero included, in order.
  std::vector<LaneRun> cover(ShardRange lanes) const;
  // Calls fn(lanes, position) for each of them until it returns false; false if it did. Allocates nothing.
  template <typename Fn>
  bool visit(ShardRange lanes, Fn fn) const;

  // Runs that are not at zero, in order; neighbours differ.
  const std::vector<LaneRun>& runs() const { return runs_; }
  bool operator==(const LaneRuns&) const = default;

 private:
  // The first run that ends after the lane.
  std::vector<LaneRun>::const_iterator first_after(ShardId lane) const;

  std::vector<LaneRun> runs_;
};

template <typename Fn>
bool LaneRuns::visit(ShardRange lanes, Fn fn) const {
  ShardId at = lanes.begin;
  for (auto run = first_after(lanes.begin); run != runs_.end() && run->lanes.begin < lanes.end; ++run) {
    const ShardId from = std::max(run->lanes.begin, at);
    if (at < from && !fn(ShardRange{at, from}, Position{})) return false;
    at = std::min(run->lanes.end, lanes.end);
    if (!fn(ShardRange{from, at}, run->position)) return false;
  }
  return at >= lanes.end || fn(ShardRange{at, lanes.end}, Position{});
}

}  // namespace tidemark
