#include "hashring/placement.h"

#include <array>

#include "hashring/baselines/baselines.h"
#include "hashring/members.h"
#include "hashring/random_slicing.h"
#include "hashring/token_ring.h"

namespace tidemark::hashring {

namespace {

struct Named {
  StrategyKind kind;
  std::string_view name;
};
constexpr std::array<Named, 9> kNames = {{
    {StrategyKind::Greedy, "slicing-greedy"},
    {StrategyKind::CutShiftSorted, "slicing-cut-shift"},
    {StrategyKind::Coalescing, "slicing-coalescing"},
    {StrategyKind::TokenRing, "token-ring"},
    {StrategyKind::RiakClaim, "riak-claim"},
    {StrategyKind::Karger, "karger"},
    {StrategyKind::Rendezvous, "rendezvous"},
    {StrategyKind::Jump, "jump"},
    {StrategyKind::WeightedMove, "weighted-move"},
}};

Result<Plan> as_plan(Result<Assignment> assignment) {
  if (!assignment) return assignment.error();
  return Plan{*std::move(assignment), {}};
}

Result<Plan> plan_slicing(GapCollection collection, const Members& members, const Assignment& present) {
  const Result<SliceRing> ring = reslice(to_slices(present), members, collection);
  if (!ring) return ring.error();
  return Plan{to_assignment(*ring), {}};
}

Result<Plan> plan_token_ring(uint32_t tokens, const Members& members, const Assignment& present) {
  const Result<TokenRing> ring =
      TokenRing::of({.bits = 64, .shards = present.shards(), .tokens = tokens}, members);
  if (!ring) return ring.error();
  return Plan{ring->assignment(), {}};
}

Result<Plan> plan_weighted_move(const MovePolicy& policy, const Members& members, const Assignment& present,
                                std::span<const SliceLoad> load) {
  Result<WeightedMovePlan> next = weighted_move(policy, members, present, load);
  if (!next) return next.error();
  WeightedMovePlan moved = *std::move(next);
  return Plan{std::move(moved.assignment), std::move(moved.slices)};
}

}  // namespace

std::string_view name_of(StrategyKind kind) {
  for (const Named& named : kNames) {
    if (named.kind == kind) return named.name;
  }
  return "";
}

std::optional<StrategyKind> strategy_named(std::string_view name) {
  for (const Named& named : kNames) {
    if (named.name == name) return named.kind;
  }
  return std::nullopt;
}

std::span<const StrategyKind> all_strategies() {
  static constexpr auto kKinds = [] {
    std::array<StrategyKind, kNames.size()> kinds{};
    for (size_t i = 0; i < kNames.size(); ++i) kinds[i] = kNames[i].kind;
    return kinds;
  }();
  return kKinds;
}

Result<Plan> plan(const Strategy& strategy, const Members& members, const Assignment& present,
                  std::span<const SliceLoad> load) {
  if (Status status = check_members(members, present.size()); !status) return status.error();
  switch (strategy.kind) {
    case StrategyKind::Greedy: return plan_slicing(GapCollection::Greedy, members, present);
    case StrategyKind::CutShiftSorted: return plan_slicing(GapCollection::CutShiftSorted, members, present);
    case StrategyKind::Coalescing: return plan_slicing(GapCollection::Coalescing, members, present);
    case StrategyKind::TokenRing: return plan_token_ring(strategy.tokens, members, present);
    case StrategyKind::RiakClaim: return as_plan(riak_claim(members, present, strategy.replica_distance));
    case StrategyKind::Karger: return as_plan(karger(members, present.shards(), strategy.tokens));
    case StrategyKind::Rendezvous: return as_plan(rendezvous(members, present.shards()));
    case StrategyKind::Jump: return as_plan(jump(members, present));
    case StrategyKind::WeightedMove: return plan_weighted_move(strategy.moves, members, present, load);
  }
  return Error{Refusal::OutOfRange, "no such strategy"};
}

}  // namespace tidemark::hashring
