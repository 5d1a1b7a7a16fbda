// The parts of a region: ranges of its shards with the same applied positions, and the compare-and-set of
// effect batches on them (PTO2, PTO3). Usually one; after a merge two, until their positions agree.
#pragma once

#include <cstdint>
#include <vector>

#include "base/lane_runs.h"
#include "base/types.h"

namespace tidemark {

// A run of source lanes of a batch.
struct LaneMove {
  ShardRange lanes;
  Position prev;
  Position to;
  Position floor;  // Committed, as recorded in the lane's stream.
};

struct RegionPart {
  ShardRange shards;
  // The last position applied per source lane. Never ahead of the rows: they move in the same record.
  LaneRuns applied;
  bool operator==(const RegionPart&) const = default;
};

enum class Admission : uint8_t {
  Accept,  // Every lane is at prev.
  Drop,    // Every lane is at or past `to`: it was applied before.
  Refuse,  // Anything else, or the range is not exactly one part.
};

class Parts {
 public:
  Parts() = default;
  explicit Parts(ShardRange shards) : parts_{{shards, {}}} {}

  const std::vector<RegionPart>& all() const { return parts_; }
  size_t size() const { return parts_.size(); }

  // The rule of docs/design.md, "Batches". Positions are raised to the floors first, in thought only.
  // REQUIRES: the lanes are in order and do not overlap.
  Admission admit(ShardRange range, const std::vector<LaneMove>& lanes) const;

  // All parts are raised; then the part's lanes are at `to`. Parts that have become equal are united.
  void apply(ShardRange part, const std::vector<LaneRun>& floors, const std::vector<LaneRun>& to);
  void raise(const std::vector<LaneRun>& floors);

  // Of the lanes, the lowest applied position of all parts.
  bool all_reached(ShardRange lanes, Position position) const;
  // How many there would be after raise().
  size_t size_after_raise(const std::vector<LaneRun>& floors) const;
  // Does it lie above the position of some part?
  bool raises(ShardRange lanes, Position floor) const;
  // Lanes at which the parts differ, each with the highest position of a part.
  std::vector<LaneRun> differences(ShardRange all_lanes) const;

  Parts restricted(ShardRange shards) const;
  void merge(const Parts& other);  // REQUIRES: the other begins where this ends.

  void add(RegionPart part) { parts_.push_back(std::move(part)); }
  bool operator==(const Parts&) const = default;

 private:
  void unite_equal();

  std::vector<RegionPart> parts_;
};

}  // namespace tidemark
