// The regions that a node holds: loads them from checkpoints, parents or nothing as the region map says,
// saves their checkpoints, drops what is no longer the node's. Lives on the node's loop.
//
// All regions of a node share one store of rows, and one save writes the checkpoints of all of them at once.
// So a child's first checkpoint and its parent's, at the seal, are durable together: a parent that is
// replayed never writes over rows that a child has already moved on from.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/guarded_scheduler.h"
#include "node/cluster_view.h"
#include "node/region_replica.h"
#include "node/store/node_store.h"

namespace tidemark {

class RegionSet {
 public:
  struct Listener {
    std::function<void(RegionId)> on_status;  // There is news for the coordinator.
    std::function<void(RegionId, const AskCommitted&)> on_ask_committed;
  };

  // REQUIRES: all that is referred to outlives it.
  RegionSet(ReplicaContext context, ClusterView& view, NodeStore& store, Listener listener);
  ~RegionSet();

  // Compares what the newest map says with what is held, and takes the next step.
  void reconcile();

  // nullptr: not held.
  RegionReplica* find(RegionId region);
  // The replica that owns the shard, else any that holds it.
  RegionReplica* find_by_shard(ShardId shard);
  std::vector<RegionId> held() const;
  void for_each(const std::function<void(RegionReplica&)>& call);

  // What the coordinator should know of a region that the map gives to this node, held or not.
  std::vector<pb::RegionStatus> statuses() const;

  // Regions that wait for a checkpoint from their owner, by the membership that it must be for.
  const std::map<RegionId, MapVersion>& wants_seed() const { return wants_seed_; }
  // Room for a seed: what the store had of the region is gone. False: not now, another region here that
  // overlaps it would write into its rows when it is replayed.
  bool begin_seed(RegionId region);
  // Its rows may be put: no other region has taken its place since it began.
  bool is_seeding(RegionId region) const { return seeding_.count(region) != 0; }
  // The rows are there. False: not wanted, not valid or older than what is here.
  bool install_seed(const Checkpoint& seed);

  // Soon, and again every checkpoint_interval.
  void request_save();
  // Now, or after the save under way; `done` when all that was applied before is durable, or can not be.
  void save(NodeStore::Done done);

 private:
  struct Held {
    ShardRange shards;
    MapVersion joined;
    MapVersion map_version;
    Offset next;
    Offset log_needed_from;
    bool sealed = false;
  };

  std::optional<MapVersion> membership(const pb::RegionEntry& entry) const;
  bool is_lost(const pb::RegionEntry& entry, MapVersion joined) const;
  bool map_is_too_old() const;

  std::optional<MapVersion> held_since(RegionId region) const;
  std::map<RegionId, ShardRange> held_shards() const;
  bool is_sealed_here(RegionId region) const;
  bool is_finished(RegionId region) const;

  void drop_foreign();
  void drop(RegionId region);
  void remove_stream(RegionId region);
  void erase_uncovered(ShardRange shards, RegionId except);
  bool load(const pb::RegionEntry& entry, MapVersion joined);
  bool is_to_create(const pb::RegionEntry& entry, MapVersion joined) const;
  bool load_checkpoint(const pb::RegionEntry& entry, MapVersion joined);
  void load_new(const pb::RegionEntry& entry, MapVersion joined);
  void load_child(const pb::RegionEntry& entry, MapVersion joined);
  bool lacks_parent(const pb::RegionEntry& entry) const;
  RegionReplica* sealed_parent(RegionId parent);
  void add(RegionState state, RegionReplica::Origin origin);
  void on_replica_failed(RegionId region, const LogFailure& failure);
  void give_up(RegionId region, MapVersion joined);
  void try_again(RegionId region);
  bool is_doubted(RegionId region) const;
  bool is_awaited(const pb::RegionEntry& parent) const;
  bool descends_from(const pb::RegionEntry& entry, RegionId ancestor) const;
  void give_up_seeds();
  void save_now();

  ReplicaContext context_;
  ClusterView& view_;
  NodeStore& store_;
  Listener listener_;
  GuardedScheduler scheduler_;

  std::map<RegionId, std::unique_ptr<RegionReplica>> replicas_;
  std::map<RegionId, Checkpoint> on_disk_;  // Loaded or left by one that failed, and not (yet) a replica.
  std::map<RegionId, Held> saved_;          // What is durable.
  std::map<RegionId, MapVersion> wants_seed_;
  std::map<RegionId, ShardRange> seeding_;  // Begun: the rows of these shards are the seed's. None overlap.
  // Can not be used: kept as they are, and tried again if that may help. By their membership.
  std::map<RegionId, MapVersion> failed_;
  std::set<RegionId> doubted_;  // Failed once: what they have counts again once they follow their log.

  bool saving_ = false;
  bool save_posted_ = false;
  std::vector<NodeStore::Done> save_waiters_;
};

}  // namespace tidemark
