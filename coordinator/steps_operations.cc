// The end of operations: when the facts say that what was wanted is so.
#include <algorithm>

#include "base/probe.h"
#include "coordinator/step_list.h"

namespace tidemark::steps {

namespace {

constexpr int kHistoryMax = 200;

struct Ended {
  pb::Operation::Outcome outcome = pb::Operation::DONE;
  std::string message;
};
using MaybeEnded = std::optional<Ended>;

bool ring_is_done(const Situation& now, uint64_t version) {
  if (version == 0 || !now.all_acknowledged(version)) return false;
  return now.facts.ring.policy() != pb::ACTIVATE_BY_COORDINATOR || now.facts.ring.activated() >= version;
}

MaybeEnded end_of_add_view_manager(const Situation& now, const pb::Operation& operation) {
  const auto* wish = now.wished_view_manager(operation.member());
  if (operation.cancelling() || !wish || wish->leaving())
    return Ended{pb::Operation::CANCELLED, "not wanted any more"};
  if (!ring_is_done(now, operation.ring_version())) return std::nullopt;
  return Ended{};
}

// The ring without a member that is not in the newest one. None of the operation's own: it was never there,
// or had gone before the operation began.
uint64_t ring_without_member(const Situation& now, const pb::Operation& operation) {
  return operation.ring_version() != 0 ? operation.ring_version() : now.facts.ring.ring().version();
}

MaybeEnded end_of_remove_view_manager(const Situation& now, const pb::Operation& operation) {
  const auto* wish = now.wished_view_manager(operation.member());
  if (wish && !wish->leaving()) return Ended{pb::Operation::CANCELLED, "wanted again"};
  if (now.in_ring(operation.member())) return std::nullopt;
  if (!ring_is_done(now, ring_without_member(now, operation))) return std::nullopt;
  return Ended{pb::Operation::DONE, "its process may be stopped"};
}

MaybeEnded end_of_recover_view_manager(const Situation& now, const pb::Operation& operation) {
  if (now.in_ring(operation.member())) {
    if (!now.is_identity_alive(operation.member())) return std::nullopt;
    return Ended{pb::Operation::DONE, operation.message().empty() ? "it returned" : operation.message()};
  }
  if (!ring_is_done(now, ring_without_member(now, operation))) return std::nullopt;
  return Ended{pb::Operation::DONE, "its shards were spread"};
}

MaybeEnded end_of_add_node(const Situation& now, const pb::Operation& operation) {
  const auto* wish = now.wished_node(operation.member());
  if (operation.cancelling() || !wish || wish->leaving())
    return Ended{pb::Operation::CANCELLED, "not wanted any more"};
  if (now.is_node_given_up(operation.member())) {
    TM_PROBE("coordinator: an operation fails, its node is gone");
    return Ended{pb::Operation::FAILED, operation.member() + " is gone"};
  }
  if (!now.is_node_alive(operation.member()) || next_owner_move(now, operation.member())) return std::nullopt;
  return Ended{pb::Operation::DONE, "owns " + std::to_string(now.owned_by(operation.member())) + " regions"};
}

MaybeEnded end_of_remove_node(const Situation& now, const pb::Operation& operation) {
  const auto* wish = now.wished_node(operation.member());
  if (wish && !wish->leaving()) return Ended{pb::Operation::CANCELLED, "wanted again"};
  for (const auto& entry : now.facts.map.regions())
    if (Situation::replica_on(entry, operation.member()) && !entry.sealed()) return std::nullopt;
  return Ended{pb::Operation::DONE, "its process may be stopped"};
}

MaybeEnded end_of_recover_node(const Situation& now, const pb::Operation& operation) {
  if (now.is_node_alive(operation.member())) return Ended{pb::Operation::DONE, "it returned"};
  for (const auto* entry : now.live_regions())
    if (Situation::replica_on(*entry, operation.member())) return std::nullopt;
  return Ended{pb::Operation::DONE, "replaced"};
}

MaybeEnded end_of_move(const Situation& now, const pb::Operation& operation) {
  const pb::RegionEntry* entry = now.region(operation.regions(0));
  if (!entry || entry->sealed()) return Ended{pb::Operation::FAILED, "the region was split or merged"};
  if (operation.cancelling()) return Ended{pb::Operation::CANCELLED, "stays on " + entry->owner()};
  if (now.is_node_leaving(operation.member()) || !now.wished_node(operation.member()))
    return Ended{pb::Operation::FAILED, operation.member() + " is leaving"};
  const pb::RegionStatus* status = now.status(entry->region(), operation.member());
  bool serves = status && status->owner();
  if (entry->owner() == operation.member() && serves) return Ended{};
  if (now.is_node_given_up(operation.member())) {
    TM_PROBE("coordinator: an operation fails, its node is gone");
    return Ended{pb::Operation::FAILED, operation.member() + " is gone"};
  }
  return std::nullopt;
}

// Split and merge: the change is gone from the map; whether its parents are sealed tells how it ended.
MaybeEnded end_of_change(const Situation& now, const pb::Operation& operation) {
  uint64_t region = operation.regions(0);
  const pb::RegionEntry* parent = now.region(region);
  if (operation.change() != 0 && now.change(operation.change())) return std::nullopt;
  bool sealed = !parent || parent->sealed();
  if (operation.change() == 0 && sealed)
    return Ended{pb::Operation::FAILED, "the region was split or merged"};
  if (!sealed && operation.cancelling()) return Ended{pb::Operation::CANCELLED, "undone"};
  if (!sealed) return std::nullopt;
  for (const auto* child : now.children_of(region))
    if (!child->sealed() && !now.log(child->region())) return std::nullopt;  // Not served yet.
  return Ended{};
}

MaybeEnded end_of_merge(const Situation& now, const pb::Operation& operation) {
  const pb::RegionEntry* second = now.region(operation.regions(1));
  bool second_gone = !second || second->sealed();
  const pb::RegionEntry* first = now.region(operation.regions(0));
  if (second_gone && first && !first->sealed())
    return Ended{pb::Operation::FAILED, "the region was split or merged"};
  return end_of_change(now, operation);
}

MaybeEnded end_of_rebalance(const Situation& now, const pb::Operation& operation) {
  if (operation.cancelling()) return Ended{pb::Operation::CANCELLED, ""};
  if (!ring_is_done(now, operation.ring_version()) || next_owner_move(now, "")) return std::nullopt;
  return Ended{pb::Operation::DONE, operation.message()};
}

MaybeEnded end_of(const Situation& now, const pb::Operation& operation) {
  switch (operation.kind()) {
    case pb::Operation::ADD_VIEW_MANAGER: return end_of_add_view_manager(now, operation);
    case pb::Operation::REMOVE_VIEW_MANAGER: return end_of_remove_view_manager(now, operation);
    case pb::Operation::RECOVER_VIEW_MANAGER: return end_of_recover_view_manager(now, operation);
    case pb::Operation::ADD_NODE: return end_of_add_node(now, operation);
    case pb::Operation::REMOVE_NODE: return end_of_remove_node(now, operation);
    case pb::Operation::RECOVER_NODE: return end_of_recover_node(now, operation);
    case pb::Operation::MOVE_REGION: return end_of_move(now, operation);
    case pb::Operation::SPLIT_REGION: return end_of_change(now, operation);
    case pb::Operation::MERGE_REGIONS: return end_of_merge(now, operation);
    case pb::Operation::DISCARD_LOGS:
      return operation.offsets_size() > 0 ? MaybeEnded(Ended{}) : std::nullopt;
    case pb::Operation::REBALANCE: return end_of_rebalance(now, operation);
    default: return Ended{pb::Operation::FAILED, "unknown here"};
  }
}

void add_pauses(const Situation& now, pb::Operation& operation) {
  if (operation.ring_version() == 0) return;
  for (const auto* entry : now.live_regions()) {
    const pb::RegionStatus* status = now.status(entry->region(), entry->owner());
    if (!status) continue;
    for (const auto& pause : status->pauses()) {
      if (pause.ring_version() != operation.ring_version()) continue;
      auto* mine = operation.add_pauses();
      *mine->mutable_lanes() = pause.lanes();
      mine->set_micros(pause.micros());
    }
  }
}

}  // namespace

MaybeStep end_operations(const Situation& now) {
  std::map<uint64_t, Ended> ended;
  for (const auto& operation : now.facts.operations.running())
    if (auto end = end_of(now, operation)) ended[operation.id()] = *end;
  if (ended.empty()) return std::nullopt;
  Step step = begin_step(now, StepKind::EndOperations, "");
  auto* running = step.after.operations.mutable_running();
  auto* history = step.after.history.mutable_operations();
  for (int i = running->size() - 1; i >= 0; --i) {
    auto end = ended.find(running->Get(i).id());
    if (end == ended.end()) continue;
    pb::Operation& past = *history->Add();
    past = std::move(*running->Mutable(i));
    running->DeleteSubrange(i, 1);
    past.set_outcome(end->second.outcome);
    past.set_message(end->second.message);
    past.set_ended_at_micros(now.observed.wall_micros);
    add_pauses(now, past);
    step.what += (step.what.empty() ? "" : ", ") + std::to_string(past.id());
  }
  if (history->size() > kHistoryMax) history->DeleteSubrange(0, history->size() - kHistoryMax);
  return step;
}

MaybeStep wish_rebalance(const Situation& now) {
  if (now.settings.rebalance_every.value == 0) return std::nullopt;
  int64_t last = 0;
  for (const auto& operation : now.facts.operations.running())
    if (operation.kind() == pb::Operation::REBALANCE) return std::nullopt;
  for (const auto& operation : now.facts.history.operations()) {
    // One that ended later than now was timed by a clock that was ahead: it says nothing about when.
    const bool is_timed = operation.ended_at_micros() <= now.observed.wall_micros;
    if (operation.kind() == pb::Operation::REBALANCE && is_timed)
      last = std::max(last, operation.ended_at_micros());
  }
  if (now.observed.wall_micros - last < now.settings.rebalance_every.value) return std::nullopt;
  Step step = begin_step(now, StepKind::WishRebalance, "by the timer");
  add_operation(step.after, pb::Operation::REBALANCE, "", now);
  return step;
}

}  // namespace tidemark::steps
