// All strategies put to the same changes.
#pragma once

#include <optional>

#include "hashring/placement.h"

namespace tidemark::hashring {

struct Contest {
  uint32_t shards = 16384;
  uint32_t members = 16;
  uint32_t changes = 200;  // Of the long history: one joins, one of the others leaves, and so on.
};

// What one change did. `minimum` is what the shares of equal members demand: a 17th for a 17th member.
struct Moved {
  double share;
  double minimum;
};

struct Standing {
  StrategyKind kind;
  bool takes_weights;
  std::optional<Moved> join;     // One more member.
  std::optional<Moved> leave;    // One from the middle leaves; nothing if that is refused.
  std::optional<Moved> history;  // All changes together.
  // On the ring that the history left (or, if it was refused, the one after the join):
  double peak_over_mean;  // Shards of the largest member.
  double sigma_percent;   // Of the mean.
  Assignment ring;
  Members members;
};

Standing compare(StrategyKind kind, const Contest& contest);

// A flat load in as many slices as weighted-move starts with; what compare() and plans without measurements
// use.
std::vector<SliceLoad> flat_load(uint32_t shards, size_t members);

}  // namespace tidemark::hashring
