// Which nodes hold each region, and which of them owns it. A replica joins before it is seeded; it is removed
// only while another live one has announced a checkpoint; nothing of this during a split or merge.
#include <algorithm>

#include "coordinator/step_list.h"

#include "base/mutation.h"
#include "base/probe.h"

namespace tidemark::steps {

namespace {

// Where operations want regions to be.
struct Targets {
  std::map<uint64_t, std::set<std::string>> replicas;  // Besides where they are.
  std::map<uint64_t, std::string> owners;

  void want(uint64_t region, const std::string& owner) {
    replicas[region].insert(owner);
    owners.try_emplace(region, owner);
  }
  const std::set<std::string>& replicas_of(uint64_t region) const {
    static const std::set<std::string> none;
    auto found = replicas.find(region);
    return found == replicas.end() ? none : found->second;
  }
};

// The second region of a merge follows the first.
void add_merge(const Situation& now, const pb::Operation& merge, Targets& targets) {
  const pb::RegionEntry* first = now.region(merge.regions(0));
  const pb::RegionEntry* second = now.region(merge.regions(1));
  if (!first || !second) return;
  for (const auto& replica : first->replicas()) targets.replicas[second->region()].insert(replica.node());
  if (!Situation::replica_on(*first, second->owner())) targets.owners[second->region()] = first->owner();
}

Targets targets_of_operations(const Situation& now) {
  Targets out;
  for (const auto& operation : now.facts.operations.running()) {
    if (operation.cancelling()) continue;
    if (operation.kind() == pb::Operation::MOVE_REGION) out.want(operation.regions(0), operation.member());
    if (operation.kind() == pb::Operation::MERGE_REGIONS) add_merge(now, operation, out);
    bool one = operation.kind() == pb::Operation::ADD_NODE;
    if (!one && operation.kind() != pb::Operation::REBALANCE) continue;
    if (auto move = next_owner_move(now, one ? operation.member() : "")) out.want(move->region, move->to);
  }
  return out;
}

// Stays a replica: wished for, and not away for too long.
bool is_good(const Situation& now, const std::string& node) {
  return !now.is_node_leaving(node) && now.wished_node(node) && !now.is_node_given_up(node);
}

size_t good_replicas(const Situation& now, const pb::RegionEntry& entry) {
  return static_cast<size_t>(
      std::count_if(entry.replicas().begin(), entry.replicas().end(),
                    [&](const auto& replica) { return is_good(now, replica.node()); }));
}

// The nodes that may be sent one more. Each counts for itself: one that can take none, since its disk is
// full, say, holds nobody else up.
std::set<std::string> seed_takers(const Situation& now) {
  std::map<std::string, size_t> under_way;
  for (const auto* entry : now.live_regions()) {
    // Who is gone sends nothing.
    if (!now.is_node_alive(entry->owner()) || now.is_lost(*entry, entry->owner())) continue;
    for (const auto& replica : entry->replicas())
      under_way[replica.node()] +=
          replica.joined() != entry->born() && !now.has_checkpoint(*entry, replica.node());
  }
  std::set<std::string> out;
  for (const std::string& node : now.eligible_nodes())
    if (under_way[node] < now.settings.seeds_at_once) out.insert(node);
  return out;
}

// The one of these nodes with the fewest replicas that has none of this region. Empty: there is none.
std::string least_loaded(const Situation& now, const pb::RegionEntry& entry,
                         const std::set<std::string>& nodes) {
  std::string best;
  size_t best_load = SIZE_MAX;
  for (const std::string& node : nodes) {
    size_t load = now.replicas_on(node) * 1000 / now.node_weight(node);
    if (Situation::replica_on(entry, node) || load >= best_load) continue;
    best = node;
    best_load = load;
  }
  return best;
}

std::string missing_replica(const Situation& now, const pb::RegionEntry& entry, const Targets& targets,
                            const std::set<std::string>& takers) {
  for (const std::string& node : targets.replicas_of(entry.region()))
    if (!Situation::replica_on(entry, node) && takers.contains(node)) return node;
  if (now.follows_another(entry.region()) || good_replicas(now, entry) >= now.wanted_replicas()) return {};
  return least_loaded(now, entry, takers);
}

Step join(const Situation& now, StepKind kind, const pb::RegionEntry& entry, const std::string& node) {
  Step step = begin_step(now, kind, "region " + std::to_string(entry.region()) + " on " + node);
  raise_map_version(step);
  pb::RegionEntry& mine = entry_in(step, entry.region());
  pb::Replica* replica = nullptr;
  for (auto& one : *mine.mutable_replicas())
    if (one.node() == node) replica = &one;
  if (!replica) replica = mine.add_replicas();
  replica->set_node(node);
  replica->set_joined(step.after.map.version());
  return step;
}

// Replicas that would remain, stay, are alive and have a checkpoint.
size_t remaining(const Situation& now, const pb::RegionEntry& entry, const std::string& without) {
  size_t count = 0;
  for (const auto& replica : entry.replicas()) {
    const std::string& node = replica.node();
    const bool has =
        now.has_checkpoint(entry, node) || TM_MUTATION("removed before another has a checkpoint");
    count += node != without && is_good(now, node) && now.is_node_alive(node) && has;
  }
  return count;
}

// How many must remain without one that leaves or is away for long. One would be enough for what has been
// acknowledged; but it may be about to fail, and its last report be the last that is heard of it. Who is away
// counts as one that there could be: it is waited for, or removed as well.
size_t enough_without_leaver(const Situation& now) {
  const auto& nodes = now.facts.wishes.nodes();
  auto staying = static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const auto& wish) { return !wish.leaving(); }));
  return std::min<size_t>({2, std::max(1u, now.facts.wishes.replicas()), staying});
}

