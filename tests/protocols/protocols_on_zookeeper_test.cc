// Every protocol of the system on real processes, a real ZooKeeper and a real Kafka, under a load whose
// tables and views are verified at the end of each; once per activation policy.
#include "tests/cluster/crash_test.h"
#include "tests/cluster/tidemark_cluster.h"
#include "tests/protocols/process_update.h"

namespace tidemark::crash {
namespace {

struct NodesActivate {  // Alternative 2: each node activates its own lanes.
  static constexpr const char* kName = "node";
};
struct CoordinatorActivates {  // Alternative 1: one activation, when all markers are acknowledged.
  static constexpr const char* kName = "coordinator";
};

template <typename Policy>
class ProtocolsOnZooKeeper : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!servers::kafka_jars()) return;
    cluster =
        std::make_unique<TidemarkCluster>(ClusterShape{.nodes = 3,
                                                       .view_managers = 2,
                                                       .regions = 3,
                                                       .checkpoint_interval = std::chrono::milliseconds(500),
                                                       .replica_absence = std::chrono::seconds(2),
                                                       .activation = Policy::kName});
    load = std::make_unique<Load>(cluster->gateways(), LoadOptions{.workload = {.writers = 1}});
    load->create();
  }
  static void TearDownTestSuite() {
    load.reset();
    cluster.reset();
  }

  void SetUp() override {
    TM_REQUIRE_KAFKA();
    load->start();
    wait_for_writes(*load, 20);
  }
  void TearDown() override {
    if (!load) return;
    wait_for_writes(*load, 20);
    cluster->wait_until_settled();
    expect_nothing_wrong(*load, testing::UnitTest::GetInstance()->current_test_info()->name());
  }

  // Asks and waits for the end.
  static void ask(const std::vector<std::string>& words) {
    const AdminSaid said = cluster->admin(words);
    EXPECT_TRUE(said.ok()) << said.text;
  }

  static bool knows(const std::vector<MemberShown>& members, const std::string& name) {
    return std::any_of(members.begin(), members.end(), [&](const auto& member) {
      return member.name == name && member.alive && member.holds > 0;
    });
  }
  static void wait_until_it_works(const std::string& view_manager) {
    servers::wait_until(view_manager + " has shards",
                        [&] { return knows(cluster->status().view_managers, view_manager); });
  }

  static std::vector<RegionShown> regions() {
    auto out = cluster->status().live_regions();
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.first_shard < b.first_shard; });
    return out;
  }
  static std::string other_node(const std::string& than) {
    for (Member* node : cluster->nodes())
      if (node->name() != than) return node->name();
    return "";
  }

  // A new view manager that works.
  static std::string add_view_manager() {
    Member& added = cluster->add_view_manager();
    added.process().start();
    wait_until_it_works(added.name());
    return added.name();
  }

  static std::unique_ptr<TidemarkCluster> cluster;
  static std::unique_ptr<Load> load;
};
template <typename Policy>
std::unique_ptr<TidemarkCluster> ProtocolsOnZooKeeper<Policy>::cluster;
template <typename Policy>
std::unique_ptr<Load> ProtocolsOnZooKeeper<Policy>::load;

using Policies = testing::Types<NodesActivate, CoordinatorActivates>;
TYPED_TEST_SUITE(ProtocolsOnZooKeeper, Policies);

TYPED_TEST(ProtocolsOnZooKeeper, ElectCoordinator) {
  const std::string old = this->cluster->status().coordinator;
  this->cluster->member(old).process().kill();
  servers::wait_until("another is elected", [&] {
    const std::string now = this->cluster->status().coordinator;
    return !now.empty() && now != old;
  });
  this->cluster->member(old).process().start();
}

TYPED_TEST(ProtocolsOnZooKeeper, ProcessUpdate) {
  SqlClient client(this->cluster->gateways(), 1);
  process_update(client);
}

// With it goes SendMarker: its end means that every marker was acknowledged.
TYPED_TEST(ProtocolsOnZooKeeper, AddViewManager) {
  const std::string added = this->add_view_manager();
  this->ask({"add-vm", added});
  EXPECT_TRUE(this->knows(this->cluster->status().view_managers, added));
}

TYPED_TEST(ProtocolsOnZooKeeper, RemoveViewManager) {
  const std::string added = this->add_view_manager();
  this->ask({"remove-vm", added});
  EXPECT_FALSE(this->knows(this->cluster->status().view_managers, added));
  this->cluster->forget(this->cluster->member(added));
}

