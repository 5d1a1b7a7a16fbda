// The coordinator's driver: what it does about coordination besides following the core.
#include "coordinator/coordinator_role.h"

#include <gtest/gtest.h>

#include "coordinator/relay.h"
#include "tests/coordinator/coordination_bed.h"
#include "tests/coordinator/fake_cluster.h"

namespace tidemark {

namespace {

TEST(Relay, AnAnswerToAnEarlierLifeIsNobodys) {
  VirtualScheduler world;
  SimNetwork network(world, Random(1));
  CoordinationTree tree(world);
  MemoryCoordination coordination(tree, world, Random(2));
  pb::ProcessFact elected;
  elected.set_name("c1");
  elected.set_address("c1");
  coordination.create(paths::kElection, "", EntryMode::Persistent, [](auto) {});
  coordination.create(std::string(paths::kElection) + "/guid-", elected.SerializeAsString(),
                      EntryMode::EphemeralSequential, [](auto) {});
  auto coordinator = network.connect(Address{"c1"}, world);
  std::vector<uint64_t> heard;
  coordinator->set_handlers(
      {[&](const Address&, const MessagePtr& message) { heard.push_back(message->request()); }, {}});
  auto transport = network.connect(Address{"c2"}, world);
  Random random(3);
  auto pass_on = [&](Relay& relay) {
    auto request = std::make_shared<pb::Message>();
    request->mutable_admin();
    relay.pass_on(Address{"operator"}, request, "c2", [] { ADD_FAILURE() << "there is a coordinator"; });
    world.run_until(Micros{world.now().value + 1'000'000});
  };
  auto answer_to = [](uint64_t request) {
    auto answer = std::make_shared<pb::Message>();
    answer->mutable_admin_reply();
    answer->set_request(request);
    return answer;
  };
  {
    Relay before(world, coordination, *transport, random);
    pass_on(before);
  }
  Relay after(world, coordination, *transport, random);
  pass_on(after);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_FALSE(after.pass_back(answer_to(heard[0])));
  EXPECT_TRUE(after.pass_back(answer_to(heard[1])));
}

TEST(CoordinatorRole, ChunksThatFailedWritesLeftAreSwept) {
  FakeCluster cluster;
  cluster.add_coordinator("c1");
  for (const char* name : {"n1", "n2", "n3"}) cluster.add_node(name);
  for (const char* name : {"v1", "v2"}) cluster.add_view_manager(name);
  ASSERT_TRUE(cluster.run_until_quiet());
  MemoryCoordination& other = cluster.nodes.at("n1")->session();
  const std::string chunk = std::string(paths::kRegionMap) + "/77-0";
  auto is_there = [&] { return cluster.tree.entries().get({}, chunk).ok(); };
  auto leave_chunk = [&] {
    other.create(chunk, "left", EntryMode::Persistent, [](auto) {});
    return cluster.run_until(is_there);
  };
  ASSERT_TRUE(leave_chunk());
  cluster.tree.expire(cluster.coordinators.at("c1")->session().session());
  EXPECT_TRUE(cluster.run_until([&] { return !is_there(); })) << "elected again";

  ASSERT_TRUE(cluster.run_until_quiet());
  ASSERT_TRUE(leave_chunk());
  bool changed = false;  // Behind the coordinator's back.
  other.multi({set_op(paths::kStaged, cluster.tree.entries().get({}, paths::kStaged)->data)},
              [&](auto result) { changed = result.ok(); });
  ASSERT_TRUE(cluster.run_until([&] { return changed; }));
  cluster.ask({"add-vm", "v9"});
  EXPECT_TRUE(cluster.run_until([&] { return !is_there(); })) << "a write has failed";
}

}  // namespace

}  // namespace tidemark
