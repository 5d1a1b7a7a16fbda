// Wal over logs in memory, one history each. What every store must give is in contract_test.cc; random
// histories are in histories_test.cc.
#include "wal/wal.h"

#include <gtest/gtest.h>

#include "tests/simulation/virtual_scheduler.h"
#include "tests/wal/replica.h"
#include "wal/memory_log.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{1, RegionId{1}};

class WalTest : public testing::Test {
 protected:
  explicit WalTest(MemoryLogKind kind = MemoryLogKind::Kafka) : logs_(kind, world_, Random(1)) {
    store_ = logs_.connect(world_);
    store_->create(kStream, [](auto created) { EXPECT_TRUE(created.ok()); });
    world_.run();
  }

  std::unique_ptr<Log> log(LogStore& store) {
    std::unique_ptr<Log> opened;
    store.open(kStream, [&](auto log) { opened = std::move(*log); });
    world_.run_while_not([&] { return opened != nullptr; });
    return opened;
  }
  std::unique_ptr<Replica> replica(ReaderState start = {}) {
    return std::make_unique<Replica>(kStream, log(*store_), world_, start);
  }
  std::unique_ptr<Replica> owner(uint64_t version, uint64_t nonce) {
    auto made = replica();
    made->wal->open(MapVersion{version}, nonce);
    world_.run();
    return made;
  }
  void append_raw(const std::string& bytes) {
    auto raw = log(*store_);
    raw->append(bytes, [](auto) {});
    world_.run();
  }

  VirtualScheduler world_;
  MemoryLogs logs_;
  std::unique_ptr<LogStore> store_;
};

TEST_F(WalTest, AnOwnersAppendsComeInOrderToItAndToAStandby) {
  auto standby = replica();
  auto one = owner(1, 11);
  ASSERT_EQ(one->incarnation, Offset{0});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(one->wal->append(RecordKind::Body, std::to_string(i)), Offset{1u + static_cast<uint64_t>(i)});
  }
  world_.run();
  EXPECT_EQ(one->seen.size(), 101u);
  EXPECT_EQ(one->seen, standby->seen);
  EXPECT_EQ(one->states, standby->states);
  EXPECT_TRUE(one->ends.empty());
}

TEST_F(WalTest, NothingIsAppendedBeyondTheBytesInFlight) {
  auto one = std::make_unique<Replica>(kStream, log(*store_), world_, ReaderState{},
                                       WalOptions{.in_flight_bytes_max = 1000});
  one->wal->open(MapVersion{1}, 1);
  world_.run();
  int sent = 0;
  for (; one->wal->can_append(); ++sent) one->wal->append(RecordKind::Body, std::string(100, 'x'));
  EXPECT_EQ(sent, 10);
  world_.run();
  EXPECT_TRUE(one->wal->can_append());
}

TEST_F(WalTest, OpeningWithAnOlderMapWritesNothing) {
  auto one = owner(5, 1);
  auto two = owner(4, 2);
  EXPECT_EQ(two->ends, std::vector{EndReason::MapTooOld});
  EXPECT_EQ(logs_.entries(kStream).size(), 1u);
  EXPECT_TRUE(one->wal->owning());
}

TEST_F(WalTest, AFencedOwnerLearnsItByItsNextAppendAndWhatItSentIsSettled) {
  auto one = owner(1, 1);
  one->wal->append(RecordKind::Body, "counts");
  world_.run();
  auto two = owner(2, 2);
  two->wal->append(RecordKind::Body, "new");
  world_.run();
  one->wal->append(RecordKind::Body, "late");
  EXPECT_TRUE(one->wal->owning());
  world_.run();
  EXPECT_EQ(one->ends, std::vector{EndReason::Fenced});
  EXPECT_EQ(one->bodies(), (std::vector<std::string>{"counts", "new"}));
}

// The late append that lands behind a fence costs the new owner its incarnation; it opens again and is then
// left alone, since the old one finds its map too old.
TEST_F(WalTest, TwoOwnersSettleWithoutPingPong) {
  auto one = owner(1, 1);
  auto two = owner(2, 2);
  one->wal->append(RecordKind::Body, "late");
  world_.run();
  two->wal->append(RecordKind::Body, "displaced");
  world_.run();
  ASSERT_EQ(two->ends, std::vector{EndReason::Fenced});
  two->wal->open(MapVersion{2}, 3);
  one->wal->open(MapVersion{1}, 4);
  world_.run();
  EXPECT_EQ(one->ends, (std::vector{EndReason::Fenced, EndReason::MapTooOld}));
  ASSERT_TRUE(two->wal->owning());
  two->wal->append(RecordKind::Body, "counts");
  world_.run();
  EXPECT_EQ(two->bodies(), std::vector<std::string>{"counts"});
  EXPECT_EQ(one->bodies(), two->bodies());
  EXPECT_TRUE(two->wal->owning());
}

