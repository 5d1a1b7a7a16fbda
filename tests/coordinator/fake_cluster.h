// A cluster of real coordinators on a simulated clock, with storage nodes and view managers that follow the
// facts as the real ones do, but have no data: a log is what the coordinator can know of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/coordinator_role.h"
#include "coordinator/facts.h"
#include "coordinator/membership.h"
#include "coordinator/memory_coordination.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {

// A region's log, with the rules by which the real one protects itself: only the newest fence's incarnation
// can append, a fence of an older map is void, nothing follows a seal.
struct FakeLog {
  uint64_t end = 0;
  uint64_t incarnation = 0;
  uint64_t fence_version = 0;
  uint64_t ring = 0;
  uint64_t ring_acknowledged = 0;
  uint64_t catalog = 0;
  uint64_t merging = 0;
  uint64_t sealed = 0;
  std::set<uint64_t> unmerged;
  bool passed_parents = false;
  struct Checkpoint {
    uint64_t joined = 0;
    uint64_t offset = 0;
  };
  std::map<std::string, Checkpoint> checkpoints;  // On the disks of nodes.
};

class FakeCluster;

// A process: its loop, its session and its address. Killed, it leaves all three behind.
class FakeProcess {
 public:
  FakeProcess(FakeCluster& cluster, std::string name);
  virtual ~FakeProcess();

  const std::string& name() const { return name_; }
  pb::ProcessFact fact() const;
  void kill();
  bool is_alive() const { return alive_; }
  void pause() { loop_.pause(); }
  void resume() { loop_.resume(); }
  MemoryCoordination& session() { return *session_; }

 protected:
  ProcessContext context();

  FakeCluster& cluster_;
  const std::string name_;
  bool alive_ = true;
  ProcessScheduler loop_;
  Random random_;
  std::unique_ptr<MemoryCoordination> session_;
  std::unique_ptr<Transport> transport_;
  virtual void stop() {}
};

class FakeCoordinator : public FakeProcess {
 public:
  FakeCoordinator(FakeCluster& cluster, std::string name, CoordinatorSettings settings);
  ~FakeCoordinator() override { stop(); }
  CoordinatorRole& role() { return *role_; }

 private:
  void stop() override { role_.reset(); }
  std::unique_ptr<CoordinatorRole> role_;
};

class FakeViewManager : public FakeProcess {
 public:
  FakeViewManager(FakeCluster& cluster, std::string name, bool standby);
  ~FakeViewManager() override { stop(); }

 private:
  void stop() override { registration_.reset(); }
  std::unique_ptr<Registration> registration_;
};

class FakeNode : public FakeProcess {
 public:
  FakeNode(FakeCluster& cluster, std::string name);
  ~FakeNode() override { stop(); }

  bool serves(uint64_t region) const;
  // What it had on disk is gone; called before it starts again.
  std::set<std::pair<uint64_t, uint64_t>> lost;  // Regions and memberships.

 private:
  void stop() override;
  void tick();
  void follow(const pb::RegionEntry& entry);
  void lead(const pb::RegionEntry& entry, const pb::Replica& self, FakeLog& log);
  bool do_control(const pb::RegionEntry& entry, FakeLog& log);
  bool do_change(const pb::RegionChange& change, const pb::RegionEntry& entry, FakeLog& log);
  bool can_build(const pb::RegionEntry& entry, const pb::Replica& self, const FakeLog& log) const;
  void report();
  pb::RegionStatus status_of(const pb::RegionEntry& entry, const pb::Replica& self) const;

  std::unique_ptr<Registration> registration_;
  std::unique_ptr<FactWatch> map_watch_, ring_watch_, catalog_watch_;
  std::unique_ptr<EntriesWatch> election_watch_, view_managers_watch_;
  pb::RegionMap map_;
  pb::RingFact ring_;
  pb::Catalog catalog_;
  Members view_managers_;
  std::string coordinator_;
  std::map<uint64_t, uint64_t> serving_;          // Region -> incarnation.
  std::map<std::string, std::string> last_sent_;  // So that only news is sent.
};

class FakeCluster {
 public:
  explicit FakeCluster(CoordinatorSettings settings = default_settings(),
                       CoordinationFaults faults = quick());
  ~FakeCluster();

  static CoordinatorSettings default_settings();
  static CoordinationFaults quick();

  FakeCoordinator& add_coordinator(const std::string& name);
  FakeNode& add_node(const std::string& name);
  FakeViewManager& add_view_manager(const std::string& name, bool standby = false);
  void add_view_manager_if_new(const std::string& name, bool standby) {
    if (!view_managers.contains(name)) add_view_manager(name, standby);
  }
  FakeNode& node(const std::string& name) { return *nodes.at(name); }
  void kill(const std::string& name);
  void lose_disk(const std::string& name);

  // Three coordinators, these nodes and view managers; runs until the cluster is made and quiet.
  void start(const std::vector<std::string>& with_nodes, const std::vector<std::string>& with_view_managers);

  // Runs until it holds; false after `limit` of simulated time.
  bool run_until(const std::function<bool()>& holds, Micros limit = Micros{120'000'000});
  bool run_until_quiet();  // No operation runs, every region is served, rings are acknowledged.
  std::string why_not_quiet() const;
  void run_for(Micros span);

  // Asks as an operator does, at a coordinator that may or may not be elected.
  pb::AdminReply ask(const std::vector<std::string>& words, bool json = false);
  // Asks until an answer is given, and then waits for the operation's end.
  pb::AdminReply ask_and_wait(const std::vector<std::string>& words);
  pb::CatalogReply change_catalog(const pb::CatalogRequest& request);

  FakeCoordinator* elected();
  // As they lie in coordination.
  ClusterFacts facts() const;
  template <typename Fact>
  Fact read(const char* path) const;

  CoordinatorSettings settings;
  VirtualScheduler world;
  SimNetwork network;
  CoordinationTree tree;
  Random random;
  std::map<uint64_t, FakeLog> logs;
  std::map<std::string, std::unique_ptr<FakeCoordinator>> coordinators;
  std::map<std::string, std::unique_ptr<FakeNode>> nodes;
  std::map<std::string, std::unique_ptr<FakeViewManager>> view_managers;
  // Told of each step before it is written.
  std::function<void(FakeCoordinator&, const Step&)> on_step;
  std::vector<StepKind> steps;
  std::vector<std::string> launched;
  std::vector<std::unique_ptr<FakeProcess>> graveyard;

  // Of each living coordinator in turn, until one answers.
  std::optional<pb::Message> request(pb::Message message);

 private:
  std::map<uint64_t, pb::Message> answers_;
  uint64_t next_request_ = 1;
  ProcessScheduler operator_loop_{world};
  std::unique_ptr<Transport> operator_;
};

template <typename Fact>
Fact FakeCluster::read(const char* path) const {
  Fact out;
  auto entry = tree.entries().get({}, path);
  if (entry.ok() && entry->data.size() > 1) out.ParseFromString(entry->data.substr(1));
  return out;
}

}  // namespace tidemark
