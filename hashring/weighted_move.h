// Load-aware balancing after Google Slicer's weighted-move: merge cold slices, move slices off the hottest
// member within a budget of churn, split hot slices so that the next measurement is finer.
#pragma once

#include <span>

#include "hashring/assignment.h"

namespace tidemark::hashring {

struct SliceLoad {
  ShardRange shards;
  uint64_t load;  // In any unit, as long as it is the same for all.
};

// What a member has still to take over from earlier changes.
struct InTransit {
  MemberId member;
  uint64_t shards;
};

struct MovePolicy {
  uint32_t merge_percent_max = 1;  // Of all shards moved by merging, per call.
  uint32_t merge_above = 50;       // A member loses slices by merging only if it has more than this.
  uint32_t move_percent_max = 9;   // Of all shards moved, per call.
  uint32_t split_factor = 2;       // A slice is hot from this multiple of the mean slice's load on.
  uint32_t split_below = 150;      // A member's slices are split only if it has fewer.
  // Congestion: a member that has this many shards in transit receives no further ones, unless they have no
  // owner otherwise. Zero: no limit.
  uint64_t in_transit_max = 0;
  std::vector<InTransit> in_transit = {};
};

struct WeightedMovePlan {
  Assignment assignment;
  std::vector<ShardRange> slices;  // To be measured next: never across a change of owner.
  uint64_t merged_shards = 0;      // Shards that changed hands because of merging,
  uint64_t moved_shards = 0;       // because of moving,
  uint64_t orphaned_shards = 0;    // and because their owner has left: these are outside the budgets.
};

// `load` covers the ring once, in order; a range that spans several owners (it was measured before a change)
// is spread over them in proportion. LoadUnusable otherwise.
Result<WeightedMovePlan> weighted_move(const MovePolicy& policy, const Members& members,
                                       const Assignment& present, std::span<const SliceLoad> load);

// Highest load per weight over the mean load per weight; 1 is perfect. Members without a shard count.
double imbalance(const Members& members, const Assignment& assignment, std::span<const SliceLoad> load);

}  // namespace tidemark::hashring