TEST_F(WalTest, AnUnknownOutcomeEndsTheIncarnationAndReadingBringsWhatCounts) {
  auto one = owner(1, 1);
  logs_.set_faults({.unknown = 1});
  one->wal->append(RecordKind::Body, "unknown");
  world_.run();
  EXPECT_EQ(one->ends, std::vector{EndReason::OutcomeUnknown});
  EXPECT_EQ(one->bodies(), std::vector<std::string>{"unknown"});
}

TEST_F(WalTest, ALostAppendVoidsWhatWasSentAfterIt) {
  auto one = owner(1, 1);
  logs_.set_faults({.lost = 1});
  one->wal->append(RecordKind::Body, "lost");
  logs_.set_faults({});
  one->wal->append(RecordKind::Body, "displaced");
  world_.run();
  EXPECT_FALSE(one->wal->owning());
  EXPECT_TRUE(one->bodies().empty());
  one->wal->open(MapVersion{1}, 2);
  world_.run();
  one->wal->append(RecordKind::Body, "again");
  world_.run();
  EXPECT_EQ(one->bodies(), std::vector<std::string>{"again"});
}

TEST_F(WalTest, AReportWithTheOffsetOfACopyAcknowledgesNothingTwice) {
  auto one = owner(1, 1);
  logs_.set_faults({.duplicate_reported = 1});
  one->wal->append(RecordKind::Body, "twice");
  world_.run();
  EXPECT_EQ(logs_.entries(kStream).size(), 3u);
  EXPECT_EQ(one->ends, std::vector{EndReason::Fenced});
  EXPECT_EQ(one->bodies(), std::vector<std::string>{"twice"});
}

// A log whose reports of appends come when the test says so, in any order.
class HeldReports : public Log {
 public:
  explicit HeldReports(std::unique_ptr<Log> log) : log_(std::move(log)) {}
  void append(std::string bytes, AppendDone done) override {
    if (!holds) return log_->append(std::move(bytes), std::move(done));
    log_->append(std::move(bytes), [this, done = std::move(done), at = reports.size()](auto outcome) {
      reports[at] = [done, outcome] { done(outcome); };
    });
    reports.emplace_back();
  }
  void bounds(std::function<void(Result<Bounds, LogFailure>)> done) override {
    log_->bounds(std::move(done));
  }
  std::unique_ptr<LogReader> read(Offset from) override { return log_->read(from); }
  void trim(Offset begin, std::function<void(Result<void, LogFailure>)> done) override {
    log_->trim(begin, std::move(done));
  }

  bool holds = false;
  std::vector<std::function<void()>> reports;

 private:
  std::unique_ptr<Log> log_;
};

// The second of three appends is lost, and a copy of the first lies in its place: the third lies where it
// expects to, and does not count.
TEST_F(WalTest, NothingIsAcknowledgedBeforeWhatWasSentEarlier) {
  auto log = std::make_unique<HeldReports>(this->log(*store_));
  HeldReports& held = *log;
  Replica one(kStream, std::move(log), world_);
  one.wal->open(MapVersion{1}, 1);
  world_.run();
  held.holds = true;
  logs_.set_faults({.duplicate = 1});
  one.wal->append(RecordKind::Body, "first");
  world_.run();
  logs_.set_faults({.lost = 1});
  one.wal->append(RecordKind::Body, "lost");
  world_.run();
  logs_.set_faults({});
  one.wal->append(RecordKind::Body, "third");
  world_.run();
  ASSERT_EQ(logs_.entries(kStream).size(), 4u);
  held.reports[2]();
  EXPECT_TRUE(one.bodies().empty());
  held.reports[0]();
  EXPECT_EQ(one.bodies(), std::vector<std::string>{"first"});
  held.reports[1]();
  world_.run();
  EXPECT_EQ(one.ends, std::vector{EndReason::OutcomeUnknown});
  EXPECT_EQ(one.bodies(), std::vector<std::string>{"first"});
}

TEST_F(WalTest, AFenceThatWasWrittenTwiceOpensOnce) {
  logs_.set_faults({.duplicate = 1});
  auto one = replica();
  one->wal->open(MapVersion{1}, 1);
  world_.run_while_not([&] { return one->incarnation.has_value(); });
  logs_.set_faults({});
  world_.run();  // The copy lands.
  one->wal->append(RecordKind::Body, "displaced");
  world_.run();
  EXPECT_EQ(one->ends, std::vector{EndReason::Fenced});
  EXPECT_TRUE(one->bodies().empty());
}

