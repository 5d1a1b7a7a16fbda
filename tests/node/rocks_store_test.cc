// The node's disk in production: what it promises across kill -9, wrong directories and full disks.
#include "node/store/rocks_store.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>

#include "base/bytes.h"
#include "net/asio_loop.h"
#include "tests/node/row_store_twin.h"
#include "tests/wal/disk_faults.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
constexpr ShardCount kShards{16};
std::string g_program;

struct TempDirectory {
  TempDirectory() {
    std::string pattern = (fs::temp_directory_path() / "tidemark-rows-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TempDirectory() { fs::remove_all(path); }
  std::string path;
};

RocksStoreOptions options_for(const std::string& directory) {
  RocksStoreOptions options;
  options.directory = directory;
  options.cluster = 7;
  options.node = "n1";
  options.shards = kShards;
  options.row_cache_bytes = 64 * 1024;
  options.block_cache_bytes = 1 << 20;
  options.write_buffer_bytes = 3 << 16;
  options.on_unreadable = [](const std::string& why) {
    std::cerr << why << std::endl;
    _exit(3);
  };
  return options;
}

Checkpoint checkpoint_at(uint64_t next) {
  Checkpoint out;
  out.region = RegionId{1};
  out.shards = kShards.all();
  out.reader.next = Offset{next};
  return out;
}

Status save(AsioLoop& loop, RocksStore& store, std::vector<Checkpoint> checkpoints) {
  std::promise<Status> done;
  loop.post([&] { store.save(std::move(checkpoints), [&](Status status) { done.set_value(status); }); });
  return done.get_future().get();
}

// ---- what the killed process does: a fixed sequence of writes, one checkpoint after another ---------------

constexpr uint64_t kKeys = 500;

struct Write {
  uint64_t key;
  bool erases;
};
Write write_number(uint64_t number) {
  uint64_t mixed = number * 0x9e3779b97f4a7c15;
  return {(mixed >> 20) % kKeys, (mixed >> 50) % 5 == 0};
}
uint64_t hash_of(uint64_t key) {
  return key * 0x9e3779b97f4a7c15;
}

[[noreturn]] void run_writer(const std::string& directory) {
  AsioLoop loop("writer");
  auto store = RocksStore::open(options_for(directory), loop);
  if (!store.ok()) {
    std::cerr << store.error().message << std::endl;
    _exit(2);
  }
  uint64_t next = (*store)->loaded().empty() ? 0 : (*store)->loaded()[0].reader.next.value;
  for (;;) {
    uint64_t end = next + 3000;
    loop.run([&] {
      for (; next < end; ++next) {
        Write write = write_number(next);
        std::string row = std::to_string(next) + std::string(100, 'x');
        if (write.erases) {
          (*store)->rows().erase(TableId{1}, hash_of(write.key), "k");
        } else {
          (*store)->rows().put(TableId{1}, hash_of(write.key), "k", row);
        }
      }
    });
    if (!save(loop, **store, {checkpoint_at(next)}).ok()) _exit(4);
    std::cout << next << std::endl;  // Durable: whoever kills us may rely on it.
  }
}

// 77: no right to mount.
void mount_small_disk(const std::string& directory) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(77);
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=2m") != 0) _exit(77);
}

void make_room(const std::string& directory) {
  if (mount("tmpfs", directory.c_str(), "tmpfs", MS_REMOUNT, "size=64m") != 0) _exit(8);
}

RocksStoreOptions options_for_small_disk(const std::string& directory) {
  RocksStoreOptions options = options_for(directory);
  options.row_cache_bytes = 16 << 20;  // All fits in memory: the save is what fails.
  return options;
}

// Saves a row, then more than the disk takes. Gives the error.
std::string overfill(AsioLoop& loop, RocksStore& store) {
  loop.run([&] { store.rows().put(TableId{1}, 1, "before", "row"); });
  if (!save(loop, store, {checkpoint_at(1)}).ok()) _exit(5);
  Random random(3);
  loop.run([&] {
    for (uint64_t i = 0; i < 20'000; ++i) {
      std::string row;
      for (int j = 0; j < 20; ++j) put_fixed64(row, random.next());
      store.rows().put(TableId{1}, hash_of(i), "k", row);
    }
  });
  Status refused = save(loop, store, {checkpoint_at(2)});
  if (refused.ok()) _exit(6);
  return refused.error().message;
}

// RocksDB looks for room every few seconds; how long it takes is not ours to say.
void save_until_taken(AsioLoop& loop, RocksStore& store, const std::vector<Checkpoint>& checkpoints) {
  while (!save(loop, store, checkpoints).ok()) usleep(10'000);
}

class CountedLog : public LogSink {
 public:
  bool wants(LogLevel level) const override { return level >= LogLevel::Warning; }
  void write(LogLevel, std::string_view, std::string_view) override { ++lines; }

  std::atomic<int> lines = 0;
};

// A disk without room: an error, nothing lost, and once there is room it goes on. RocksDB's words go to the
// node's log: one that can not be written would be the end of the process.
[[noreturn]] void run_full(const std::string& directory) {
  mount_small_disk(directory);
  CountedLog log;
  RocksStoreOptions options = options_for_small_disk(directory);
  options.log = Logger(log, "store");
  {
    AsioLoop loop("full");
    auto opened = RocksStore::open(options, loop);
    if (!opened.ok()) _exit(2);
    if (log.lines != 0) _exit(12);
    std::cout << overfill(loop, **opened) << std::endl;
    if (log.lines == 0 || fs::exists(directory + "/rows/LOG")) _exit(13);
    make_room(directory);
    save_until_taken(loop, **opened, {checkpoint_at(2)});
  }
  AsioLoop loop("reader");
  auto store = RocksStore::open(options, loop);
  if (!store.ok() || (*store)->loaded()[0].reader.next != Offset{2}) _exit(9);
  loop.run([&] {
    if ((*store)->rows().get(TableId{1}, 1, "before") != "row") _exit(10);
    for (uint64_t i = 0; i < 20'000; ++i) {
      if (!(*store)->rows().get(TableId{1}, hash_of(i), "k")) _exit(11);
    }
  });
  _exit(0);
}

bool has_rows(RocksStore& store) {
  return store.rows().get(TableId{1}, 1, "before").has_value() ||
         store.rows().seek(TableId{1}, 0, "", Direction::Forward)->valid() ||
         store.rows().seek(TableId{1}, UINT64_MAX, "z", Direction::Backward)->valid();
}

// A region leaves a disk that takes nothing: it is gone at once, and for good once there is room.
[[noreturn]] void run_full_removal(const std::string& directory) {
  mount_small_disk(directory);
  RocksStoreOptions options = options_for_small_disk(directory);
  {
    AsioLoop loop("full");
    auto opened = RocksStore::open(options, loop);
    if (!opened.ok()) _exit(2);
    RocksStore& store = **opened;
    std::cout << overfill(loop, store) << std::endl;
    loop.run([&] {
      store.forget(RegionId{1});
      store.erase_shards(kShards.all());
      if (has_rows(store)) _exit(12);
      store.rows().put(TableId{1}, 1, "after", "row");
    });
    make_room(directory);
    Checkpoint second = checkpoint_at(3);
    second.region = RegionId{2};
    save_until_taken(loop, store, {second});
  }
  AsioLoop loop("reader");
  auto store = RocksStore::open(options, loop);
  if (!store.ok() || (*store)->loaded().size() != 1 || (*store)->loaded()[0].region != RegionId{2}) _exit(9);
  loop.run([&] {
    if ((*store)->rows().get(TableId{1}, 1, "after") != "row") _exit(10);
    (*store)->rows().erase(TableId{1}, 1, "after");
    if (has_rows(**store)) _exit(11);
  });
  _exit(0);
}

// Says what it is told by a start on a disk without any room.
[[noreturn]] void run_full_start(const std::string& directory) {
  mount_small_disk(directory);
  AsioLoop loop("full");
  if (!RocksStore::open(options_for(directory), loop).ok()) _exit(2);
  std::ofstream ballast(directory + "/ballast");
  while (ballast << std::string(4096, 'b') << std::flush) {
  }
  auto opened = RocksStore::open(options_for(directory), loop);
  if (opened.ok()) _exit(12);
  std::string message = opened.error().message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout << message << std::endl;
  ballast.close();
  fs::remove(directory + "/ballast");
  _exit(RocksStore::open(options_for(directory), loop).ok() ? 0 : 13);
}

struct Child {
  pid_t pid = 0;
  int out = -1;

  static Child start(const std::string& mode, const std::string& directory) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    Child child;
    child.pid = fork();
    if (child.pid == 0) {
      dup2(pipe_ends[1], STDOUT_FILENO);
      close(pipe_ends[0]);
      execl(g_program.c_str(), g_program.c_str(), mode.c_str(), directory.c_str(), nullptr);
      _exit(99);
    }
    close(pipe_ends[1]);
    child.out = pipe_ends[0];
    return child;
  }
  // Reads the pipe's lines until `stop` says so; gives the last whole line.
  std::string read_lines(const std::function<bool(const std::string&)>& stop) {
    std::string last, line;
    char byte = 0;
    while (read(out, &byte, 1) == 1) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      last = std::exchange(line, "");
      if (stop(last)) break;
    }
    return last;
  }
  int wait_for() {
    int status = 0;
    waitpid(pid, &status, 0);
    close(out);
    return status;
  }
};

