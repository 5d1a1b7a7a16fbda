// kill -9 of a process that writes a file log, again and again: what it had acknowledged is there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "tests/wal/replica.h"
#include "tests/wal/temporary_directory.h"
#include "tests/wal/test_loop.h"
#include "wal/file_log.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{1, RegionId{1}};

// Bodies are numbered from 0 over all processes; one that is acknowledged is told by its number.
class Writer : public Replica {
 public:
  Writer(std::unique_ptr<Log> log, Scheduler& loop, int told)
      : Replica(kStream, std::move(log), loop), told_(told) {}

  void on_opened(Offset at) override {
    Replica::on_opened(at);
    next_ = bodies().size();
    for (int i = 0; i < 8; ++i) send();
  }
  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    Replica::on_record(at, record, state);
    if (!wal->owning() || record.header.kind != RecordKind::Body) return;
    const uint64_t number = std::strtoull(record.payload.c_str(), nullptr, 10);
    if (::write(told_, &number, sizeof number) != sizeof number) ::_exit(2);
    send();
  }

 private:
  void send() {
    wal->append(RecordKind::Body, std::to_string(next_) + " " + std::string(next_ * 37 % 5000, 'x'));
    ++next_;
  }
  int told_;
  uint64_t next_ = 0;
};

std::unique_ptr<Log> open_log(LogStore& store, TestLoop& loop) {
  std::unique_ptr<Log> log;
  store.create(kStream, [](auto) {});
  store.open(kStream, [&](auto opened) { log = std::move(*opened); });
  loop.run_until([&] { return log != nullptr; });
  return log;
}

[[noreturn]] void write_until_killed(const std::filesystem::path& directory, int told) {
  TestLoop loop;
  auto logs = std::move(*FileLogs::open({directory, {.segment_bytes = 50'000}}));
  auto store = logs->connect(loop);
  Writer writer(open_log(*store, loop), loop, told);
  writer.wal->open(MapVersion{1}, static_cast<uint64_t>(::getpid()));
  while (true) loop.run_for(std::chrono::seconds(60));
}

TEST(FileLogCrash, WhatAKilledProcessHadAcknowledgedIsThere) {
  TemporaryDirectory directory;
  uint64_t acknowledged = 0;  // One past the highest number.
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(directory.path() / "logs", ends[1]);
    ::close(ends[1]);
    uint64_t number = 0;
    for (int i = 0; i < 30 + round * 17; ++i) {
      ASSERT_EQ(::read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    }
    ::kill(child, SIGKILL);
    while (::read(ends[0], &number, sizeof number) > 0) acknowledged = number + 1;
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);

    TestLoop loop;
    auto logs = std::move(*FileLogs::open({directory.path() / "logs", {}}));
    auto store = logs->connect(loop);
    Replica reader(kStream, open_log(*store, loop), loop);
    ASSERT_TRUE(loop.run_until([&] { return reader.caught_up.has_value(); }));
    const auto bodies = reader.bodies();
    ASSERT_GE(bodies.size(), acknowledged);
    for (size_t i = 0; i < bodies.size(); ++i) {
      ASSERT_EQ(bodies[i].substr(0, bodies[i].find(' ')), std::to_string(i));
    }
    reader.wal.reset();
    store.reset();
  }
  EXPECT_GT(acknowledged, 1000u);
}

}  // namespace
}  // namespace tidemark
