// Disks that are full, damaged or another node's: the process says so, and waits or ends; nothing is lost.
#include <algorithm>
#include <fstream>

#include "tests/cluster/crash_test.h"
#include "tests/cluster/disk.h"
#include "tests/cluster/embedded_process.h"
#include "tests/cluster/tidemark_cluster.h"

namespace tidemark::crash {
namespace {

using std::filesystem::path;

// Every file of rows gets a few wrong bytes in the middle.
size_t damage_rows(const path& directory) {
  size_t damaged = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (file.path().extension() != ".sst" || file.file_size() < 200) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(file.file_size() / 2));
    bytes << "damaged!";
    ++damaged;
  }
  return damaged;
}

void expect_end_with(TidemarkProcess& process, const std::string& words) {
  servers::wait_until(process.name() + " ends", [&] { return !process.running(); });
  EXPECT_NE(process.said().find(words), std::string::npos) << process.said();
}

TEST(BadDisk, AFullDiskIsToldOfAndWaitedForAndNothingIsLost) {
  if (!enter_own_mounts()) GTEST_SKIP() << "mounting a small disk takes root";
  servers::TemporaryDirectory place("disk");
  SmallDisk disk(place.path() / "small", 200);
  EmbeddedProcess up({}, disk.path() / "data");
  up.process().start();
  Load load(up.gateways(), {.workload = {.patience = std::chrono::seconds(3)}});
  load.create();
  load.start();
  wait_for_writes(load, 300);
  disk.fill();
  servers::wait_until("the log and the rows were refused", [&] {
    const std::string said = up.process().said();
    return said.find("waits for its log") != std::string::npos &&
           said.find("no checkpoint could be written") != std::string::npos;
  });
  disk.free();
  wait_for_writes(load, 100);
  expect_nothing_wrong(load, "a full disk");
}

TEST(BadDisk, ADamagedCheckpointIsRefusedWithAClearLine) {
  EmbeddedProcess up({});
  up.process().start();
  Load load(up.gateways(), {});
  load.create();
  load.start();
  wait_for_writes(load, 300);
  load.stop();
  up.process().stop();  // Saves a checkpoint.
  ASSERT_GT(damage_rows(up.data()), 0u);
  up.process().launch();
  expect_end_with(up.process(), "orrupt");
}

class BadNodeDisk : public testing::Test {
 protected:
  void SetUp() override { TM_REQUIRE_KAFKA(); }
};

TEST_F(BadNodeDisk, ADamagedCheckpointIsRefusedAndAnEmptyDiskTakesItsPlace) {
  TidemarkCluster cluster({});
  Load load(cluster.gateways(), {});
  load.create();
  load.start();
  wait_for_writes(load, 300);
  cluster.wait_until_settled();
  Member& node = *cluster.nodes().front();
  node.process().stop();
  ASSERT_GT(damage_rows(node.data()), 0u);
  node.process().launch();
  expect_end_with(node.process(), "orrupt");
  node.wipe();
  node.process().start();
  wait_for_writes(load, 100);
  cluster.wait_until_settled();
  expect_nothing_wrong(load, "a damaged checkpoint");
}

TEST_F(BadNodeDisk, AnotherNodesDirectoryIsRefused) {
  TidemarkCluster cluster({});
  Load load(cluster.gateways(), {});
  load.create();
  load.start();
  wait_for_writes(load, 300);
  Member& first = *cluster.nodes().at(0);
  Member& second = *cluster.nodes().at(1);
  cluster.kill_all();
  const path aside = cluster.directory() / "aside";
  auto swap = [&] {
    std::filesystem::rename(first.data(), aside);
    std::filesystem::rename(second.data(), first.data());
    std::filesystem::rename(aside, second.data());
  };
  swap();
  first.process().launch();
  expect_end_with(first.process(), "belongs to");
  swap();
  cluster.start_all();
  wait_for_writes(load, 100);
  expect_nothing_wrong(load, "another node's directory");
}

}  // namespace
}  // namespace tidemark::crash
