// The steps, one function each, by protocol: private to steps.cc and the steps_*.cc files. Each gives the
// step if it is due now.
#pragma once

#include "coordinator/steps.h"

namespace tidemark::steps {

using MaybeStep = std::optional<Step>;

MaybeStep bootstrap_cluster(const Situation& now);

MaybeStep wish_view_manager(const Situation& now);
MaybeStep notice_view_manager_death(const Situation& now);
MaybeStep substitute_view_manager(const Situation& now);
MaybeStep change_ring(const Situation& now);
MaybeStep activate_ring(const Situation& now);
MaybeStep forget_rings(const Situation& now);
MaybeStep forget_view_manager(const Situation& now);
MaybeStep balance_ring(const Situation& now);

MaybeStep wish_node(const Situation& now);
MaybeStep notice_node_death(const Situation& now);
MaybeStep promote_standbys(const Situation& now);
MaybeStep forget_node(const Situation& now);
MaybeStep rejoin_replica(const Situation& now);
MaybeStep restart_region(const Situation& now);
MaybeStep add_replica(const Situation& now);
MaybeStep remove_replica(const Situation& now);
MaybeStep move_region(const Situation& now);

MaybeStep begin_split(const Situation& now);
MaybeStep begin_merge(const Situation& now);
MaybeStep advance_change(const Situation& now);
MaybeStep delete_parent(const Situation& now);

MaybeStep raise_floors(const Situation& now);
MaybeStep begin_views(const Situation& now);
MaybeStep fill_views(const Situation& now);

MaybeStep wish_rebalance(const Situation& now);
MaybeStep end_operations(const Situation& now);

// ---- helpers of more than one file

Step begin_step(const Situation& now, StepKind kind, std::string what);
// The step's own entry of the region, with the map's version raised: each change of the map is a version.
pb::RegionEntry& entry_in(Step& step, uint64_t region);
void raise_map_version(Step& step);
pb::Operation& add_operation(ClusterFacts& facts, pb::Operation::Kind kind, const std::string& member,
                             const Situation& now);

// The node that should get regions, and the region that it should get next, to have its share; the donor has
// more than its own.
struct OwnerMove {
  uint64_t region;
  std::string to;
};
std::optional<OwnerMove> next_owner_move(const Situation& now, const std::string& only_to);

}  // namespace tidemark::steps
