// Logs in files: recovery, refusals, locks, and a disk that fails.
#include "wal/file_log.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "tests/wal/disk_faults.h"
#include "tests/wal/replica.h"
#include "tests/wal/temporary_directory.h"
#include "tests/wal/test_loop.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
constexpr StreamId kStream{1, RegionId{1}};

class FileLogTest : public testing::Test {
 protected:
  ~FileLogTest() override {
    disk_faults::fail_writes(0);
    disk_faults::fail_syncs(0);
    disk_faults::hold_syncs(false);
    close();
  }

  fs::path directory() const { return directory_.path() / "logs"; }
  fs::path stream_directory() const { return directory() / stream_name(kStream); }
  std::vector<fs::path> segments() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(stream_directory())) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  FileLogsOptions options(FileAccess access = FileAccess::ReadWrite) {
    return {directory(), {.segment_bytes = 4000, .access = access, .notice = [this](const std::string& what) {
                            notices_.push_back(what);
                          }}};
  }
  void open_store(FileAccess access = FileAccess::ReadWrite) {
    auto opened = FileLogs::open(options(access));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    logs_ = std::move(*opened);
    store_ = logs_->connect(loop_);
  }
  void create() {
    bool created = false;
    store_->create(kStream, [&](auto done) { created = done.ok(); });
    ASSERT_TRUE(loop_.run_until([&] { return created; }));
  }
  Result<std::unique_ptr<Log>, LogFailure> open_log() {
    std::optional<Result<std::unique_ptr<Log>, LogFailure>> outcome;
    store_->open(kStream, [&](auto opened) { outcome.emplace(std::move(opened)); });
    EXPECT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
    return std::move(*outcome);
  }
  Result<Offset, LogFailure> append(const std::string& bytes) {
    std::optional<Result<Offset, LogFailure>> outcome;
    log_->append(bytes, [&](auto at) { outcome = at; });
    EXPECT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
    return *outcome;
  }
  std::vector<std::string> read_all() {
    std::optional<Log::Bounds> bounds;
    log_->bounds([&](auto found) { bounds = *found; });
    loop_.run_until([&] { return bounds.has_value(); });
    std::vector<std::string> all;
    const auto reader = log_->read(bounds->begin);
    while (all.size() < bounds->end.value - bounds->begin.value) {
      bool done = false;
      reader->next(1 << 20, [&](auto read) {
        ASSERT_TRUE(read.ok()) << read.error().message;
        for (auto& entry : *read) all.push_back(entry.bytes);
        done = true;
      });
      if (!loop_.run_until([&] { return done; })) return all;
    }
    return all;
  }
  void close() {
    log_.reset();
    store_.reset();
    logs_.reset();
  }
  // A stream with `count` entries of about 100 bytes, each a group of its own.
  void fill(int count) {
    open_store();
    create();
    log_ = *open_log();
    for (int i = 0; i < count; ++i) ASSERT_TRUE(append(entry(i)).ok());
    close();
  }
  static std::string entry(int i) { return std::to_string(i) + std::string(100, 'e'); }

  static std::string slurp(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void spill(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string refusal() {
    open_store();
    const auto opened = open_log();
    close();
    if (opened.ok()) return "not refused";
    EXPECT_EQ(opened.error().code, LogError::Refused);
    return opened.error().message;
  }

  TemporaryDirectory directory_;
  TestLoop loop_;
  std::vector<std::string> notices_;
  std::unique_ptr<FileLogs> logs_;
  std::unique_ptr<LogStore> store_;
  std::unique_ptr<Log> log_;
};

// The index is sparse: the largest entry comes whole, whatever lies between it and where reading begins.
TEST_F(FileLogTest, AReaderMayStartAtTheLargestEntry) {
  logs_ = std::move(*FileLogs::open({directory()}));
  store_ = logs_->connect(loop_);
  create();
  log_ = *open_log();
  const std::string largest(kLogEntryBytesMax, 'b');
  ASSERT_TRUE(append(std::string(60'000, 'a')).ok());
  ASSERT_TRUE(append(largest).ok());
  const auto reader = log_->read(Offset{1});
  std::string read;
  reader->next(1 << 20, [&](auto entries) {
    ASSERT_TRUE(entries.ok()) << entries.error().message;
    read = entries->front().bytes;
  });
  ASSERT_TRUE(loop_.run_until([&] { return !read.empty(); }));
  EXPECT_TRUE(read == largest);
}

TEST_F(FileLogTest, ATornTailIsCutAndSaid) {
  fill(10);
  const std::string whole = slurp(segments().back());
  spill(segments().back(), whole.substr(0, whole.size() - 7));
  open_store();
  log_ = *open_log();
  EXPECT_EQ(read_all().size(), 9u);
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_NE(notices_[0].find("cut off a torn tail of 126 bytes"), std::string::npos) << notices_[0];
  EXPECT_EQ(*append("again"), Offset{9});
  close();
  open_store();
  log_ = *open_log();
  EXPECT_EQ(read_all().back(), "again");
}

TEST_F(FileLogTest, DamageIsRefusedWithFileAndByte) {
  fill(100);
  ASSERT_GT(segments().size(), 2u);
  const auto path = segments()[1];
  std::string bytes = slurp(path);
  bytes[kSegmentHeaderBytes + 50] ^= 1;
  spill(path, bytes);
  EXPECT_NE(refusal().find(path.string() + ", byte 40: damaged: no sound entry"), std::string::npos)
      << refusal();
}

TEST_F(FileLogTest, DamageInTheLastSegmentBeforeItsEndIsRefusedToo) {
  fill(10);
  const auto path = segments().back();
  std::string bytes = slurp(path);
  bytes[kSegmentHeaderBytes + 50] ^= 1;
  spill(path, bytes);
  EXPECT_NE(refusal().find("byte 40: damaged"), std::string::npos) << refusal();
}

TEST_F(FileLogTest, AShortSegmentThatIsNotTheLastIsRefused) {
  fill(100);
  const auto path = segments()[1];
  const std::string bytes = slurp(path);
  spill(path, bytes.substr(0, bytes.size() - 1));
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
}

TEST_F(FileLogTest, AMissingSegmentIsRefused) {
  fill(100);
  fs::remove(segments()[1]);
  EXPECT_NE(refusal().find("but the segment before ends at"), std::string::npos) << refusal();
}

TEST_F(FileLogTest, AStreamWithoutSegmentsIsRefused) {
  fill(1);
  fs::remove(segments()[0]);
  EXPECT_NE(refusal().find("there is no segment in it"), std::string::npos) << refusal();
}

TEST_F(FileLogTest, DamageThatComesWhileItIsOpenIsRefusedByTheReader) {
  fill(10);
  open_store();
  log_ = *open_log();
  std::string bytes = slurp(segments().back());
  bytes[kSegmentHeaderBytes + 50] ^= 1;
  spill(segments().back(), bytes);
  const auto reader = log_->read(Offset{0});
  std::optional<LogFailure> failure;
  reader->next(1 << 20, [&](auto read) { failure = read.error(); });
  ASSERT_TRUE(loop_.run_until([&] { return failure.has_value(); }));
  EXPECT_EQ(failure->code, LogError::Refused);
  EXPECT_NE(failure->message.find("byte 40: damaged"), std::string::npos) << failure->message;
}

TEST_F(FileLogTest, TwoProcessesNeverWriteOneStore) {
  open_store();
  const auto second = FileLogs::open(options());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(
      second.error().message.find("another process (pid " + std::to_string(::getpid()) + ") uses these logs"),
      std::string::npos)
      << second.error().message;
}

TEST_F(FileLogTest, AnotherProcessReadsWhatIsDurableForCertain) {
  open_store();
  create();
  log_ = *open_log();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(entry(i)).ok());

  auto reader = std::move(*FileLogs::open(options(FileAccess::ReadOnly)));
  EXPECT_EQ(reader->access(), FileAccess::ReadOnlyDurable);
  auto writer_log = std::exchange(log_, nullptr);
  auto writer_store = std::exchange(store_, reader->connect(loop_));
  log_ = *open_log();
  EXPECT_EQ(read_all().size(), 4u);  // Nothing after the fifth tells that it was synced.
  EXPECT_EQ(append("x").error().code, LogError::Refused);
  log_.reset();
  store_.reset();
  reader.reset();
  writer_log.reset();
  writer_store.reset();
  close();

  open_store(FileAccess::ReadOnly);
  EXPECT_EQ(logs_->access(), FileAccess::ReadOnly);
  log_ = *open_log();
  EXPECT_EQ(read_all().size(), 5u);
}

TEST_F(FileLogTest, ADirectoryThatCanNotBeWrittenIsSaidSo) {
  ASSERT_EQ(fs::create_directory(directory()), true);
  fs::permissions(directory_.path(), fs::perms::all);
  fs::permissions(directory(), fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                                   fs::perms::others_exec);
  // Permissions do not bind root.
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(9);
        const auto opened = FileLogs::open(options());
        std::fprintf(stderr, "%s\n", opened.ok() ? "opened" : opened.error().message.c_str());
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "LOCK: can not create: Permission denied");
}

TEST_F(FileLogTest, AFullDiskFailsAppendsAndLeavesNothingBehind) {
  open_store();
  create();
  log_ = *open_log();
  ASSERT_TRUE(append("before").ok());
  const auto size = fs::file_size(segments().back());
  disk_faults::fail_writes(ENOSPC);
  const auto failed = append(std::string(1000, 'n'));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, LogError::Unavailable);
  EXPECT_NE(failed.error().message.find("No space left on device"), std::string::npos)
      << failed.error().message;
  EXPECT_EQ(fs::file_size(segments().back()), size);
  disk_faults::fail_writes(0);
  EXPECT_EQ(*append("after"), Offset{1});
  close();
  open_store();
  log_ = *open_log();
  EXPECT_EQ(read_all(), (std::vector<std::string>{"before", "after"}));
}

// The same with a real file system that is full, where the test may mount one.
TEST_F(FileLogTest, AnOwnerWaitsForRoomOnAFullFileSystemAndSaysSo) {
  fs::create_directory(directory());
  if (::mount("tmpfs", directory().c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "needs the right to mount; the test above covers the code";
  }
  {
    open_store();
    create();
    Replica owner(kStream, *open_log(), loop_, {}, {.retry_delay = Micros{5000}});
    owner.wal->open(MapVersion{1}, 1);
    EXPECT_TRUE(loop_.run_until([&] { return owner.wal->owning(); }));
    spill(directory() / "ballast", std::string(200'000, 'b'));
    std::mt19937 random(1);
    std::string payload(3000, '\0');
    for (char& byte : payload) byte = static_cast<char>(random());
    while (owner.ends.empty()) {
      const size_t seen = owner.seen.size();
      owner.wal->append(RecordKind::Body, payload);
      EXPECT_TRUE(loop_.run_until([&] { return owner.seen.size() > seen || !owner.ends.empty(); }));
    }
    EXPECT_EQ(owner.ends, std::vector{EndReason::OutcomeUnknown});
    spill(directory() / "more", std::string(200'000, 'b'));  // Whatever room is left.
    const size_t acknowledged = owner.bodies().size();
    owner.wal->open(MapVersion{1}, 2);
    EXPECT_TRUE(loop_.run_until([&] { return !owner.waits.empty() || owner.wal->owning(); }));
    EXPECT_FALSE(owner.wal->owning());
    EXPECT_NE(owner.waits.at(0).find("No space left on device"), std::string::npos) << owner.waits.at(0);
    fs::remove(directory() / "more");
    fs::remove(directory() / "ballast");
    EXPECT_TRUE(loop_.run_until([&] { return owner.wal->owning(); }));
    owner.wal->append(RecordKind::Body, "room again");
    EXPECT_TRUE(loop_.run_until([&] { return owner.bodies().back() == "room again"; }));
    EXPECT_EQ(owner.bodies().size(), acknowledged + 1);
    owner.wal.reset();
    close();
  }
  EXPECT_EQ(::umount(directory().c_str()), 0);
}

TEST_F(FileLogTest, AFailedSyncEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // What dies is a new process with a directory of its own, which it leaves behind: inside of this one.
  const fs::path before = fs::temp_directory_path();
  ::setenv("TMPDIR", directory_.path().c_str(), 1);
  EXPECT_EXIT(
      {
        open_store();
        create();
        log_ = *open_log();
        disk_faults::fail_syncs(EIO);
        std::ignore = append("x");
        ::_exit(0);
      },
      testing::ExitedWithCode(74), "can not sync: Input/output error; the log can not be trusted further");
  ::setenv("TMPDIR", before.c_str(), 1);
}

// After a failed sync the kernel takes the pages for clean: they are read as if they were on the disk, and no
// further sync writes them. So recovery has to.
TEST_F(FileLogTest, WhatAFailedSyncMayHaveLeftInThePageCacheIsWrittenAgainBeforeItIsServed) {
  fill(100);
  const auto path = segments().back();
  std::string bytes = slurp(path);
  const uint64_t durable = bytes.size();
  const std::string left = "left by a process that ended";
  bytes += encode_entry_header(Offset{100}, durable, left) + left;
  spill(path, bytes);
  ASSERT_FALSE(disk_faults::wrote_durably(path, durable, bytes.size()));
  open_store();
  log_ = *open_log();
  EXPECT_TRUE(disk_faults::wrote_durably(path, durable, bytes.size()));
  EXPECT_EQ(read_all().back(), left);
  EXPECT_EQ(slurp(path), bytes);
}

// The power goes while appends are in flight: of each file stays what was synced, and of the rest whatever
// the disk had got round to.
TEST_F(FileLogTest, APowerCutLosesNothingAcknowledged) {
  std::mt19937 random(5);
  open_store();
  create();
  log_ = *open_log();
  uint64_t sent = 0;
  uint64_t acknowledged = 0;
  std::function<void()> send = [&] {
    const uint64_t id = sent++;
    log_->append(std::to_string(id) + " " + std::string(random() % 500, 'p'), [&](auto at) {
      ASSERT_TRUE(at.ok());
      acknowledged = at->value + 1;
      send();
    });
  };
  for (int i = 0; i < 16; ++i) send();
  size_t torn = 0;
  for (int cut = 0; cut < 40; ++cut) {
    const uint64_t goal = acknowledged + random() % 40;
    ASSERT_TRUE(loop_.run_until([&] { return acknowledged >= goal; }));
    disk_faults::hold_syncs(true);
    ASSERT_TRUE(loop_.run_until([] { return disk_faults::holds_a_sync(); }));
    const uint64_t promised = acknowledged;
    const auto synced = disk_faults::synced_sizes();
    const auto files = segments();
    TemporaryDirectory copy;
    const auto after = copy.path() / stream_name(kStream);
    fs::create_directory(after);
    for (const auto& file : files) {
      if (!parse_segment_file_name(file.filename().string()).has_value()) continue;
      std::string bytes = slurp(file);
      // A rolled segment was synced under the name that it had as a draft.
      const auto found = synced.find(file);
      const size_t safe =
          std::min<size_t>(found == synced.end() ? kSegmentHeaderBytes : found->second, bytes.size());
      bytes.resize(safe + (bytes.size() > safe ? random() % (bytes.size() - safe + 1) : 0));
      for (size_t at = safe; at + 64 < bytes.size(); at += 64) {
        if (random() % 4 == 0) std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), 64, '\0');
      }
      spill(after / file.filename(), bytes);
    }
    disk_faults::hold_syncs(false);
    std::vector<std::string> said;
    const auto recovered = FileStream::recover(
        after, kStream, {.notice = [&](const std::string& what) { said.push_back(what); }});
    ASSERT_TRUE(recovered.ok()) << recovered.error().message;
    torn += said.size();
    ASSERT_GE((*recovered)->bounds().end.value, promised);
    FileStream::Cursor cursor;
    while (cursor.next < (*recovered)->bounds().end) {
      const auto entries = (*recovered)->read(cursor, 1 << 20);
      ASSERT_TRUE(entries.ok()) << entries.error().message;
      for (const LogEntry& found : *entries) {
        ASSERT_EQ(found.bytes.substr(0, found.bytes.find(' ')), std::to_string(found.offset.value));
      }
    }
  }
  EXPECT_GT(torn, 0u);
  send = [] {};
  ASSERT_TRUE(loop_.run_until([&] { return acknowledged == sent; }));
}

}  // namespace
}  // namespace tidemark