// The rows on disk are those at the checkpoint, or newer: replaying from it gives the rows at any later
// place.
void expect_not_behind(RocksStore& store, uint64_t checkpoint) {
  std::vector<uint64_t> last(kKeys, UINT64_MAX);
  for (uint64_t i = 0; i < checkpoint; ++i) last[write_number(i).key] = i;
  for (uint64_t key = 0; key < kKeys; ++key) {
    auto row = store.rows().get(TableId{1}, hash_of(key), "k");
    if (row) {
      uint64_t written = std::stoull(std::string(*row));
      EXPECT_EQ(write_number(written).key, key);
      if (last[key] != UINT64_MAX) {
        EXPECT_GE(written, last[key]) << "key " << key << " is older than its checkpoint";
      }
    } else if (last[key] != UINT64_MAX && !write_number(last[key]).erases) {
      bool erased_later = false;
      for (uint64_t i = checkpoint; i < checkpoint + 3001; ++i) {
        erased_later |= write_number(i).key == key && write_number(i).erases;
      }
      EXPECT_TRUE(erased_later) << "key " << key << " was lost";
    }
  }
}

TEST(RocksStoreCrash, RowsAreNeverBehindTheCheckpointAfterKill9) {
  TempDirectory directory;
  Random random(11);
  uint64_t seen = 0;
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    Child child = Child::start("--writer", directory.path);
    int lines = static_cast<int>(1 + random.below(4));
    std::string last = child.read_lines([&](const std::string&) { return --lines == 0; });
    usleep(static_cast<useconds_t>(random.below(20'000)));  // Anywhere in the next save.
    kill(child.pid, SIGKILL);
    child.wait_for();
    ASSERT_FALSE(last.empty());
    AsioLoop loop("reader");
    auto store = RocksStore::open(options_for(directory.path), loop);
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_EQ((*store)->loaded().size(), 1u);
    uint64_t checkpoint = (*store)->loaded()[0].reader.next.value;
    EXPECT_GE(checkpoint, std::stoull(last)) << "a checkpoint that was said to be durable is not there";
    EXPECT_GE(checkpoint, seen);
    seen = checkpoint;
    loop.run([&] { expect_not_behind(**store, checkpoint); });
  }
}

class RocksStoreOnAFullDisk : public testing::Test {
 protected:
  void run(const std::string& mode) {
    TempDirectory directory;
    Child child = Child::start(mode, directory.path);
    said_ = child.read_lines([](const std::string&) { return true; });
    int status = child.wait_for();
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "a small file system can not be mounted here";
    EXPECT_NE(said_.find("No space left"), std::string::npos) << said_;
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }

  std::string said_;
};

TEST_F(RocksStoreOnAFullDisk, ASaveIsAnErrorAndLaterItGoesOn) {
  run("--full");
}

TEST_F(RocksStoreOnAFullDisk, ARegionIsGoneAtOnceAndFromTheDiskOnceThereIsRoom) {
  run("--full-removal");
}

TEST_F(RocksStoreOnAFullDisk, AStartSaysSoAndDoesNotTakeItForDamage) {
  run("--full-start");
  if (IsSkipped()) return;
  EXPECT_NE(said_.find("make room"), std::string::npos) << said_;
  EXPECT_EQ(said_.find("Move the directory away"), std::string::npos) << said_;
}

TEST(RocksStoreProperty, AgreesWithAMapAcrossRestarts) {
  TempDirectory directory;
  AsioLoop loop("twin");
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    auto store = RocksStore::open(options_for(directory.path + "/" + std::to_string(seed)), loop);
    ASSERT_TRUE(store.ok()) << store.error().message;
    loop.run([&] {
      RowStoreTwin twin((*store)->rows(), kShards, seed);
      for (int i = 0; i < 1500; ++i) twin.step();
      twin.compare_all();
    });
  }
}

TEST(RocksStore, WhatWasSavedIsThereAfterARestartAndWhatWasForgottenIsNot) {
  TempDirectory directory;
  AsioLoop loop("restart");
  Checkpoint second = checkpoint_at(9);
  second.region = RegionId{2};
  {
    auto store = RocksStore::open(options_for(directory.path), loop);
    ASSERT_TRUE(store.ok());
    EXPECT_FALSE((*store)->first_map().has_value());
    loop.run([&] {
      (*store)->set_first_map(MapVersion{4});
      (*store)->rows().put(TableId{1}, 1, "low", "a");
      (*store)->rows().put(TableId{2}, UINT64_MAX, "\xff\xff\xff", "b");
      (*store)->rows().put(TableId{2}, 1, "low", "c");
    });
    ASSERT_TRUE(save(loop, **store, {checkpoint_at(5), second}).ok());
    loop.run([&] {
      (*store)->forget(RegionId{1});
      (*store)->erase_shards({ShardId{8}, ShardId{16}});
    });
    ASSERT_TRUE(save(loop, **store, {}).ok());
  }
  auto store = RocksStore::open(options_for(directory.path), loop);
  ASSERT_TRUE(store.ok());
  ASSERT_EQ((*store)->loaded().size(), 1u);
  EXPECT_EQ((*store)->loaded()[0], second);
  EXPECT_EQ((*store)->first_map(), MapVersion{4});
  loop.run([&] {
    EXPECT_EQ((*store)->rows().get(TableId{1}, 1, "low"), "a");
    EXPECT_EQ((*store)->rows().get(TableId{2}, 1, "low"), "c");
    EXPECT_FALSE((*store)->rows().get(TableId{2}, UINT64_MAX, "\xff\xff\xff").has_value());
  });
}

// Flushes wait for the disk here until RocksDB takes no more: the loop must not wait with them.
TEST(RocksStore, AStallOfRocksDBDoesNotHoldUpTheLoop) {
  constexpr auto kDeadline = std::chrono::seconds(20);
  constexpr uint64_t kRows = 5000;
  TempDirectory directory;
  AsioLoop loop("stall");
  auto opened = RocksStore::open(options_for(directory.path), loop);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  RocksStore& store = **opened;
  disk_faults::hold_syncs(true);
  std::promise<bool> written;
  loop.post([&] {
    for (uint64_t i = 0; i < kRows; ++i) store.rows().put(TableId{1}, hash_of(i), "k", std::string(200, 'r'));
    written.set_value(store.rows().has_room());
  });
  auto had_room = written.get_future();
  const bool waited = had_room.wait_for(kDeadline) == std::future_status::timeout;
  std::promise<Status> saved;
  if (!waited) {
    loop.run([&] { store.save({checkpoint_at(1)}, [&](const Status& status) { saved.set_value(status); }); });
  }
  disk_faults::hold_syncs(false);
  loop.run([] {});
  ASSERT_FALSE(waited);
  EXPECT_FALSE(had_room.get());
  EXPECT_TRUE(saved.get_future().get().ok());
  loop.run([&] {
    EXPECT_TRUE(store.rows().has_room());
    for (uint64_t i = 0; i < kRows; ++i) ASSERT_TRUE(store.rows().get(TableId{1}, hash_of(i), "k")) << i;
  });
}

// The loop stands still meanwhile, and a node may have a thousand tables.
TEST(RocksStore, ErasingTheRowsOfShardsIsOnePassOverTheCache) {
  TempDirectory directory;
  AsioLoop loop("erase");
  auto store = RocksStore::open(options_for(directory.path), loop);
  ASSERT_TRUE(store.ok());
  loop.run([&] {
    for (uint32_t table = 1; table <= 50; ++table) (*store)->rows().put(TableId{table}, 1, "k", "row");
  });
  ASSERT_TRUE(save(loop, **store, {}).ok());
  loop.run([&] {
    for (uint32_t table = 51; table <= 100; ++table) (*store)->rows().put(TableId{table}, 1, "k", "row");
    (*store)->erase_shards({ShardId{0}, ShardId{16}});
    EXPECT_EQ((*store)->figures().passes, 1u);
    for (uint32_t table = 1; table <= 100; ++table) {
      EXPECT_FALSE((*store)->rows().get(TableId{table}, 1, "k").has_value()) << table;
    }
  });
}

TEST(RocksStore, RefusesAnotherNodesDirectory) {
  TempDirectory directory;
  AsioLoop loop("other");
  ASSERT_TRUE(RocksStore::open(options_for(directory.path), loop).ok());
  RocksStoreOptions other = options_for(directory.path);
  other.node = "n2";
  auto store = RocksStore::open(other, loop);
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("belongs to another node"), std::string::npos)
      << store.error().message;
  other = options_for(directory.path);
  other.cluster = 8;
  EXPECT_FALSE(RocksStore::open(other, loop).ok());
}

