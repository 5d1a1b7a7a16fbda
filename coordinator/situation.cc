#include "coordinator/situation.h"

#include <algorithm>

#include "base/mutation.h"

namespace tidemark {

namespace {

const pb::WishFact::Member* find_member(
    const google::protobuf::RepeatedPtrField<pb::WishFact::Member>& members, const std::string& name) {
  for (const auto& member : members)
    if (member.name() == name) return &member;
  return nullptr;
}

void add_to(LogView& view, const pb::RegionStatus& status) {
  // A seal is a seal for every reader, and there may be no owner any more to tell of it.
  if (status.sealed() != 0) view.sealed = status.sealed();
  if (!status.owner()) return;
  view.fence_version = std::max(view.fence_version, status.fence_version());
  view.ring_version = std::max(view.ring_version, status.ring_version());
  view.ring_acknowledged = std::max(view.ring_acknowledged, status.ring_acknowledged());
  view.catalog_version = std::max(view.catalog_version, status.catalog_version());
  view.committed_floor = std::max(view.committed_floor, status.committed_floor());
  view.committed_past_seal |= status.committed_past_seal();
  view.unmerged.insert(status.unmerged().begin(), status.unmerged().end());
}

}  // namespace

Situation::Situation(const ClusterFacts& the_facts, const Observed& was_observed,
                     const CoordinatorSettings& with)
    : facts(the_facts), observed(was_observed), settings(with) {
  for (const auto& entry : facts.map.regions()) {
    regions_[entry.region()] = &entry;
    for (uint64_t parent : entry.parents()) children_[parent].push_back(&entry);
    if (entry.sealed()) continue;
    live_.push_back(&entry);
    ++owned_[entry.owner()];
    for (const auto& replica : entry.replicas()) ++held_[replica.node()];
  }
}

const pb::RegionEntry* Situation::region(uint64_t id) const {
  auto found = regions_.find(id);
  return found == regions_.end() ? nullptr : found->second;
}

const pb::RegionChange* Situation::change(uint64_t id) const {
  for (const auto& change : facts.map.changes())
    if (change.id() == id) return &change;
  return nullptr;
}

const pb::RegionChange* Situation::change_of(uint64_t id) const {
  for (const auto& change : facts.map.changes())
    if (std::count(change.parents().begin(), change.parents().end(), id) > 0) return &change;
  return nullptr;
}

std::vector<const pb::RegionEntry*> Situation::children_of(uint64_t region) const {
  auto found = children_.find(region);
  return found == children_.end() ? std::vector<const pb::RegionEntry*>{} : found->second;
}

std::optional<LogView> Situation::log(uint64_t region) const {
  auto found = observed.statuses.find(region);
  if (found == observed.statuses.end()) return std::nullopt;
  LogView view;
  const pb::RegionStatus* newest = nullptr;
  for (const auto& [node, status] : found->second) {
    add_to(view, status);
    if (status.owner() && (!newest || newest->incarnation() < status.incarnation())) newest = &status;
  }
  if (!newest && view.sealed == 0) return std::nullopt;
  if (newest) {  // What may also go away is told by the newest incarnation.
    view.merging = newest->merging();
    view.backfilling.insert(newest->backfilling().begin(), newest->backfilling().end());
  }
  return view;
}

const pb::RegionStatus* Situation::status(uint64_t region, const std::string& node) const {
  auto found = observed.statuses.find(region);
  if (found == observed.statuses.end()) return nullptr;
  auto status = found->second.find(node);
  return status == found->second.end() ? nullptr : &status->second;
}

const pb::Replica* Situation::replica_on(const pb::RegionEntry& entry, const std::string& node) {
  for (const auto& replica : entry.replicas())
    if (replica.node() == node) return &replica;
  return nullptr;
}

bool Situation::has_checkpoint(const pb::RegionEntry& entry, const std::string& node) const {
  const pb::Replica* replica = replica_on(entry, node);
  const pb::RegionStatus* reported = status(entry.region(), node);
  // A checkpoint of an earlier membership is not counted on: the node may be about to drop it.
  return replica && reported && reported->has_checkpoint() && !reported->lost() &&
         (reported->joined() == replica->joined() || TM_MUTATION("an earlier membership counts"));
}

bool Situation::is_lost(const pb::RegionEntry& entry, const std::string& node) const {
  const pb::Replica* replica = replica_on(entry, node);
  const pb::RegionStatus* reported = status(entry.region(), node);
  return replica && reported && reported->lost() && reported->joined() == replica->joined();
}

bool Situation::can_serve(const pb::RegionEntry& entry, const std::string& node) const {
  return is_node_alive(node) && can_build_from(entry, node);
}

bool Situation::can_build_from(const pb::RegionEntry& entry, const std::string& node) const {
  const pb::Replica* replica = replica_on(entry, node);
  if (!replica || is_lost(entry, node)) return false;
  if (has_checkpoint(entry, node)) return true;
  if (replica->joined() != entry.born() || entry.floor() != 0) return false;
  // A child begins with what its parents were: who never had them has nothing to begin with.
  return std::all_of(entry.parents().begin(), entry.parents().end(), [&](uint64_t parent) {
    const pb::RegionEntry* before = region(parent);
    return before && can_build_from(*before, node);
  });
}

size_t Situation::checkpoints(const pb::RegionEntry& entry) const {
  size_t count = 0;
  for (const auto& replica : entry.replicas()) count += has_checkpoint(entry, replica.node());
  return count;
}

bool Situation::is_node_leaving(const std::string& node) const {
  const auto* member = wished_node(node);
  return member && member->leaving();
}

std::vector<std::string> Situation::eligible_nodes() const {
  std::vector<std::string> out;
  for (const auto& member : facts.wishes.nodes())
    if (!member.leaving() && is_node_alive(member.name())) out.push_back(member.name());
  std::sort(out.begin(), out.end());
  return out;
}

uint32_t Situation::node_weight(const std::string& node) const {
  const auto* member = wished_node(node);
  return member ? std::max(1u, member->weight()) : 1;
}

size_t Situation::owned_by(const std::string& node) const {
  auto found = owned_.find(node);
  return found == owned_.end() ? 0 : found->second;
}

size_t Situation::replicas_on(const std::string& node) const {
  auto found = held_.find(node);
  return found == held_.end() ? 0 : found->second;
}

uint32_t Situation::wanted_replicas() const {
  return std::min(std::max(1u, facts.wishes.replicas()), static_cast<uint32_t>(eligible_nodes().size()));
}

Micros Situation::since(const std::map<std::string, Micros>& absent, const std::string& member) const {
  auto found = absent.find(member);
  return found == absent.end() ? Micros{0} : Micros{observed.now.value - found->second.value};
}

Micros Situation::node_absence(const std::string& node) const {
  return since(observed.nodes_absent_since, node);
}

bool Situation::is_node_given_up(const std::string& node) const {
  return node_absence(node) >= settings.replica_absence;
}

Micros Situation::identity_absence(const std::string& identity) const {
  return since(observed.view_managers_absent_since, identity);
}

const pb::WishFact::Member* Situation::wished_view_manager(const std::string& name) const {
  return find_member(facts.wishes.view_managers(), name);
}

const pb::WishFact::Member* Situation::wished_node(const std::string& name) const {
  return find_member(facts.wishes.nodes(), name);
}

bool Situation::is_identity_alive(const std::string& identity) const {
  return bearer_of(facts.ring, observed.view_managers, identity) != nullptr;
}

bool Situation::in_ring(const std::string& identity) const {
  const auto& members = facts.ring.ring().members();
  return std::count(members.begin(), members.end(), identity) > 0;
}

bool Situation::all_acknowledged(uint64_t ring_version) const {
  return lowest_acknowledged() >= ring_version;
}

uint64_t Situation::lowest_acknowledged() const {
  uint64_t lowest = facts.ring.ring().version();
  for (const auto* entry : live_regions()) {
    auto view = log(entry->region());
    uint64_t here = view ? std::min(view->ring_version, view->ring_acknowledged) : 0;
    lowest = std::min(lowest, here);
  }
  return lowest;
}

const pb::Operation* Situation::running(pb::Operation::Kind kind, const std::string& member) const {
  for (const auto& operation : facts.operations.running())
    if (operation.kind() == kind && operation.member() == member) return &operation;
  return nullptr;
}

const pb::Operation* Situation::operation(uint64_t id) const {
  for (const auto& operation : facts.operations.running())
    if (operation.id() == id) return &operation;
  for (const auto& operation : facts.history.operations())
    if (operation.id() == id) return &operation;
  return nullptr;
}

bool Situation::follows_another(uint64_t region) const {
  for (const auto& operation : facts.operations.running()) {
    bool merges = operation.kind() == pb::Operation::MERGE_REGIONS && !operation.cancelling();
    if (merges && operation.regions(1) == region) return true;
  }
  return false;
}

bool Situation::is_spoken_for(uint64_t region) const {
  for (const auto& operation : facts.operations.running()) {
    bool steers = operation.kind() == pb::Operation::MOVE_REGION ||
                  operation.kind() == pb::Operation::SPLIT_REGION ||
                  operation.kind() == pb::Operation::MERGE_REGIONS;
    if (steers && std::count(operation.regions().begin(), operation.regions().end(), region) > 0) return true;
  }
  return false;
}

}  // namespace tidemark
