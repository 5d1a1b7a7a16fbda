#include "coordinator/coordination_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "coordinator/memory_coordination.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

class CoordinationFileTest : public testing::Test {
 protected:
  CoordinationFileTest() {
    char name[] = "/tmp/tidemark-coordination-XXXXXX";
    directory = mkdtemp(name);
  }
  ~CoordinationFileTest() override { std::filesystem::remove_all(directory); }

  // One life of a process: opens a session on what the file holds, and calls `use`.
  template <typename Use>
  void live(Use use) {
    VirtualScheduler world;
    CoordinationTree tree(world, file().load().value(), [&](const std::string& snapshot) {
      ++saves;
      file().save(snapshot);
    });
    MemoryCoordination session(tree, world, Random(1));
    use(session);
    world.run();
  }
  CoordinationFile file() const { return CoordinationFile(directory + "/facts"); }

  std::string directory;
  int saves = 0;
};

TEST_F(CoordinationFileTest, PersistentEntriesOutliveARestartAndEphemeralOnesDoNot) {
  live([](Coordination& session) {
    session.create("/a", "1", EntryMode::Persistent, [](auto) {});
    session.create("/a/b", "2", EntryMode::Persistent, [](auto) {});
    session.create("/a/e", "3", EntryMode::Ephemeral, [](auto) {});
    session.multi({{CoordinationOp::Kind::Set, "/a", "4", 0, EntryMode::Persistent}}, [](auto) {});
  });
  EXPECT_EQ(saves, 3);  // None for the ephemeral one.
  std::optional<Entry> a;
  std::vector<std::string> children;
  live([&](Coordination& session) {
    session.get("/a", {}, [&](auto entry) { a = entry.value(); });
    session.children("/a", {}, [&](auto names) { children = names.value(); });
  });
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->data, "4");
  EXPECT_EQ(a->version, 1);
  EXPECT_EQ(children, std::vector<std::string>{"b"});
}

TEST_F(CoordinationFileTest, ARemovedEntryStaysRemoved) {
  live([](Coordination& session) { session.create("/a", "1", EntryMode::Persistent, [](auto) {}); });
  live([](Coordination& session) {
    session.multi({{CoordinationOp::Kind::Remove, "/a", "", {}, EntryMode::Persistent}}, [](auto) {});
  });
  bool there = true;
  live([&](Coordination& session) { session.exists("/a", {}, [&](auto found) { there = found.value(); }); });
  EXPECT_FALSE(there);
}

TEST_F(CoordinationFileTest, ADamagedFileIsRefusedWithItsName) {
  live([](Coordination& session) { session.create("/a", "1", EntryMode::Persistent, [](auto) {}); });
  std::string path = directory + "/facts";
  auto size = std::filesystem::file_size(path);
  for (size_t at = 0; at < size; ++at) {
    std::fstream edit(path, std::ios::in | std::ios::out | std::ios::binary);
    edit.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(edit.get());
    edit.seekp(static_cast<std::streamoff>(at));
    edit.put(static_cast<char>(byte ^ 0x10));
    edit.close();
    auto loaded = file().load();
    ASSERT_FALSE(loaded.ok()) << at;
    EXPECT_NE(loaded.error().message.find(path), std::string::npos);
    std::fstream mend(path, std::ios::in | std::ios::out | std::ios::binary);
    mend.seekp(static_cast<std::streamoff>(at));
    mend.put(byte);
  }
  EXPECT_TRUE(file().load().ok());
}

}  // namespace
}  // namespace tidemark
