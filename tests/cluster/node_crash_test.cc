// Storage nodes on Kafka, killed for real under load.
#include "tests/cluster/crash_test.h"
#include "tests/cluster/region_churn.h"
#include "tests/cluster/tidemark_cluster.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kKillsBetweenChecks = 10;

class NodeCrash : public testing::Test {
 protected:
  const uint64_t seed_ = from_environment("TIDEMARK_CRASH_SEED", 1);
  const uint64_t kills_ = from_environment("TIDEMARK_CRASH_NODE_KILLS", 3);
  Random random_{seed_};

  // One of both, seldom both at once; sometimes back before anybody has noticed.
  void kill_and_start(TidemarkCluster& cluster, const Load& load) {
    const std::vector<Member*> nodes = cluster.nodes();
    std::vector<Member*> victims{nodes[random_.below(nodes.size())]};
    if (random_.chance(0.2)) victims = nodes;
    for (Member* victim : victims) victim->process().kill();
    if (victims.size() < nodes.size() && random_.chance(0.7)) wait_for_writes(load, random_.below(100));
    for (Member* victim : victims) victim->process().launch();
    for (Member* victim : victims) victim->process().wait_until_ready();
  }

  void torment(TidemarkCluster& cluster, bool move_regions) {
    Load load(cluster.gateways(), {.workload = {.writers = 2, .seed = seed_}});
    load.create();
    load.start();
    for (uint64_t i = 1; i <= kills_; ++i) {
      for (int operations = 0; move_regions && operations < 2; ++operations) {
        if (const Words words = random_region_operation(cluster.status(), random_); !words.empty())
          cluster.admin(words);
      }
      wait_for_writes(load, random_.below(200));
      kill_and_start(cluster, load);
      if (i % kKillsBetweenChecks != 0 && i != kills_) continue;
      wait_for_writes(load, 1);
      expect_nothing_wrong(load, std::to_string(i) + " kills" + (move_regions ? " among moves" : ""));
      if (HasFailure()) return;
      load.start();
    }
    load.stop();
  }
};

TEST_F(NodeCrash, NothingIsLostOrDoubledByKill9UnderLoad) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({});
  torment(cluster, false);
}

TEST_F(NodeCrash, NothingIsLostOrDoubledByKill9WhileRegionsMoveSplitAndMerge) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({});
  torment(cluster, true);
}

// It wakes up in the middle of what another has finished.
TEST_F(NodeCrash, ASplitEndsThoughTheOwnerIsPausedInTheMiddle) {
  TM_REQUIRE_KAFKA();
  TidemarkCluster cluster({.nodes = 3});
  Load load(cluster.gateways(), {.workload = {.writers = 1, .seed = seed_}});
  load.create();
  load.start();
  for (uint64_t i = 0; i < kills_; ++i) {
    cluster.wait_until_settled();
    const std::vector<RegionShown> regions = cluster.status().live_regions();
    const RegionShown& region = regions[random_.below(regions.size())];
    Member& owner = cluster.member(region.owner);
    cluster.admin({"--no-wait", "split-region", std::to_string(region.id)});
    std::this_thread::sleep_for(std::chrono::milliseconds(random_.between(0, 30)));
    owner.process().pause();
    std::this_thread::sleep_for(cluster.shape().session_timeout * 3 / 2);
    owner.process().resume();
  }
  cluster.wait_until_settled();
  expect_nothing_wrong(load, "pauses in the middle of splits");
}

}  // namespace
}  // namespace tidemark::crash
