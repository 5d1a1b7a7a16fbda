// Add, remove and crash of a view manager. The order of every lane is kept by the chains of positions, not by
// these steps (PTO5); they decide who works, and when a change has ended (P2).
#include <algorithm>

#include "coordinator/ring_planner.h"
#include "coordinator/step_list.h"
#include "proto/convert.h"

namespace tidemark::steps {

namespace {

bool is_waited_for(const Situation& now, const std::string& identity) {
  const pb::Operation* recovery = now.running(pb::Operation::RECOVER_VIEW_MANAGER, identity);
  if (recovery && recovery->urgent()) return false;
  Micros patience = now.settings.launcher.empty() ? now.settings.spread_after : now.settings.launch_grace;
  return now.identity_absence(identity) < patience;
}

// The members that the ring should have now.
std::vector<RingMember> wanted_members(const Situation& now) {
  std::vector<RingMember> out;
  bool any_alive = false;
  for (const auto& wish : now.facts.wishes.view_managers()) {
    if (wish.leaving()) continue;
    bool alive = now.is_identity_alive(wish.name());
    if (!alive && !(now.in_ring(wish.name()) && is_waited_for(now, wish.name()))) continue;
    out.push_back({wish.name(), wish.weight()});
    any_alive |= alive;
  }
  if (!any_alive) return {};  // Nobody to spread to: the ring stays as it is.
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

bool same_members(const pb::Ring& ring, const std::vector<RingMember>& members) {
  std::set<std::string> have(ring.members().begin(), ring.members().end());
  std::set<std::string> want;
  for (const RingMember& member : members) want.insert(member.name);
  return have == want;
}

// Operations on view managers whose ring has not been made.
bool waits_for_ring(const pb::Operation& operation) {
  return operation.ring_version() == 0 && (operation.kind() == pb::Operation::ADD_VIEW_MANAGER ||
                                           operation.kind() == pb::Operation::REMOVE_VIEW_MANAGER ||
                                           operation.kind() == pb::Operation::RECOVER_VIEW_MANAGER);
}

// An operation is served by a ring that has, or has no more, its member.
bool is_served_by(const pb::Operation& operation, const pb::Ring& ring) {
  bool has = std::count(ring.members().begin(), ring.members().end(), operation.member()) > 0;
  return has == (operation.kind() == pb::Operation::ADD_VIEW_MANAGER);
}

void install(Step& step, pb::Ring next) {
  pb::RingFact& fact = step.after.ring;
  *fact.add_previous() = std::move(*fact.mutable_ring());
  *fact.mutable_ring() = std::move(next);
  fact.set_policy(step.after.wishes.activation());
  for (auto& operation : *step.after.operations.mutable_running())
    if (waits_for_ring(operation) && is_served_by(operation, fact.ring()))
      operation.set_ring_version(fact.ring().version());
}

// An added member that is in the ring already, with another weight.
bool weight_changes(const Situation& now) {
  return std::any_of(now.facts.operations.running().begin(), now.facts.operations.running().end(),
                     [&](const pb::Operation& operation) {
                       return operation.kind() == pb::Operation::ADD_VIEW_MANAGER &&
                              waits_for_ring(operation) && now.in_ring(operation.member());
                     });
}

bool is_taken_over(const Situation& now, const std::string& identity) {
  const auto& bearers = now.facts.ring.bearers();
  return std::any_of(bearers.begin(), bearers.end(),
                     [&](const auto& bearer) { return bearer.identity() == identity; });
}

// A process that bears no identity and may be given one.
std::string free_process(const Situation& now) {
  for (const auto& [name, process] : now.observed.view_managers) {
    if (!identity_of(now.facts.ring, name).empty()) continue;
    if (now.running(pb::Operation::ADD_VIEW_MANAGER, name)) continue;
    const auto* wish = now.wished_view_manager(name);
    const bool is_displaced = is_taken_over(now, name);  // While it was away.
    if (process.standby() || (is_displaced && !(wish && wish->leaving()))) return name;
  }
  return {};
}

void set_bearer(pb::RingFact& ring, const std::string& identity, const std::string& process) {
  auto* bearers = ring.mutable_bearers();
  for (int i = bearers->size() - 1; i >= 0; --i)
    if (bearers->Get(i).identity() == identity) bearers->DeleteSubrange(i, 1);
  if (process == identity) return;
  auto* bearer = bearers->Add();
  bearer->set_identity(identity);
  bearer->set_process(process);
}

}  // namespace

MaybeStep wish_view_manager(const Situation& now) {
  for (const auto& [name, process] : now.observed.view_managers) {
    const auto* wish = now.wished_view_manager(name);
    if (process.standby() && !wish) continue;
    if (wish && (wish->leaving() || now.in_ring(name))) continue;
    if (now.running(pb::Operation::ADD_VIEW_MANAGER, name)) continue;
    Step step = begin_step(now, StepKind::WishViewManager, name + " registered");
    if (!wish) {
      auto* member = step.after.wishes.add_view_managers();
      member->set_name(name);
      member->set_weight(std::max(1u, process.weight()));
    }
    add_operation(step.after, pb::Operation::ADD_VIEW_MANAGER, name, now);
    return step;
  }
  return std::nullopt;
}

MaybeStep notice_view_manager_death(const Situation& now) {
  for (const std::string& identity : now.facts.ring.ring().members()) {
    const auto* wish = now.wished_view_manager(identity);
    if (!wish || wish->leaving() || now.is_identity_alive(identity)) continue;
    if (now.running(pb::Operation::RECOVER_VIEW_MANAGER, identity)) continue;
    Step step = begin_step(now, StepKind::NoticeViewManagerDeath, identity + " is gone");
    add_operation(step.after, pb::Operation::RECOVER_VIEW_MANAGER, identity, now);
    return step;
  }
  return std::nullopt;
}

MaybeStep substitute_view_manager(const Situation& now) {
  // One that is to work under its own name gives up the one that it took over.
  for (const auto& bearer : now.facts.ring.bearers()) {
    if (!now.running(pb::Operation::ADD_VIEW_MANAGER, bearer.process())) continue;
    Step step = begin_step(now, StepKind::SubstituteViewManager,
                           bearer.identity() + " is no longer borne by " + bearer.process());
    set_bearer(step.after.ring, bearer.identity(), bearer.identity());
    return step;
  }
  auto own_is_back = [&](const std::string& identity) {
    return now.observed.view_managers.contains(identity) && identity_of(now.facts.ring, identity).empty();
  };
  // One that is to be added gets its name back from whom has died with it.
  for (const pb::Operation& operation : now.facts.operations.running()) {
    const std::string& identity = operation.member();
    if (operation.kind() != pb::Operation::ADD_VIEW_MANAGER || now.in_ring(identity)) continue;
    if (now.is_identity_alive(identity) || !own_is_back(identity) || !is_taken_over(now, identity)) continue;
    Step step = begin_step(now, StepKind::SubstituteViewManager, identity + " bears its own name again");
    set_bearer(step.after.ring, identity, identity);
    return step;
  }
  for (const std::string& identity : now.facts.ring.ring().members()) {
    if (now.is_identity_alive(identity)) continue;
    std::string process = own_is_back(identity) ? identity : free_process(now);
    if (process.empty()) continue;
    Step step = begin_step(now, StepKind::SubstituteViewManager,
                           identity + " is borne by " + process + " from now on");
    set_bearer(step.after.ring, identity, process);
    // The death is part of the same write: otherwise it would never be told.
    const auto* wish = now.wished_view_manager(identity);
    if (!now.running(pb::Operation::RECOVER_VIEW_MANAGER, identity) && wish && !wish->leaving())
      add_operation(step.after, pb::Operation::RECOVER_VIEW_MANAGER, identity, now);
    for (auto& operation : *step.after.operations.mutable_running())
      if (operation.kind() == pb::Operation::RECOVER_VIEW_MANAGER && operation.member() == identity)
        operation.set_message(process + " took over, the ring unchanged");
    return step;
  }
  return std::nullopt;
}

MaybeStep change_ring(const Situation& now) {
  std::vector<RingMember> members = wanted_members(now);
  if (members.empty()) return std::nullopt;
  if (same_members(now.facts.ring.ring(), members) && !weight_changes(now)) return std::nullopt;
  auto next =
      plan_ring(now.facts.wishes.placement(), {now.facts.cluster.shards()}, now.facts.ring.ring(), members);
  if (!next.ok()) return std::nullopt;
  Step step = begin_step(now, StepKind::ChangeRing, "ring " + std::to_string(next->version()));
  install(step, std::move(*next));
  return step;
}

MaybeStep activate_ring(const Situation& now) {
  const pb::RingFact& fact = now.facts.ring;
  const uint64_t version = now.lowest_acknowledged();
  if (fact.policy() != pb::ACTIVATE_BY_COORDINATOR || fact.activated() >= version) return std::nullopt;
  Step step = begin_step(now, StepKind::ActivateRing, "ring " + std::to_string(version) + " is active");
  step.after.ring.set_activated(version);
  return step;
}

// A ring stays for as long as some lane's committed position lies before the cut of the next one.
MaybeStep forget_rings(const Situation& now) {
  uint64_t passed = now.lowest_acknowledged();
  const auto& rings = now.facts.ring.previous();
  if (std::none_of(rings.begin(), rings.end(), [&](const auto& ring) { return ring.version() < passed; }))
    return std::nullopt;
  Step step = begin_step(now, StepKind::ForgetRings, "rings before " + std::to_string(passed));
  auto* previous = step.after.ring.mutable_previous();
  for (int i = previous->size() - 1; i >= 0; --i)
    if (previous->Get(i).version() < passed) previous->DeleteSubrange(i, 1);
  return step;
}

MaybeStep forget_view_manager(const Situation& now) {
  for (int i = 0; i < now.facts.wishes.view_managers_size(); ++i) {
    const auto& wish = now.facts.wishes.view_managers(i);
    if (!wish.leaving() || now.in_ring(wish.name()) || now.observed.view_managers.contains(wish.name()))
      continue;
    if (now.running(pb::Operation::REMOVE_VIEW_MANAGER, wish.name())) continue;
    Step step = begin_step(now, StepKind::ForgetViewManager, wish.name() + " has left");
    set_bearer(step.after.ring, wish.name(), wish.name());
    step.after.wishes.mutable_view_managers()->DeleteSubrange(i, 1);
    return step;
  }
  return std::nullopt;
}

MaybeStep balance_ring(const Situation& now) {
  for (int i = 0; i < now.facts.operations.running_size(); ++i) {
    const pb::Operation& operation = now.facts.operations.running(i);
    if (operation.kind() != pb::Operation::REBALANCE || operation.ring_version() != 0) continue;
    std::vector<RingMember> members = wanted_members(now);
    std::vector<MeasuredLoad> load = measured_load(now);
    if (members.empty() || load.empty()) continue;
    auto next = plan_balanced_ring({now.facts.cluster.shards()}, now.facts.ring.ring(), members, load);
    Step step = begin_step(now, StepKind::BalanceRing, "the load is balanced");
    bool moves = next.ok() && !ring_moves(now.facts.ring.ring(), *next).empty();
    if (moves) install(step, std::move(*next));
    pb::Operation& mine = *step.after.operations.mutable_running(i);
    mine.set_ring_version(step.after.ring.ring().version());
    if (!moves) mine.set_message(next.ok() ? "no shard moves" : next.error().message);
    return step;
  }
  return std::nullopt;
}

}  // namespace tidemark::steps

namespace tidemark {

namespace {

// Pieces small enough to be moved on their own; within one, the load is taken to be even.
void add_in_pieces(ShardRange shards, uint64_t load, uint32_t piece, std::vector<MeasuredLoad>& out) {
  for (uint32_t begin = shards.begin.value; begin < shards.end.value; begin += piece) {
    uint32_t end = std::min(begin + piece, shards.end.value);
    out.push_back({{ShardId{begin}, ShardId{end}}, load * (end - begin) / shards.size()});
  }
}

}  // namespace

std::vector<MeasuredLoad> measured_load(const Situation& now) {
  const uint32_t piece = std::max(1u, now.facts.cluster.shards() / 512);
  std::vector<const pb::RegionEntry*> regions = now.live_regions();
  std::sort(regions.begin(), regions.end(),
            [](const auto* a, const auto* b) { return a->shards().begin() < b->shards().begin(); });
  std::vector<MeasuredLoad> out;
  for (const auto* entry : regions) {
    const pb::RegionStatus* status = now.status(entry->region(), entry->owner());
    if (!status || !status->owner()) return {};
    for (const auto& load : status->load())
      add_in_pieces(from_pb(load.shards()), load.changes_per_second(), piece, out);
    if (status->load_size() == 0)
      add_in_pieces(from_pb(entry->shards()), status->changes_per_second(), piece, out);
  }
  return out;
}

std::vector<std::string> wanted_launches(const Situation& now) {
  std::vector<std::string> out;
  if (now.settings.launcher.empty() || !is_bootstrapped(now.facts)) return out;
  for (const auto& wish : now.facts.wishes.view_managers()) {
    if (wish.leaving() || now.is_identity_alive(wish.name())) continue;
    // Only what is recorded is acted on: a death that was noticed, or a wish of an operator.
    if (!now.running(pb::Operation::RECOVER_VIEW_MANAGER, wish.name()) &&
        !now.running(pb::Operation::ADD_VIEW_MANAGER, wish.name()))
      continue;
    auto launched = now.observed.launched_at.find(wish.name());
    bool waiting = launched != now.observed.launched_at.end() &&
                   now.observed.now.value - launched->second.value < now.settings.launch_grace.value;
    if (!waiting) out.push_back(wish.name());
  }
  return out;
}

}  // namespace tidemark
