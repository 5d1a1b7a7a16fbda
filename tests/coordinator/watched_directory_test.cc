#include "coordinator/watched_directory.h"

#include <gtest/gtest.h>

#include "coordinator/membership.h"
#include "coordinator/memory_coordination.h"
#include "proto/convert.h"
#include "tests/coordinator/passing_coordination.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

class WatchedDirectoryTest : public testing::Test {
 protected:
  WatchedDirectoryTest() { create(paths::kNodes, "", EntryMode::Persistent); }

  void create(const std::string& path, const std::string& data, EntryMode mode) {
    coordination.create(path, data, mode, [](auto) {});
    world.run();
  }

  void put_node(const std::string& name) {
    pb::ProcessFact fact;
    fact.set_name(name);
    fact.set_address(name + ":1");
    create(std::string(paths::kNodes) + "/" + name, fact.SerializeAsString(), EntryMode::Ephemeral);
  }

  void put_map(uint64_t version, const std::string& first_owner) {
    pb::RegionMap map;
    map.set_version(version);
    for (uint64_t region : {2, 1, 3}) {
      pb::RegionEntry& entry = *map.add_regions();
      entry.set_region(region);
      entry.set_owner(region == 1 ? first_owner : "b");
      entry.set_sealed(region == 3);
      auto begin = static_cast<uint32_t>(region == 1 ? 0 : 8);
      *entry.mutable_shards() = to_pb(ShardRange{ShardId{begin}, ShardId{begin + 8}});
    }
    bool written = false;
    write_facts(coordination, {{paths::kRegionMap, map.SerializeAsString(), last}}, version, {},
                [&](auto done) { written = done.ok(); });
    read_fact(coordination, paths::kRegionMap, {}, [&](auto fact) { last = std::move(fact).value(); });
    world.run();
    ASSERT_TRUE(written);
  }

  VirtualScheduler world;
  CoordinationTree tree{world};
  MemoryCoordination coordination{tree, world, Random(1)};
  std::optional<Fact> last;
};

TEST_F(WatchedDirectoryTest, FollowsTheMapAndWhoIsAlive) {
  WatchedDirectory directory(coordination, world);
  world.run_until(Micros{1'000'000});
  EXPECT_EQ(directory.find(ShardId{0}), nullptr);

  put_map(1, "a");
  put_node("b");
  world.run_until(Micros{2'000'000});
  ASSERT_NE(directory.find(ShardId{7}), nullptr);
  EXPECT_EQ(directory.find(ShardId{7})->region, RegionId{1});
  EXPECT_EQ(directory.find(ShardId{7})->address, Address{});  // Its owner is not alive.
  EXPECT_EQ(directory.find(ShardId{8})->address, Address{"b:1"});
  EXPECT_EQ(directory.find(ShardId{16}), nullptr);

  put_node("c");
  put_map(2, "c");
  world.run_until(Micros{3'000'000});
  EXPECT_EQ(directory.find(ShardId{0})->address, Address{"c:1"});
  EXPECT_EQ(directory.version(), MapVersion{2});
}

struct CountingCoordination final : PassingCoordination {
  using PassingCoordination::PassingCoordination;
  void get(const std::string& path, Watch watch, Done<Entry> done) override {
    maps_read += path == paths::kRegionMap ? 1 : 0;
    entries_read += path.starts_with(std::string(paths::kNodes) + "/") ? 1 : 0;
    PassingCoordination::get(path, std::move(watch), std::move(done));
  }
  int maps_read = 0, entries_read = 0;
};

// Every process of a cluster asks while a node is lost, for each of its requests.
TEST_F(WatchedDirectoryTest, WhoeverAsksToLookAgainIsHeardButNotEachTime) {
  put_map(1, "a");
  CountingCoordination counting(coordination);
  WatchedDirectory directory(counting, world);
  world.run_until(Micros{world.now().value + 1'000'000});
  counting.maps_read = 0;
  directory.look_again();
  EXPECT_EQ(counting.maps_read, 1) << "the first is heard at once";
  auto ask_for = [&](int64_t millis) {
    const int before = counting.maps_read;
    for (int64_t i = 0; i < 10 * millis; ++i) {
      world.run_until(Micros{world.now().value + 100});
      directory.look_again();
    }
    return counting.maps_read - before;
  };
  EXPECT_LE(ask_for(1'000), 7) << "after 10, 20, 40, ... 640 ms";
  EXPECT_LE(ask_for(6'400), 10) << "and then every 640 ms";
  const int before = counting.maps_read;
  directory.look_again();
  world.run_until(Micros{world.now().value + 1'000'000});
  EXPECT_EQ(counting.maps_read, before + 1) << "the last is not forgotten, and not repeated";

  // What a watch tells is read when it is told.
  ask_for(3'000);
  put_map(2, "b");
  world.run_until(Micros{world.now().value + 1'000});
  EXPECT_EQ(directory.version(), MapVersion{2});
  EXPECT_GE(ask_for(100), 2) << "news begin it anew";
}

TEST_F(WatchedDirectoryTest, OnlyEntriesThatChangedAreReadAgain) {
  for (const char* node : {"a", "b", "c"}) put_node(node);
  CountingCoordination counting(coordination);
  std::vector<std::string> alive;
  EntriesWatch watch(counting, world, paths::kNodes, [&](const auto& entries) {
    alive.clear();
    for (const EntriesWatch::Named& entry : entries) alive.push_back(entry.name + " " + entry.entry.data);
  });
  world.run_until(Micros{world.now().value + 1'000'000});
  EXPECT_EQ(alive.size(), 3u);
  EXPECT_EQ(std::exchange(counting.entries_read, 0), 3);
  put_node("d");
  world.run_until(Micros{world.now().value + 1'000'000});
  EXPECT_EQ(alive.size(), 4u);
  EXPECT_EQ(std::exchange(counting.entries_read, 0), 1);
  watch.look_again();
  CoordinationOp change;
  change.kind = CoordinationOp::Kind::Set;
  change.path = std::string(paths::kNodes) + "/a";
  change.data = "changed";
  coordination.multi({change}, [](auto) {});
  world.run_until(Micros{world.now().value + 1'000'000});
  EXPECT_EQ(alive[0], "a changed");
  EXPECT_EQ(counting.entries_read, 1);
}

}  // namespace
}  // namespace tidemark
