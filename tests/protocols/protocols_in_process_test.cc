// The same protocols in one process, on the coordination within it and on files.
#include "tests/cluster/crash_test.h"
#include "tests/cluster/embedded_process.h"
#include "tests/protocols/process_update.h"

namespace tidemark::crash {
namespace {

class ProtocolsInProcess : public testing::TestWithParam<const char*> {
 protected:
  ProtocolsInProcess() : up_({.nodes = 2, .regions = 3, .settings = {"--cluster.activation", GetParam()}}) {
    up_.process().start();
    load_ = std::make_unique<Load>(up_.gateways(), LoadOptions{.workload = {.writers = 1}});
    load_->create();
    load_->start();
    wait_for_writes(*load_, 20);
  }
  void TearDown() override {
    wait_for_writes(*load_, 20);
    expect_nothing_wrong(*load_, testing::UnitTest::GetInstance()->current_test_info()->name());
  }

  void ask(const std::vector<std::string>& words) {
    const AdminSaid said = up_.admin(words);
    EXPECT_TRUE(said.ok()) << said.text;
    wait_for_writes(*load_, 10);
  }
  std::vector<RegionShown> regions() {
    auto out = up_.status().live_regions();
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.first_shard < b.first_shard; });
    return out;
  }

  // None runs a change, and that many have shards.
  size_t working_view_managers() {
    const ClusterShown now = up_.status();
    if (!now.running.empty()) return 0;
    return static_cast<size_t>(std::count_if(now.view_managers.begin(), now.view_managers.end(),
                                             [](const auto& one) { return one.alive && one.holds > 0; }));
  }

  EmbeddedProcess up_;
  std::unique_ptr<Load> load_;
};

// Elected anew by whoever starts: there is one process.
TEST_P(ProtocolsInProcess, ElectCoordinator) {
  up_.process().kill();
  up_.process().start();
  servers::wait_until("one is elected", [&] { return !up_.status().coordinator.empty(); });
}

TEST_P(ProtocolsInProcess, ProcessUpdate) {
  SqlClient client(up_.gateways(), 1);
  process_update(client);
}

// With it goes SendMarker: its end means that every marker was acknowledged.
TEST_P(ProtocolsInProcess, AddViewManager) {
  ask({"add-vm", "vm3"});
  EXPECT_EQ(working_view_managers(), 3u);
}

TEST_P(ProtocolsInProcess, RemoveViewManager) {
  ask({"remove-vm", "vm2"});
  EXPECT_EQ(working_view_managers(), 1u);
}

TEST_P(ProtocolsInProcess, CrashViewManagerThatTheLauncherStartsAgain) {
  ask({"kill-vm", "vm1"});
  servers::wait_until("it is back", [&] { return working_view_managers() == 2; });
}

TEST_P(ProtocolsInProcess, CrashViewManagerThatIsNotWantedAnyMore) {
  ask({"add-vm", "vm3"});
  ask({"remove-vm", "vm2"});
  ask({"kill-vm", "vm3"});
  servers::wait_until("all that are wanted are there", [&] { return working_view_managers() == 2; });
}

TEST_P(ProtocolsInProcess, MoveRegion) {
  const RegionShown first = regions().front();
  const std::string to = first.owner == "node1" ? "node2" : "node1";
  ask({"move-region", std::to_string(first.id), to});
  EXPECT_EQ(regions().front().owner, to);
}

TEST_P(ProtocolsInProcess, SplitAndMergeRegions) {
  ask({"split-region", std::to_string(regions().front().id)});
  const auto split = regions();
  ask({"merge-regions", std::to_string(split[0].id), std::to_string(split[1].id)});
  servers::wait_until("the old ones are deleted", [&] { return up_.status().all_live(); });
}

TEST_P(ProtocolsInProcess, DiscardLogs) {
  ask({"discard-logs"});
}

// With all the others: there is one process.
TEST_P(ProtocolsInProcess, EveryChangeEndsThoughTheCoordinatorDies) {
  const auto begin = regions();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"add-vm", "vm3"},
        {"split-region", std::to_string(begin[0].id)},
        {"move-region", std::to_string(begin[1].id), begin[1].owner == "node1" ? "node2" : "node1"},
        {"remove-vm", "vm1"}}) {
    std::vector<std::string> asked = words;
    asked.insert(asked.begin(), "--no-wait");
    const AdminSaid said = up_.admin(asked);
    EXPECT_TRUE(said.ok()) << said.text;
    up_.process().kill();
    up_.process().start();
    servers::wait_until("it ends", [&] { return up_.status().running.empty(); });
    wait_for_writes(*load_, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Policy, ProtocolsInProcess, testing::Values("node", "coordinator"),
                         [](const auto& policy) { return std::string(policy.param); });

}  // namespace
}  // namespace tidemark::crash