TEST_F(WalTest, NothingIsAppendedAfterASeal) {
  auto one = owner(1, 1);
  one->wal->append(RecordKind::Seal, "children");
  EXPECT_FALSE(one->wal->can_append());
  world_.run();
  EXPECT_EQ(one->ends, std::vector{EndReason::Sealed});
  one->wal->open(MapVersion{2}, 2);
  world_.run();
  EXPECT_EQ(one->ends, (std::vector{EndReason::Sealed, EndReason::Sealed}));
  EXPECT_EQ(logs_.entries(kStream).size(), 2u);
}

TEST_F(WalTest, StoppingGivesUpTheIncarnation) {
  auto one = owner(1, 1);
  one->wal->append(RecordKind::Body, "on its way");
  one->wal->stop_owning();
  EXPECT_FALSE(one->wal->owning());
  EXPECT_TRUE(one->ends.empty());  // Never from inside a call.
  world_.run();
  EXPECT_EQ(one->ends, std::vector{EndReason::Stopped});
  EXPECT_EQ(one->bodies(), std::vector<std::string>{"on its way"});
}

TEST_F(WalTest, AStoreThatIsAwayIsWaitedForAndSaidToBe) {
  auto there = log(*store_);
  logs_.set_available(false);
  Replica one(kStream, std::move(there), world_);
  one.wal->open(MapVersion{1}, 1);
  world_.run_until(Micros{world_.now().value + 1'000'000});
  EXPECT_EQ(one.waits, std::vector<std::string>{"the log store does not answer"});
  logs_.set_available(true);
  ASSERT_TRUE(world_.run_while_not([&] { return one.incarnation.has_value(); }));
}

TEST_F(WalTest, ALogThatEndsBeforeTheCheckpointIsRefused) {
  auto one = owner(1, 1);
  auto late = replica({.next = Offset{2}, .incarnation = Offset{0}, .fence_version = MapVersion{1}});
  world_.run();
  ASSERT_TRUE(late->failed.has_value());
  EXPECT_EQ(late->failed->code, LogError::Refused);
  EXPECT_NE(late->failed->message.find("ends at offset 1, before the checkpoint at 2"), std::string::npos)
      << late->failed->message;
}

TEST_F(WalTest, ALogThatBeginsAfterTheCheckpointIsTrimmed) {
  auto one = owner(1, 1);
  for (int i = 0; i < 5; ++i) one->wal->append(RecordKind::Body, "x");
  world_.run();
  const ReaderState checkpoint = one->states[2];
  one->wal->trim(Offset{4});
  world_.run();
  auto late = replica(checkpoint);
  world_.run();
  ASSERT_TRUE(late->failed.has_value());
  EXPECT_EQ(late->failed->code, LogError::Trimmed);
}

TEST_F(WalTest, AnotherStreamsRecordIsRefused) {
  auto one = owner(1, 1);
  append_raw(encode_record({.kind = RecordKind::Fence, .stream = {1, RegionId{2}}}, ""));
  auto two = replica();
  world_.run();
  ASSERT_TRUE(two->failed.has_value());
  EXPECT_EQ(two->failed->code, LogError::Refused);
  EXPECT_NE(two->failed->message.find("belongs to stream 0000000000000001-2"), std::string::npos);
}

TEST_F(WalTest, DamageIsRefusedWithItsOffset) {
  auto one = owner(1, 1);
  append_raw("garbage");
  auto two = replica();
  two->wal->open(MapVersion{2}, 2);
  world_.run();
  ASSERT_TRUE(two->failed.has_value());
  EXPECT_NE(two->failed->message.find("offset 1: not a WAL record"), std::string::npos)
      << two->failed->message;
  EXPECT_EQ(two->ends, std::vector{EndReason::OutcomeUnknown});
}

TEST_F(WalTest, AnyReaderMayStartAnywhereWithTheStateThere) {
  auto one = owner(1, 1);
  one->wal->append(RecordKind::Body, "a");
  world_.run();
  append_raw(encode_record({.kind = RecordKind::Body, .stream = kStream, .incarnation = Offset{9}}, "void"));
  auto two = owner(2, 2);
  two->wal->append(RecordKind::Body, "b");
  world_.run();
  ASSERT_EQ(two->wal->state().next, Offset{5});
  ReaderRule rule(kStream);
  for (const LogEntry& entry : logs_.entries(kStream)) {
    EXPECT_EQ(two->wal->state_at(entry.offset), rule.state()) << entry.offset;
    EXPECT_TRUE(rule.step(*decode_record_header(entry.bytes)).ok());
  }
  EXPECT_EQ(two->wal->state_at(Offset{5}), rule.state());
}

