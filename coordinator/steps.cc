#include "coordinator/steps.h"

#include "base/assert.h"
#include "coordinator/step_list.h"

namespace tidemark {

namespace {

// In order of urgency: who is dead is replaced first; what is finished is recorded before something new is
// begun; housekeeping comes last.
constexpr std::array kSteps = {
    steps::bootstrap_cluster,
    steps::promote_standbys,
    steps::restart_region,
    steps::substitute_view_manager,
    steps::notice_view_manager_death,
    steps::notice_node_death,
    steps::wish_view_manager,
    steps::wish_node,
    steps::change_ring,
    steps::activate_ring,
    steps::advance_change,
    steps::begin_views,
    steps::fill_views,
    steps::rejoin_replica,
    steps::move_region,
    steps::add_replica,
    steps::remove_replica,
    steps::begin_split,
    steps::begin_merge,
    steps::balance_ring,
    steps::end_operations,
    steps::delete_parent,
    steps::raise_floors,
    steps::forget_rings,
    steps::forget_view_manager,
    steps::forget_node,
    steps::wish_rebalance,
};

}  // namespace

std::optional<Step> next_step(const Situation& now) {
  if (!is_bootstrapped(now.facts)) return steps::bootstrap_cluster(now);
  for (auto step : kSteps)
    if (auto due = step(now)) return due;
  return std::nullopt;
}

const char* to_string(StepKind kind) {
  switch (kind) {
    case StepKind::BootstrapCluster: return "bootstrap-cluster";
    case StepKind::WishViewManager: return "wish-view-manager";
    case StepKind::NoticeViewManagerDeath: return "notice-view-manager-death";
    case StepKind::SubstituteViewManager: return "substitute-view-manager";
    case StepKind::ChangeRing: return "change-ring";
    case StepKind::ActivateRing: return "activate-ring";
    case StepKind::ForgetRings: return "forget-rings";
    case StepKind::ForgetViewManager: return "forget-view-manager";
    case StepKind::WishNode: return "wish-node";
    case StepKind::NoticeNodeDeath: return "notice-node-death";
    case StepKind::PromoteStandbys: return "promote-standbys";
    case StepKind::AddReplica: return "add-replica";
    case StepKind::RejoinReplica: return "rejoin-replica";
    case StepKind::RestartRegion: return "restart-region";
    case StepKind::RemoveReplica: return "remove-replica";
    case StepKind::MoveRegion: return "move-region";
    case StepKind::ForgetNode: return "forget-node";
    case StepKind::BeginSplit: return "begin-split";
    case StepKind::ForwardSplit: return "forward-split";
    case StepKind::BeginMerge: return "begin-merge";
    case StepKind::SealFirst: return "seal-first";
    case StepKind::SealSecond: return "seal-second";
    case StepKind::ForwardMerge: return "forward-merge";
    case StepKind::UndoChange: return "undo-change";
    case StepKind::UnmergeSecond: return "unmerge-second";
    case StepKind::CancelChange: return "cancel-change";
    case StepKind::DeleteParent: return "delete-parent";
    case StepKind::RaiseFloors: return "raise-floors";
    case StepKind::BeginViews: return "begin-views";
    case StepKind::FillViews: return "fill-views";
    case StepKind::WishRebalance: return "wish-rebalance";
    case StepKind::BalanceRing: return "balance-ring";
    case StepKind::EndOperations: return "end-operations";
  }
  TM_UNREACHABLE();
}

namespace steps {

Step begin_step(const Situation& now, StepKind kind, std::string what) {
  return Step{kind, std::move(what), now.facts};
}

pb::RegionEntry& entry_in(Step& step, uint64_t region) {
  for (auto& entry : *step.after.map.mutable_regions())
    if (entry.region() == region) return entry;
  TM_UNREACHABLE();
}

void raise_map_version(Step& step) {
  step.after.map.set_version(step.after.map.version() + 1);
}

pb::Operation& add_operation(ClusterFacts& facts, pb::Operation::Kind kind, const std::string& member,
                             const Situation& now) {
  uint64_t id = std::max<uint64_t>(1, facts.operations.next_id());
  facts.operations.set_next_id(id + 1);
  pb::Operation& operation = *facts.operations.add_running();
  operation.set_id(id);
  operation.set_kind(kind);
  operation.set_member(member);
  operation.set_begun_at_micros(now.observed.wall_micros);
  return operation;
}

}  // namespace steps

}  // namespace tidemark
