// What the coordinator does next: each step of each protocol, as a function of the situation. A step is one
// compare-and-set of facts. There is no other state: a coordinator that dies between two steps is succeeded
// by one that takes the second.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "coordinator/ring_planner.h"
#include "coordinator/situation.h"

namespace tidemark {

enum class StepKind : uint8_t {
  BootstrapCluster,

  // Add, remove and crash of a view manager.
  WishViewManager,  // One registered: it is wanted from now on.
  NoticeViewManagerDeath,
  SubstituteViewManager,  // A standby bears the identity now, or its own process does again.
  ChangeRing,             // Version v+1; owners write cut(v+1).
  ActivateRing,           // Policy "coordinator": all markers are acknowledged.
  ForgetRings,            // Those that every lane has passed.
  ForgetViewManager,      // It has left, and its process is gone.

  // Add, remove and crash of a node; move of a region.
  WishNode,
  NoticeNodeDeath,
  PromoteStandbys,
  AddReplica,
  RejoinReplica,
  RestartRegion,  // With nothing but its log.
  RemoveReplica,
  MoveRegion,
  ForgetNode,

  // Split and merge.
  BeginSplit,
  ForwardSplit,
  BeginMerge,
  SealFirst,
  SealSecond,
  ForwardMerge,
  UndoChange,
  UnmergeSecond,
  CancelChange,
  DeleteParent,

  // Logs and catalog.
  RaiseFloors,
  BeginViews,
  FillViews,  // Every region has committed past its last page of them.

  WishRebalance,  // By the timer.
  BalanceRing,    // The placement needs no new ring, or ChangeRing made it.
  EndOperations,
};
inline constexpr size_t kStepKinds = static_cast<size_t>(StepKind::EndOperations) + 1;
const char* to_string(StepKind kind);

struct Step {
  StepKind kind;
  std::string what;    // For people: "region 7 moves to n2".
  ClusterFacts after;  // What differs is written.
};

// None: nothing to do until something changes.
std::optional<Step> next_step(const Situation& now);

// Identities for which the launcher must be run now.
std::vector<std::string> wanted_launches(const Situation& now);

// The load of each shard as the owners of regions measured it; empty if some owner has not reported.
std::vector<MeasuredLoad> measured_load(const Situation& now);

// The legal moves of a split or merge. Every phase is stored before anyone hears of it.
bool may_follow(pb::RegionChange::Phase from, pb::RegionChange::Phase to);

}  // namespace tidemark