// The listener may do anything from inside a callback.
class Destroyer : public Replica {
 public:
  using Replica::Replica;
  void on_opened(Offset at) override {
    Replica::on_opened(at);
    wal->append(RecordKind::Body, "x");
  }
  void on_record(Offset at, const WalRecord& record, const ReaderState& state) override {
    Replica::on_record(at, record, state);
    if (record.header.kind == RecordKind::Body) wal.reset();
  }
};
TEST_F(WalTest, TheListenerMayDestroyTheWal) {
  Destroyer one(kStream, log(*store_), world_);
  one.wal->open(MapVersion{1}, 1);
  world_.run();
  EXPECT_EQ(one.wal, nullptr);
  EXPECT_EQ(one.bodies().size(), 1u);
}

class DiskTest : public WalTest {
 protected:
  DiskTest() : WalTest(MemoryLogKind::Disk) {}

  // The machine stops in the middle of appends, many times: what the owner, or else a standby, had seen by
  // then must be there afterwards.
  void expect_seen_outlives_crashes(bool by_standby) {
    for (uint64_t nonce = 1; nonce <= 50; ++nonce) {
      auto one = owner(1, nonce);
      ASSERT_TRUE(one->wal->owning());
      auto standby = by_standby ? replica() : nullptr;
      for (uint64_t i = 0; i < 20; ++i) one->wal->append(RecordKind::Body, std::to_string(nonce * 100 + i));
      for (int i = 0; i < 25; ++i) world_.run_one();
      const auto seen = (by_standby ? standby : one)->bodies();
      standby.reset();
      one.reset();
      store_.reset();
      logs_.crash();
      store_ = logs_.connect(world_);
      auto after = replica();
      world_.run();
      const auto there = after->bodies();
      ASSERT_GE(there.size(), seen.size());
      EXPECT_TRUE(std::equal(seen.begin(), seen.end(), there.begin()));
    }
    EXPECT_GT(logs_.counters().crash_lost, 0u);
    EXPECT_GT(logs_.counters().crash_kept, 0u);
    EXPECT_GT(logs_.counters().torn, 0u);
  }
};

TEST_F(DiskTest, ACrashLosesOnlyWhatWasNotAcknowledged) {
  expect_seen_outlives_crashes(false);
}

TEST_F(DiskTest, WhatAReaderHasSeenOutlivesACrash) {
  expect_seen_outlives_crashes(true);
}

TEST_F(DiskTest, AFullDiskIsWaitedForAndNothingIsLost) {
  auto one = owner(1, 1);
  one->wal->append(RecordKind::Body, "before");
  world_.run();
  logs_.set_faults({.full = 1});
  one->wal->append(RecordKind::Body, "no room");
  world_.run();
  ASSERT_EQ(one->ends, std::vector{EndReason::OutcomeUnknown});
  one->wal->open(MapVersion{1}, 2);
  world_.run_until(Micros{world_.now().value + 1'000'000});
  EXPECT_EQ(one->waits, std::vector<std::string>{"no room on the disk"});
  logs_.set_faults({});
  ASSERT_TRUE(world_.run_while_not([&] { return one->wal->owning(); }));
  one->wal->append(RecordKind::Body, "after");
  world_.run();
  EXPECT_EQ(one->bodies(), (std::vector<std::string>{"before", "after"}));
}

TEST_F(WalTest, WhileReadingIsHeldNothingMoreIsBroughtAndThenAllOfIt) {
  auto one = owner(1, 11);
  auto standby = replica();
  auto late = replica();
  late->wal->hold_reading(true);  // Before it has read anything.
  world_.run();
  EXPECT_EQ(standby->seen, one->seen);
  EXPECT_TRUE(late->seen.empty());
  standby->wal->hold_reading(true);
  one->wal->append(RecordKind::Body, "asked for before");
  world_.run();
  const size_t before = standby->seen.size();
  for (int i = 0; i < 10; ++i) one->wal->append(RecordKind::Body, std::to_string(i));
  world_.run();
  EXPECT_EQ(standby->seen.size(), before);
  EXPECT_TRUE(late->seen.empty());
  for (Replica* held : {standby.get(), late.get()}) {
    held->wal->hold_reading(false);
    world_.run();
    EXPECT_EQ(held->seen, one->seen);
  }
}

TEST_F(WalTest, AnOpeningWaitsWhileReadingIsHeld) {
  auto one = owner(1, 11);
  for (int i = 0; i < 10; ++i) one->wal->append(RecordKind::Body, std::to_string(i));
  world_.run();
  auto next = replica();
  next->wal->hold_reading(true);
  next->wal->open(MapVersion{2}, 12);
  world_.run();
  EXPECT_TRUE(next->seen.empty());
  EXPECT_FALSE(next->incarnation.has_value());
  next->wal->hold_reading(false);
  world_.run();
  EXPECT_TRUE(next->incarnation.has_value());
  EXPECT_EQ(next->bodies().size(), 10u);
}

}  // namespace
}  // namespace tidemark