TEST(RocksStore, RefusesADirectoryThatIsInUseOrNotANodes) {
  TempDirectory directory;
  AsioLoop loop("use");
  auto first = RocksStore::open(options_for(directory.path), loop);
  ASSERT_TRUE(first.ok());
  auto second = RocksStore::open(options_for(directory.path), loop);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
  TempDirectory other;
  std::ofstream(other.path + "/letter.txt") << "hello";
  EXPECT_FALSE(RocksStore::open(options_for(other.path), loop).ok());
}

TEST(RocksStore, AStartThatThePowerCutShortIsMadeAgain) {
  TempDirectory directory;
  AsioLoop loop("cut");
  std::ofstream(directory.path + "/IDENTITY_OF_NODE.new") << "tidemark";
  EXPECT_TRUE(RocksStore::open(options_for(directory.path), loop).ok());
  EXPECT_FALSE(fs::exists(directory.path + "/IDENTITY_OF_NODE.new"));
  EXPECT_TRUE(RocksStore::open(options_for(directory.path), loop).ok());
}

TEST(RocksStore, ADiskThatCanNotBeReadForNowIsNotTakenForDamage) {
  TempDirectory directory;
  AsioLoop loop("trouble");
  ASSERT_TRUE(RocksStore::open(options_for(directory.path), loop).ok());
  fs::remove(directory.path + "/rows/LOCK");
  fs::create_directory(directory.path + "/rows/LOCK");
  auto store = RocksStore::open(options_for(directory.path), loop);
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("Leave the directory where it is"), std::string::npos)
      << store.error().message;
}

TEST(RocksStore, ADamagedCheckpointIsRefusedWithWhatToDo) {
  TempDirectory directory;
  AsioLoop loop("damage");
  {
    auto store = RocksStore::open(options_for(directory.path), loop);
    ASSERT_TRUE(store.ok());
    loop.run([&] { (*store)->rows().put(TableId{1}, 1, "k", "row"); });
    ASSERT_TRUE(save(loop, **store, {checkpoint_at(5)}).ok());
  }
  for (const auto& file : fs::directory_iterator(directory.path + "/rows")) {
    if (file.path().extension() == ".sst") fs::resize_file(file.path(), file.file_size() / 2);
  }
  auto store = RocksStore::open(options_for(directory.path), loop);
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("Move the directory away"), std::string::npos)
      << store.error().message;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::g_program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (argc == 3 && std::string(argv[1]) == "--writer") tidemark::run_writer(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--full") tidemark::run_full(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--full-removal") tidemark::run_full_removal(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "--full-start") tidemark::run_full_start(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
