// Add, remove and crash of a node. Safety is the log's (fences, and the map's compare-and-set): these steps
// only decide where each region should be (docs/design.md, "What must always hold", 4 and 6).
#include <algorithm>

#include "base/probe.h"
#include "coordinator/step_list.h"

namespace tidemark::steps {

namespace {

// The best of a region's replicas to own it, the present owner aside: staying before leaving, the newest
// checkpoint, the fewest regions. Empty: none can.
std::string best_heir(const Situation& now, const pb::RegionEntry& entry,
                      const std::map<std::string, size_t>& given) {
  struct Rank {
    bool stays;
    uint64_t checkpoint;
    int64_t spare;
    auto operator<=>(const Rank&) const = default;
  };
  std::optional<std::pair<Rank, std::string>> best;
  for (const auto& replica : entry.replicas()) {
    const std::string& node = replica.node();
    if (node == entry.owner() || !now.can_serve(entry, node)) continue;
    const pb::RegionStatus* status = now.status(entry.region(), node);
    auto extra = given.find(node);
    size_t load = now.owned_by(node) + (extra == given.end() ? 0 : extra->second);
    // A checkpoint a little newer is no reason to give everything to one node.
    Rank rank{!now.is_node_leaving(node),
              now.has_checkpoint(entry, node) && status ? uint64_t{1} : uint64_t{0},
              -static_cast<int64_t>(load)};
    if (!best || rank > best->first) best = {rank, node};
  }
  return best ? best->second : std::string();
}

bool is_in_map(const Situation& now, const std::string& node) {
  for (const auto& entry : now.facts.map.regions())
    if (entry.owner() == node || Situation::replica_on(entry, node)) return true;
  return false;
}

}  // namespace

MaybeStep wish_node(const Situation& now) {
  for (const auto& [name, process] : now.observed.nodes) {
    if (now.wished_node(name)) continue;
    Step step = begin_step(now, StepKind::WishNode, name + " registered");
    auto* member = step.after.wishes.add_nodes();
    member->set_name(name);
    member->set_weight(std::max(1u, process.weight()));
    if (!now.running(pb::Operation::ADD_NODE, name))
      add_operation(step.after, pb::Operation::ADD_NODE, name, now);
    return step;
  }
  return std::nullopt;
}

MaybeStep notice_node_death(const Situation& now) {
  for (const auto& wish : now.facts.wishes.nodes()) {
    const std::string& node = wish.name();
    if (now.is_node_alive(node) || now.replicas_on(node) == 0) continue;
    if (now.running(pb::Operation::RECOVER_NODE, node)) continue;
    Step step = begin_step(now, StepKind::NoticeNodeDeath, node + " is gone");
    add_operation(step.after, pb::Operation::RECOVER_NODE, node, now);
    return step;
  }
  return std::nullopt;
}

// Also in the middle of a split or merge: whoever opens the parent next rolls it forward or back.
MaybeStep promote_standbys(const Situation& now) {
  std::map<uint64_t, std::string> heirs;
  std::map<std::string, size_t> given;
  for (const auto* entry : now.live_regions()) {
    if (now.is_node_alive(entry->owner()) && !now.is_lost(*entry, entry->owner())) continue;
    std::string heir = best_heir(now, *entry, given);
    if (heir.empty()) continue;  // Wait for the owner's return, or for a standby's.
    ++given[heir];
    heirs[entry->region()] = heir;
    if (!now.is_idle(*entry)) TM_PROBE("coordinator: a standby takes over amid a split or merge");
  }
  if (heirs.empty()) return std::nullopt;
  Step step = begin_step(now, StepKind::PromoteStandbys, "");
  raise_map_version(step);
  for (const auto& [region, heir] : heirs) {
    step.what += (step.what.empty() ? "region " : ", region ") + std::to_string(region) + " to " + heir;
    entry_in(step, region).set_owner(heir);
  }
  return step;
}

MaybeStep forget_node(const Situation& now) {
  for (int i = 0; i < now.facts.wishes.nodes_size(); ++i) {
    const auto& wish = now.facts.wishes.nodes(i);
    if (!wish.leaving() || now.is_node_alive(wish.name()) || is_in_map(now, wish.name())) continue;
    if (now.running(pb::Operation::REMOVE_NODE, wish.name())) continue;
    Step step = begin_step(now, StepKind::ForgetNode, wish.name() + " has left");
    step.after.wishes.mutable_nodes()->DeleteSubrange(i, 1);
    return step;
  }
  return std::nullopt;
}

std::optional<OwnerMove> next_owner_move(const Situation& now, const std::string& only_to) {
  std::vector<std::string> nodes = now.eligible_nodes();
  uint64_t weights = 0;
  for (const std::string& node : nodes) weights += now.node_weight(node);
  if (weights == 0) return std::nullopt;
  size_t regions = now.live_regions().size();
  auto share = [&](const std::string& node) { return regions * now.node_weight(node) / weights; };
  for (const std::string& to : nodes) {
    if (!only_to.empty() && to != only_to) continue;
    if (now.owned_by(to) >= share(to)) continue;
    // From the one furthest above its share; a region that is there as a standby already comes first.
    const pb::RegionEntry* best = nullptr;
    std::tuple<bool, size_t> best_rank;
    for (const auto* entry : now.live_regions()) {
      size_t owned = now.owned_by(entry->owner());
      if (!now.is_idle(*entry) || entry->owner() == to || now.is_spoken_for(entry->region())) continue;
      if (owned <= share(entry->owner())) continue;
      std::tuple rank{now.has_checkpoint(*entry, to), owned - share(entry->owner())};
      if (!best || rank > best_rank) std::tie(best, best_rank) = std::tuple(entry, rank);
    }
    if (best) return OwnerMove{best->region(), to};
  }
  return std::nullopt;
}

}  // namespace tidemark::steps