TYPED_TEST(ProtocolsOnZooKeeper, CrashViewManagerWhoseShardsAreSpread) {
  const std::string added = this->add_view_manager();
  this->cluster->member(added).process().kill();
  servers::wait_until("its shards are spread",
                      [&] { return !this->knows(this->cluster->status().view_managers, added); });
  this->ask({"remove-vm", added});
  this->cluster->forget(this->cluster->member(added));
}

TYPED_TEST(ProtocolsOnZooKeeper, CrashViewManagerThatAStandbyReplaces) {
  Member& standby = this->cluster->add_view_manager(true);
  standby.process().start();
  Member& victim = *this->cluster->view_managers().front();
  victim.process().kill();
  servers::wait_until("the standby took over", [&] {
    for (const OperationShown& operation : this->cluster->history())
      if (operation.what == "recover-vm " + victim.name() && operation.outcome == "DONE") return true;
    return false;
  });
  EXPECT_TRUE(
      this->knows(this->cluster->status().view_managers, victim.name()));  // The identity, borne by another.
  victim.process().start();
}

TYPED_TEST(ProtocolsOnZooKeeper, AddAndRemoveNode) {
  Member& added = this->cluster->add_node();
  const std::string name = added.name();
  added.process().start();
  this->ask({"add-node", name});
  this->ask({"remove-node", name});
  this->cluster->forget(this->cluster->member(name));
}

TYPED_TEST(ProtocolsOnZooKeeper, CrashNode) {
  Member& victim = *this->cluster->nodes().back();
  victim.process().kill();
  servers::wait_until("its regions are served by others", [&] {
    const ClusterShown now = this->cluster->status();
    const auto live = now.live_regions();
    return now.all_served() && std::none_of(live.begin(), live.end(), [&](const auto& region) {
             return region.owner == victim.name();
           });
  });
  victim.process().start();
}

TYPED_TEST(ProtocolsOnZooKeeper, MoveRegion) {
  const RegionShown region = this->regions().front();
  const std::string to = this->other_node(region.owner);
  this->ask({"move-region", std::to_string(region.id), to});
  EXPECT_EQ(this->regions().front().owner, to);
}

TYPED_TEST(ProtocolsOnZooKeeper, SplitAndMergeRegions) {
  const size_t before = this->regions().size();
  this->ask({"split-region", std::to_string(this->regions().front().id)});
  const auto split = this->regions();
  EXPECT_EQ(split.size(), before + 1);
  this->ask({"merge-regions", std::to_string(split[0].id), std::to_string(split[1].id)});
  EXPECT_EQ(this->regions().size(), before);
  servers::wait_until("the old ones are deleted", [&] { return this->cluster->status().all_live(); });
}

TYPED_TEST(ProtocolsOnZooKeeper, DiscardLogs) {
  this->ask({"discard-logs"});
}

// The coordinator is killed right after it has written down what is wanted: a successor ends it.
TYPED_TEST(ProtocolsOnZooKeeper, EveryChangeEndsThoughTheCoordinatorDies) {
  const std::string added = this->add_view_manager();
  const auto first = this->regions();
  const std::vector<std::vector<std::string>> changes = {
      {"remove-vm", added},
      {"move-region", std::to_string(first[0].id), this->other_node(first[0].owner)},
      {"split-region", std::to_string(first[1].id)},
      {"merge-regions", "", ""},
      {"rebalance"},
      {"discard-logs"},
  };
  for (std::vector<std::string> words : changes) {
    if (words[0] == "merge-regions") {
      const auto now = this->regions();
      words = {words[0], std::to_string(now[1].id), std::to_string(now[2].id)};
    }
    Member& coordinator = this->cluster->member(this->cluster->status().coordinator);
    words.insert(words.begin(), "--no-wait");
    this->ask(words);
    coordinator.process().kill();
    servers::wait_until("a successor ends " + words[1], [&] {
      for (const std::string& running : this->cluster->status().running)
        if (running.starts_with(words[1])) return false;
      return true;
    });
    coordinator.process().start();
    this->cluster->wait_until_settled();
  }
  this->cluster->forget(this->cluster->member(added));
}

}  // namespace
}  // namespace tidemark::crash
