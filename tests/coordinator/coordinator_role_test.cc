// The coordinator's driver: what it does about coordination besides following the core.
#include "coordinator/coordinator_role.h"

#include <gtest/gtest.h>

#include "tests/coordinator/coordination_bed.h"
#include "tests/coordinator/fake_cluster.h"

namespace tidemark {

namespace {

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
