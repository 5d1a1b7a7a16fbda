// The one entry point: members with weights, the present assignment and, for strategies that look at it, the
// load; out comes the next assignment.
//
//   Result<Plan> next = plan({StrategyKind::Coalescing}, members, present);
//   Result<std::vector<Move>> moves = diff(present, next->assignment);
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hashring/assignment.h"
#include "hashring/weighted_move.h"

namespace tidemark::hashring {

enum class StrategyKind : uint8_t {
  Greedy,          // Random slicing, greedy gap collection.
  CutShiftSorted,  // Random slicing, cut-shift gap collection with sorting.
  Coalescing,      // Random slicing, slivers absorbed: the default.
  TokenRing,       // Q shards claimed by ranked tokens.
  RiakClaim,       // Equal partitions, claimed one by one at a distance.
  Karger,          // Random tokens, nearest wins.
  Rendezvous,      // Highest weighted random number wins.
  Jump,            // Jump consistent hash.
  WeightedMove,    // Load-aware: merge cold, move within a budget, split hot.
};
inline constexpr StrategyKind kDefaultStrategy = StrategyKind::Coalescing;

std::string_view name_of(StrategyKind kind);
std::optional<StrategyKind> strategy_named(std::string_view name);
std::span<const StrategyKind> all_strategies();

struct Strategy {
  StrategyKind kind = kDefaultStrategy;
  uint32_t tokens = 64;           // Per unit of weight: TokenRing, Karger.
  uint32_t replica_distance = 4;  // RiakClaim: a member's shards are at least so far apart, if that can be.
  MovePolicy moves = {};          // WeightedMove.
};

struct Plan {
  Assignment assignment;
  std::vector<ShardRange> slices;  // WeightedMove: what to measure next. Otherwise empty.
};

// Refuses bad members (see check_members) and what the strategy can not do; see Refusal. Pure: the same
// arguments give the same plan on every machine.
Result<Plan> plan(const Strategy& strategy, const Members& members, const Assignment& present,
                  std::span<const SliceLoad> load = {});

}  // namespace tidemark::hashring
