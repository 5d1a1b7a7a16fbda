// The storage node as a role: registers itself, follows the facts, holds the regions that the region map
// gives it, serves clients, view managers and other nodes, and tells the coordinator how far it is.
// Deterministic and single-threaded: it knows the world only through its ProcessContext and its NodeStore.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/guarded_scheduler.h"
#include "coordinator/membership.h"
#include "net/process_context.h"
#include "node/cluster_view.h"
#include "node/log_handles.h"
#include "node/options.h"
#include "node/region_set.h"
#include "node/seeding.h"
#include "node/store/node_store.h"

namespace tidemark {

class StorageNode {
 public:
  // REQUIRES: context.logs is set; all that is referred to outlives the node; called on its loop.
  StorageNode(ProcessContext context, NodeOptions options, NodeStore& store, RowArithmetic& arithmetic);
  // Without stop() it is like a crash: nothing is saved, and the entry stays until the session ends.
  ~StorageNode();
  StorageNode(const StorageNode&) = delete;
  StorageNode& operator=(const StorageNode&) = delete;

  // Takes over the transport's handlers.
  void start();

  // An orderly end: withdraws its entry, saves checkpoints, then `done`. It answers nobody any more.
  void stop(std::function<void()> done);

  // Makes everything that was applied so far durable in checkpoints.
  void save_checkpoints(NodeStore::Done done) { regions_->save(std::move(done)); }

  // ---- for gateways in the same process, tests and figures

  const ClusterView& view() const { return *view_; }
  RegionReplica* region(RegionId region) { return regions_->find(region); }
  RegionSet& regions() { return *regions_; }
  const NodeOptions& options() const { return options_; }

 private:
  void on_message(const Address& from, const MessagePtr& message);
  void on_disconnect(const Address& peer);
  void on_map();
  bool dispatch(const Address& from, const pb::Message& message);
  void to_region(const Address& from, const pb::Message& message, RegionId region);
  void to_region_of(const Address& from, const pb::Message& message, ShardId shard);
  void refuse(const Address& from, const pb::Message& message, const pb::RegionEntry* entry);
  void on_write(const Address& from, const pb::Message& message);
  void on_hold_writes(const Address& from, const pb::Message& message);

  void ask_committed(RegionId asker, const AskCommitted& ask);
  void tell_status();
  void schedule_status();
  void keep_time();
  void save_checkpoints_if_due();
  void sample_metrics();

  ProcessContext context_;
  NodeOptions options_;
  NodeStore& store_;
  RowArithmetic& arithmetic_;
  GuardedScheduler scheduler_;
  NodeMetrics metrics_;
  LogHandles handles_;
  std::unique_ptr<ClusterView> view_;
  std::unique_ptr<RegionSet> regions_;
  std::unique_ptr<SeedSender> seed_sender_;
  std::unique_ptr<SeedReceiver> seed_receiver_;
  std::unique_ptr<Registration> registration_;
  Micros writes_held_until_;  // Clients' writes are refused until then, and asked again.
  bool status_posted_ = false;
  bool stopped_ = false;
  Micros save_begun_at_;
  Micros saved_at_;  // The last that succeeded, or the start.
};

}  // namespace tidemark
