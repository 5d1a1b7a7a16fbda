// A position per lane, kept as runs of neighbouring lanes with equal positions: with few contiguous slices
// per view manager there are few runs, however many lanes. Lanes never mentioned are at the zero position.
#pragma once

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

  // Runs that are not at zero, in order; neighbours differ.
  const std::vector<LaneRun>& runs() const { return runs_; }
  bool operator==(const LaneRuns&) const = default;

 private:
  std::vector<LaneRun> runs_;
};

}  // namespace tidemark
