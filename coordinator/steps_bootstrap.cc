// A new cluster: regions over the nodes, the ring over the view managers, all in one write.
#include <algorithm>

#include "coordinator/ring_planner.h"
#include "coordinator/step_list.h"

namespace tidemark::steps {

namespace {

void add_wish(google::protobuf::RepeatedPtrField<pb::WishFact::Member>& wishes,
              const pb::ProcessFact& process) {
  auto* member = wishes.Add();
  member->set_name(process.name());
  member->set_weight(std::max(1u, process.weight()));
}

void wish_for_all(const Situation& now, pb::WishFact& wishes) {
  for (const auto& [name, process] : now.observed.nodes) add_wish(*wishes.mutable_nodes(), process);
  for (const auto& [name, process] : now.observed.view_managers)
    if (!process.standby()) add_wish(*wishes.mutable_view_managers(), process);
  wishes.set_replicas(now.settings.replicas);
  wishes.set_placement(now.settings.placement);
  wishes.set_activation(now.settings.activation);
}

// Equal runs of shards, owners in turn, the standbys on the nodes that follow.
void spread_regions(const Situation& now, uint32_t shards, pb::RegionMap& map) {
  std::vector<std::string> nodes;
  for (const auto& [name, process] : now.observed.nodes) nodes.push_back(name);
  uint64_t regions = std::clamp<uint64_t>(now.settings.regions, 1, shards);
  size_t replicas = std::min<size_t>(std::max(1u, now.settings.replicas), nodes.size());
  map.set_version(1);
  map.set_next_change(1);
  map.set_next_region(regions + 1);
  for (uint64_t i = 0; i < regions; ++i) {
    auto& entry = *map.add_regions();
    entry.set_region(i + 1);
    entry.set_born(1);
    entry.mutable_shards()->set_begin(static_cast<uint32_t>(shards * i / regions));
    entry.mutable_shards()->set_end(static_cast<uint32_t>(shards * (i + 1) / regions));
    entry.set_owner(nodes[i % nodes.size()]);
    for (size_t k = 0; k < replicas; ++k) {
      auto& replica = *entry.add_replicas();
      replica.set_node(nodes[(i + k) % nodes.size()]);
      replica.set_joined(1);
    }
  }
}

}  // namespace

MaybeStep bootstrap_cluster(const Situation& now) {
  if (is_bootstrapped(now.facts)) return std::nullopt;
  std::vector<RingMember> members;
  for (const auto& [name, process] : now.observed.view_managers)
    if (!process.standby()) members.push_back({name, std::max(1u, process.weight())});
  if (now.observed.nodes.size() < std::max(1u, now.settings.nodes_min)) return std::nullopt;
  if (members.size() < std::max(1u, now.settings.view_managers_min)) return std::nullopt;

  pb::ClusterFact cluster = now.facts.cluster;  // The first process has named it, as a rule.
  if (cluster.cluster() == 0) {
    cluster.set_cluster(now.observed.entropy | 1);  // Never 0.
    cluster.set_shards(now.settings.shards);
    cluster.set_embedded(now.settings.embedded);
  }
  auto ring = plan_ring(now.settings.placement, {cluster.shards()}, {}, members);
  if (!ring.ok()) return std::nullopt;
  Step step = begin_step(now, StepKind::BootstrapCluster, "a new cluster");
  step.after.cluster = cluster;
  *step.after.ring.mutable_ring() = std::move(*ring);
  step.after.ring.set_policy(now.settings.activation);
  step.after.operations.set_next_id(1);
  step.after.catalog.set_next_id(1);
  wish_for_all(now, step.after.wishes);
  spread_regions(now, cluster.shards(), step.after.map);
  return step;
}

}  // namespace tidemark::steps