// How many must remain otherwise. A node that is away for a moment still counts: it comes back with its disk.
size_t enough(const Situation& now) {
  const auto& nodes = now.facts.wishes.nodes();
  auto good = static_cast<uint32_t>(
      std::count_if(nodes.begin(), nodes.end(), [&](const auto& wish) { return is_good(now, wish.name()); }));
  return std::min(std::max(1u, now.facts.wishes.replicas()), std::max(1u, good));
}

// A replica that the region can do without: the leaving and the long absent first, then the one on the node
// with the most.
std::string spare_replica(const Situation& now, const pb::RegionEntry& entry, const Targets& targets) {
  const std::set<std::string>& wanted = targets.replicas_of(entry.region());
  bool follows = now.follows_another(entry.region());
  std::string best;
  size_t best_load = 0;
  for (const auto& replica : entry.replicas()) {
    const std::string& node = replica.node();
    if (node == entry.owner() || (wanted.contains(node) && is_good(now, node))) continue;
    // The region that it follows may itself have too few as yet.
    size_t needed = follows ? std::max(wanted.size(), enough(now)) : enough(now);
    if (!is_good(now, node)) {
      const size_t least = std::max<size_t>(1, enough_without_leaver(now));
      needed = now.is_node_alive(node) ? std::max(needed, least) : least;
    }
    if (remaining(now, entry, node) < needed) continue;
    if (!is_good(now, node)) return node;
    if (now.replicas_on(node) > best_load) {
      best = node;
      best_load = now.replicas_on(node);
    }
  }
  return best;
}

// Where the region should be owned instead of where it is. Empty: it is right where it is. Never a node that
// is leaving, whoever wants it there: it would have to be left again at once, and be wanted there again.
std::string wanted_owner(const Situation& now, const pb::RegionEntry& entry, const Targets& targets) {
  auto found = targets.owners.find(entry.region());
  if (found != targets.owners.end() && !now.is_node_leaving(found->second)) return found->second;
  if (!now.is_node_leaving(entry.owner())) return {};
  std::string best;
  for (const auto& replica : entry.replicas()) {
    const std::string& node = replica.node();
    if (!is_good(now, node) || !now.is_node_alive(node) || !now.has_checkpoint(entry, node)) continue;
    if (best.empty() || now.owned_by(node) < now.owned_by(best)) best = node;
  }
  return best;
}

// The log is whole, and nobody has, or may have, a checkpoint: not one that is away for a moment, or has not
// spoken yet.
bool has_log_alone(const Situation& now, const pb::RegionEntry& entry) {
  if (entry.floor() != 0 || !entry.parents().empty()) return false;
  return std::all_of(entry.replicas().begin(), entry.replicas().end(), [&](const pb::Replica& replica) {
    const pb::RegionStatus* told = now.status(entry.region(), replica.node());
    const bool has_none = told && told->joined() == replica.joined() && !told->has_checkpoint();
    return has_none || now.is_node_given_up(replica.node());
  });
}

