// All that the coordinator decides by: the facts, who is alive, what the owners of regions have reported.
// Queries only; every decision is a function of this (steps.h), so that any successor decides the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/types.h"
#include "coordinator/membership.h"
#include "proto/catalog.pb.h"
#include "proto/facts.pb.h"
#include "proto/messages.pb.h"

namespace tidemark {

struct CoordinatorSettings {
  std::string name;  // Of the node that is the coordinator; for people.
  // A new cluster is made once so many are there.
  uint32_t shards = 16384;
  uint32_t regions = 8;
  uint32_t replicas = 2;  // Per region, the owner included; fewer while there are fewer nodes.
  uint32_t nodes_min = 1;
  uint32_t view_managers_min = 1;
  bool embedded = false;
  std::string placement = "slicing-coalescing";  // A strategy of hashring/.
  pb::ActivationPolicy activation = pb::ACTIVATE_BY_NODE;

  // How long a view manager may be away before its shards are spread; with a launcher, before it is given up.
  Micros spread_after{2'000'000};
  Micros launch_grace{30'000'000};
  std::string launcher;  // Command that starts a view manager; its identity is the last argument.
  // How long a standby may be away before it is replaced.
  Micros replica_absence{300'000'000};
  uint32_t seeds_at_once = 4;  // Checkpoints that a node may wait for before it is given another region.
  // A log is cut without being asked when so many records can go. 0: only on request.
  uint64_t discard_records_min = 10'000;
  Micros rebalance_every{0};  // 0: only on request.
};

// What lies in coordination. A copy is cheap enough: the coordinator changes one and writes what differs.
struct ClusterFacts {
  pb::ClusterFact cluster;  // cluster() == 0: there is none yet.
  pb::RingFact ring;
  pb::RegionMap map;
  pb::Catalog catalog;
  pb::WishFact wishes;
  pb::OperationsFact operations;
  pb::StagedFact staged;
  pb::HistoryFact history;
};

// Until it is, processes may know the cluster's name, but nobody has regions or lanes.
inline bool is_bootstrapped(const ClusterFacts& facts) {
  return facts.map.version() != 0;
}

// What the coordinator has seen itself; it is forgotten with it, and seen again by its successor.
struct Observed {
  Members nodes;
  Members view_managers;
  // Members of the facts that are not alive.
  std::map<std::string, Micros> nodes_absent_since;
  std::map<std::string, Micros> view_managers_absent_since;  // Identities.
  std::map<std::string, Micros> launched_at;                 // Identities for which the launcher was run.
  std::map<uint64_t, std::map<std::string, pb::RegionStatus>> statuses;  // By region and node.
  Micros now;
  int64_t wall_micros = 0;  // For people.
  uint64_t entropy = 0;     // The number of a new cluster.
};

// What a region's log says, put together from what nodes have reported. Everything here only ever grows, so
// that a late report is at worst too low.
struct LogView {
  uint64_t fence_version = 0;
  uint64_t ring_version = 0;
  uint64_t ring_acknowledged = 0;
  uint64_t catalog_version = 0;
  uint64_t merging = 0;
  uint64_t sealed = 0;  // By which change.
  uint64_t committed_floor = 0;
  bool committed_past_seal = false;
  std::set<uint32_t> backfilling;  // Views.
  std::set<uint64_t> unmerged;
};

class Situation {
 public:
  // REQUIRES: all outlive it and stay as they are.
  Situation(const ClusterFacts& the_facts, const Observed& was_observed, const CoordinatorSettings& with);

  const ClusterFacts& facts;
  const Observed& observed;
  const CoordinatorSettings& settings;

  // ---- regions
  const pb::RegionEntry* region(uint64_t id) const;
  const std::vector<const pb::RegionEntry*>& live_regions() const { return live_; }  // Not sealed.
  const pb::RegionChange* change(uint64_t id) const;
  const pb::RegionChange* change_of(uint64_t region) const;
  bool is_idle(const pb::RegionEntry& entry) const { return !entry.sealed() && !change_of(entry.region()); }
  std::vector<const pb::RegionEntry*> children_of(uint64_t region) const;

  // None: no owner has reported.
  std::optional<LogView> log(uint64_t region) const;
  const pb::RegionStatus* status(uint64_t region, const std::string& node) const;

  // ---- replicas
  static const pb::Replica* replica_on(const pb::RegionEntry& entry, const std::string& node);
  bool has_checkpoint(const pb::RegionEntry& entry, const std::string& node) const;
  bool is_lost(const pb::RegionEntry& entry, const std::string& node) const;
  // Can open the region: it has a checkpoint, or was there when the region was made and reads its whole log.
  bool can_serve(const pb::RegionEntry& entry, const std::string& node) const;
  // The same, whether the node is alive or not: a child of the region can be built there.
  bool can_build_from(const pb::RegionEntry& entry, const std::string& node) const;
  size_t checkpoints(const pb::RegionEntry& entry) const;

  // ---- nodes
  bool is_node_alive(const std::string& node) const { return observed.nodes.contains(node); }
  bool is_node_leaving(const std::string& node) const;
  // Alive, wished for and staying: may be given regions.
  std::vector<std::string> eligible_nodes() const;
  uint32_t node_weight(const std::string& node) const;
  size_t owned_by(const std::string& node) const;     // Live regions.
  size_t replicas_on(const std::string& node) const;  // Of live regions.
  uint32_t wanted_replicas() const;
  Micros node_absence(const std::string& node) const;  // Zero: alive, or just gone.
  // Away for so long that its return is not waited for any more: what it has is replaced.
  bool is_node_given_up(const std::string& node) const;

  // ---- view managers
  const pb::WishFact::Member* wished_view_manager(const std::string& name) const;
  const pb::WishFact::Member* wished_node(const std::string& name) const;
  bool is_identity_alive(const std::string& identity) const;
  Micros identity_absence(const std::string& identity) const;
  bool in_ring(const std::string& identity) const;
  // Every live region has committed past the cut of this ring.
  bool all_acknowledged(uint64_t ring_version) const;
  uint64_t lowest_acknowledged() const;

  // ---- operations
  const pb::Operation* running(pb::Operation::Kind kind, const std::string& member) const;
  const pb::Operation* operation(uint64_t id) const;
  // Of a running MERGE_REGIONS that is not called off: the region whose replicas follow those of the first.
  bool follows_another(uint64_t region) const;
  // An operator has said where it goes, or what becomes of it: balancing leaves it alone.
  bool is_spoken_for(uint64_t region) const;

 private:
  Micros since(const std::map<std::string, Micros>& absent, const std::string& member) const;

  // Made once, so that a decision costs a pass over the regions and not a pass for each.
  std::map<uint64_t, const pb::RegionEntry*> regions_;
  std::vector<const pb::RegionEntry*> live_;
  std::map<uint64_t, std::vector<const pb::RegionEntry*>> children_;
  std::map<std::string, size_t> owned_;
  std::map<std::string, size_t> held_;
};

}  // namespace tidemark
