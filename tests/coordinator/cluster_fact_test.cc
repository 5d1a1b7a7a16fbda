#include "coordinator/cluster_fact.h"

#include <gtest/gtest.h>

#include "coordinator/memory_coordination.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

TEST(FindCluster, AllProcessesAgreeHoweverTheyRaceAndWhateverIsLost) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    VirtualScheduler world;
    CoordinationFaults faults;
    faults.delay_max = Micros{5'000};
    faults.lose_request = faults.lose_reply = 0.2;
    faults.reconnect_delay_max = Micros{20'000};
    CoordinationTree tree(world, faults);
    Random random(seed);
    std::vector<std::unique_ptr<MemoryCoordination>> sessions;
    std::vector<uint64_t> found;
    for (uint32_t i = 0; i < 4; ++i) {
      sessions.push_back(std::make_unique<MemoryCoordination>(tree, world, random.fork()));
      pb::ClusterFact wanted;
      wanted.set_shards(64);
      find_cluster(*sessions.back(), world, random, wanted,
                   [&](const pb::ClusterFact& fact) { found.push_back(fact.cluster()); });
    }
    ASSERT_TRUE(world.run_while_not([&] { return found.size() == 4; })) << seed;
    EXPECT_NE(found[0], 0u);
    EXPECT_EQ(std::count(found.begin(), found.end(), found[0]), 4) << seed;
  }
}

}  // namespace
}  // namespace tidemark