// Who begins with the log: the owner if it can, another replica, or anybody. Of two that are merged, where
// the other one is: the child needs a home.
std::string restarter(const Situation& now, const pb::RegionEntry& entry) {
  if (const pb::RegionChange* change = now.change_of(entry.region())) {
    for (uint64_t parent : change->parents())
      for (const auto& replica : now.region(parent)->replicas())
        if (parent != entry.region() && now.can_serve(*now.region(parent), replica.node()))
          return replica.node();
  }
  if (now.is_node_alive(entry.owner())) return entry.owner();
  for (const auto& replica : entry.replicas())
    if (now.is_node_alive(replica.node())) return replica.node();
  const std::vector<std::string> others = now.eligible_nodes();
  return least_loaded(now, entry, {others.begin(), others.end()});
}

}  // namespace

// Who has lost a region begins anew with a seed from its owner.
MaybeStep rejoin_replica(const Situation& now) {
  for (const auto* entry : now.live_regions()) {
    if (!now.is_idle(*entry)) continue;
    for (const auto& replica : entry->replicas())
      if (replica.node() != entry->owner() && now.is_lost(*entry, replica.node())) {
        TM_PROBE("coordinator: a node with an empty disk joins anew");
        return join(now, StepKind::RejoinReplica, *entry, replica.node());
      }
  }
  return std::nullopt;
}

// Nobody has a region, and nobody is waited for who may have it: one begins with the log, if all of it is
// there. Also during a split or merge, which wait for the owner.
MaybeStep restart_region(const Situation& now) {
  for (const auto* entry : now.live_regions()) {
    const bool gone = now.is_lost(*entry, entry->owner()) || now.is_node_given_up(entry->owner());
    const std::string node = gone && has_log_alone(now, *entry) ? restarter(now, *entry) : std::string();
    if (node.empty()) continue;
    TM_PROBE("coordinator: a region begins with nothing but its log");
    Step step = join(now, StepKind::RestartRegion, *entry, node);
    entry_in(step, entry->region()).set_owner(node);
    entry_in(step, entry->region()).set_born(step.after.map.version());  // As if there had been nothing yet.
    return step;
  }
  return std::nullopt;
}

MaybeStep add_replica(const Situation& now) {
  const std::set<std::string> takers = seed_takers(now);
  if (takers.empty()) return std::nullopt;
  Targets targets = targets_of_operations(now);
  for (const auto* entry : now.live_regions()) {
    if (!now.is_idle(*entry)) continue;
    std::string node = missing_replica(now, *entry, targets, takers);
    if (!node.empty()) return join(now, StepKind::AddReplica, *entry, node);
  }
  return std::nullopt;
}

MaybeStep remove_replica(const Situation& now) {
  Targets targets = targets_of_operations(now);
  for (const auto* entry : now.live_regions()) {
    if (!now.is_idle(*entry)) continue;
    std::string node = spare_replica(now, *entry, targets);
    if (node.empty()) continue;
    if (now.is_node_given_up(node)) TM_PROBE("coordinator: a replica that is away for too long is replaced");
    Step step = begin_step(now, StepKind::RemoveReplica,
                           "region " + std::to_string(entry->region()) + " off " + node);
    raise_map_version(step);
    auto* replicas = entry_in(step, entry->region()).mutable_replicas();
    for (int i = replicas->size() - 1; i >= 0; --i)
      if (replicas->Get(i).node() == node) replicas->DeleteSubrange(i, 1);
    return step;
  }
  return std::nullopt;
}

// Only to a replica with a checkpoint of its own: the region is away no longer than it takes to read the
// tail.
MaybeStep move_region(const Situation& now) {
  Targets targets = targets_of_operations(now);
  for (const auto* entry : now.live_regions()) {
    if (!now.is_idle(*entry)) continue;
    std::string to = wanted_owner(now, *entry, targets);
    if (to.empty() || to == entry->owner() || !now.is_node_alive(to) || !now.has_checkpoint(*entry, to))
      continue;
    Step step =
        begin_step(now, StepKind::MoveRegion, "region " + std::to_string(entry->region()) + " to " + to);
    raise_map_version(step);
    entry_in(step, entry->region()).set_owner(to);
    return step;
  }
  return std::nullopt;
}

}  // namespace tidemark::steps
