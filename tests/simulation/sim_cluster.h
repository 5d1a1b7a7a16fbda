// A whole cluster in a simulated world: storage nodes with coordinators, view managers, and a client. Roles
// are those of production; only what is under them is simulated.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "coordinator/coordinator_role.h"
#include "coordinator/watched_directory.h"
#include "net/client.h"
#include "node/storage_node.h"
#include "node/store/memory_store.h"
#include "proto/facts.pb.h"
#include "tests/simulation/sim_world.h"
#include "view_manager/view_manager.h"

namespace tidemark {

struct SimClusterOptions {
  uint64_t seed = 1;
  ShardCount shards{16};
  int nodes = 3;
  int view_managers = 2;
  int standby_view_managers = 0;
  SimFaults faults;
  Micros save_delay_max{1'000};  // Of checkpoints; each process draws its own.
  CoordinatorSettings coordinator;
  NodeOptions node;
  ViewManagerLimits view_manager;
};

class SimCluster {
 public:
  explicit SimCluster(SimClusterOptions options);
  ~SimCluster();

  SimWorld& world() { return world_; }
  Client& client() { return *client_; }
  WatchedDirectory& directory() { return *directory_; }

  std::vector<SimProcess*> processes();  // Nodes and view managers, also those that are down.
  SimProcess& node(int index) { return *nodes_[static_cast<size_t>(index)]; }
  SimProcess& view_manager(int index) { return *view_managers_[static_cast<size_t>(index)]; }
  int view_manager_count() const { return static_cast<int>(view_managers_.size()); }
  // Of a running process; nullptr while it still looks for its cluster.
  StorageNode* storage_node(int index);
  ViewManager* view_manager_role(int index);

  int node_count() const { return static_cast<int>(nodes_.size()); }
  const MemoryDisk& disk(int index) const { return *disks_.at(nodes_[static_cast<size_t>(index)]->name()); }
  MemoryDisk& disk(int index) { return *disks_.at(nodes_[static_cast<size_t>(index)]->name()); }
  const SimClusterOptions& options() const { return options_; }

  SimProcess& add_view_manager();  // Started; the coordinator is not told.
  SimProcess& add_node();          // The same.

  // With all that it takes with it: where the log is the node's disk, what was not synced.
  void crash(SimProcess& process);
  // An orderly end; the process is down some time later.
  void stop(SimProcess& process);
  // All that a node had on its disk is gone. REQUIRES: it is down.
  void lose_disk(SimProcess& process);
  bool has_lost_disk(const std::string& node) const { return lost_disks_.contains(node); }  // Ever.
  // Every region of the node is in the checkpoint of another one too: what the loss of one disk may cost. Or,
  // if logs are never cut, in its log from the beginning.
  bool can_spare_disk(const SimProcess& process, bool whole_logs);

  // ---- time

  void run_for(Micros span);
  // Until it holds, or `limit` has passed. True if it holds.
  bool run_until(const std::function<bool()>& holds, Micros limit = Micros{600'000'000});

  // ---- facts and requests, as operators and gateways see them

  // As they are now: no watch is as fresh.
  pb::RegionMap region_map();
  pb::WishFact wishes();
  pb::OperationsFact operations();
  pb::HistoryFact history();
  // The region map as the client knows it is complete, and every region has an owner that is alive.
  bool serving();
  // Asks the coordinator for tables; runs until the catalog has them. Gives the newest version.
  CatalogVersion create_tables(const std::vector<pb::TableDefinition>& tables);
  // An admin command, as words; runs until its answer. False: refused, with the reason in `out`.
  bool admin(const std::vector<std::string>& words, std::string* out = nullptr);
  const pb::Catalog& catalog() const { return catalog_; }
  // What view managers could not plan; empty if all is well.
  const std::vector<std::string>& plan_failures() const { return failures_; }

 private:
  class NodeRole;
  class ViewManagerRole;

  std::unique_ptr<SimProcess> make_node(const std::string& name);
  std::unique_ptr<SimProcess> make_view_manager(const std::string& name, bool standby);
  void on_answer(const pb::Message& message);
  // Sends a question to every node in turn until one answers.
  std::shared_ptr<const pb::Message> ask(const pb::Message& question);

  SimClusterOptions options_;
  SimWorld world_;
  std::map<std::string, std::unique_ptr<MemoryDisk>> disks_;
  std::set<std::string> lost_disks_;  // Of these nodes.
  std::vector<std::unique_ptr<SimProcess>> nodes_;
  std::vector<std::unique_ptr<SimProcess>> view_managers_;

  // The client's process never dies.
  ProcessScheduler client_loop_;
  SimSession client_coordination_;
  Random client_random_;
  std::unique_ptr<Transport> client_transport_;
  std::unique_ptr<Transport> operator_transport_;
  std::unique_ptr<WatchedDirectory> directory_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<FactWatch> catalog_watch_;
  pb::Catalog catalog_;
  std::vector<std::string> failures_;
  uint64_t next_question_ = 1;
  std::map<uint64_t, std::shared_ptr<const pb::Message>> answers_;
};

}  // namespace tidemark
