// The coordinator's driver: what it does about coordination besides following the core.
#include "coordinator/coordinator_role.h"

#include <gtest/gtest.h>

#include "coordinator/relay.h"
#include "tests/coordinator/coordination_bed.h"
#include "tests/coordinator/fake_cluster.h"
#include "tests/coordinator/passing_coordination.h"

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

struct RefusingCoordination final : PassingCoordination {
  RefusingCoordination(Coordination& inner, Scheduler& loop) : PassingCoordination(inner), scheduler(loop) {}
  void multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) override {
    if (ops.size() == 1) return PassingCoordination::multi(std::move(ops), std::move(done));
    ++refused;
    scheduler.post([done = std::move(done)] { done(CoordinationError::Refused); });
  }
  Scheduler& scheduler;
  int refused = 0;
};

TEST(CoordinatorRole, ThatItsWritesAreRefusedIsSaidNowAndThen) {
  FakeCluster cluster;
  cluster.add_node("n1");
  cluster.add_view_manager("v1");
  MemoryCoordination session(cluster.tree, cluster.world, Random(1));
  RefusingCoordination refusing(session, cluster.world);
  auto transport = cluster.network.connect(Address{"c1"}, cluster.world);
  Random random(2);
  int said = 0;
  CoordinatorOptions options;
  options.self.set_name("c1");
  options.self.set_address("c1");
  options.on_refused = [&] { ++said; };
  CoordinatorRole role(ProcessContext{cluster.world, *transport, refusing, random}, options);
  EXPECT_TRUE(cluster.run_until([&] { return refusing.refused == 20; }));
  EXPECT_EQ(said, 1);
  EXPECT_TRUE(cluster.run_until([&] { return said == 2; }));
}

TEST(CoordinatorRole, AClusterWhoseMapIsLargerThanAnEntryIsMade) {
  CoordinatorSettings settings = FakeCluster::default_settings();
  settings.shards = settings.regions = 4'096;
  FakeCluster cluster(settings);
  FakeCoordinator& coordinator = cluster.add_coordinator("c1");
  const std::string host = "a-storage-node-with-a-long-name-";
  for (const char* number : {"1", "2", "3"}) cluster.add_node(host + number);
  cluster.add_view_manager("v1");
  cluster.add_view_manager("v2");
  pb::RegionMap map;
  auto is_made = [&] {
    read_fact(coordinator.session(), paths::kRegionMap, nullptr, [&](auto fact) {
      if (fact.ok()) map.ParseFromString(fact->data);
    });
    return map.regions_size() == 4'096;
  };
  EXPECT_TRUE(cluster.run_until(is_made, Micros{10'000'000}));
  EXPECT_GT(map.ByteSizeLong(), kFactInlineBytesMax);
}

}  // namespace

}  // namespace tidemark
