#include <random>

#include "tests/wal/contract.h"
#include "tests/wal/replica.h"

namespace tidemark {

StreamId LogContract::new_stream() {
  static uint64_t cluster = std::random_device{}();
  static uint64_t region = 0;
  const StreamId stream{cluster, RegionId{++region}};
  EXPECT_TRUE(create(stream).ok());
  return stream;
}

Result<void, LogFailure> LogContract::create(StreamId stream) {
  std::optional<Result<void, LogFailure>> outcome;
  store_->create(stream, [&](auto created) { outcome = created; });
  EXPECT_TRUE(environment_->run_until([&] { return outcome.has_value(); }));
  return *outcome;
}

Result<void, LogFailure> LogContract::remove(StreamId stream) {
  std::optional<Result<void, LogFailure>> outcome;
  store_->remove(stream, [&](auto removed) { outcome = removed; });
  EXPECT_TRUE(environment_->run_until([&] { return outcome.has_value(); }));
  return *outcome;
}

std::unique_ptr<Log> LogContract::open(StreamId stream) {
  std::unique_ptr<Log> log;
  std::optional<LogFailure> failure;
  store_->open(stream, [&](auto opened) {
    if (opened.ok()) {
      log = std::move(*opened);
    } else {
      failure = opened.error();
    }
  });
  EXPECT_TRUE(environment_->run_until([&] { return log != nullptr || failure.has_value(); }));
  EXPECT_FALSE(failure.has_value()) << failure->message;
  return log;
}

Result<Offset, LogFailure> LogContract::append(Log& log, const std::string& bytes) {
  std::optional<Result<Offset, LogFailure>> outcome;
  log.append(bytes, [&](auto at) { outcome = at; });
  EXPECT_TRUE(environment_->run_until([&] { return outcome.has_value(); }));
  return *outcome;
}

Log::Bounds LogContract::bounds(Log& log) {
  std::optional<Result<Log::Bounds, LogFailure>> outcome;
  log.bounds([&](auto found) { outcome = found; });
  EXPECT_TRUE(environment_->run_until([&] { return outcome.has_value(); }));
  return **outcome;
}

Result<std::vector<LogEntry>, LogFailure> LogContract::read_once(LogReader& reader, size_t bytes_max) {
  std::optional<Result<std::vector<LogEntry>, LogFailure>> outcome;
  reader.next(bytes_max, [&](auto read) { outcome = std::move(read); });
  EXPECT_TRUE(environment_->run_until([&] { return outcome.has_value(); }));
  return std::move(*outcome);
}

std::vector<LogEntry> LogContract::read(Log& log, Offset from, size_t count, size_t bytes_max) {
  std::vector<LogEntry> all;
  const auto reader = log.read(from);
  while (all.size() < count) {
    auto some = read_once(*reader, bytes_max);
    if (!some.ok()) {
      ADD_FAILURE() << some.error().message;
      return all;
    }
    EXPECT_FALSE(some->empty());
    for (LogEntry& entry : *some) all.push_back(std::move(entry));
  }
  return all;
}

namespace {

TEST_P(LogContract, CreatingAndRemovingTwiceIsCreatingAndRemoving) {
  const StreamId stream = new_stream();
  EXPECT_TRUE(create(stream).ok());
  EXPECT_TRUE(remove(stream).ok());
  EXPECT_TRUE(remove(stream).ok());
}

TEST_P(LogContract, AStreamThatIsNotThereIsRefused) {
  std::optional<LogFailure> failure;
  store_->open({1, RegionId{999'999}}, [&](auto opened) {
    ASSERT_FALSE(opened.ok());
    failure = opened.error();
  });
  run_until([&] { return failure.has_value(); });
  EXPECT_EQ(failure->code, LogError::Refused);
  EXPECT_NE(failure->message.find("0000000000000001-999999 does not exist"), std::string::npos)
      << failure->message;
}

TEST_P(LogContract, PipelinedAppendsLandDenselyInOrder) {
  auto log = open(new_stream());
  EXPECT_EQ(bounds(*log).end, Offset{0});
  std::vector<Offset> landed;
  for (int i = 0; i < 500; ++i) {
    log->append("entry " + std::to_string(i), [&](auto at) { landed.push_back(*at); });
  }
  EXPECT_TRUE(landed.empty());  // Never from inside the call.
  run_until([&] { return landed.size() == 500; });
  std::sort(landed.begin(), landed.end());
  for (size_t i = 0; i < landed.size(); ++i) EXPECT_EQ(landed[i], Offset{i});
  const auto entries = read(*log, Offset{0}, 500);
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].offset, Offset{i});
    EXPECT_EQ(entries[i].bytes, "entry " + std::to_string(i));
  }
  EXPECT_EQ(bounds(*log).end, Offset{500});
}

TEST_P(LogContract, EntriesOfEverySizeComeBackWhole) {
  auto log = open(new_stream());
  std::mt19937 random(1);
  std::vector<std::string> written;
  for (const size_t size : {size_t{1}, size_t{100}, size_t{4096}, size_t{65'536}, size_t{300'000},
                            kLogEntryBytesMax, size_t{2}, kLogEntryBytesMax}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ASSERT_TRUE(append(*log, bytes).ok());
    written.push_back(std::move(bytes));
  }
  for (const size_t bytes_max : {size_t{1}, size_t{1} << 20}) {
    const auto entries = read(*log, Offset{0}, written.size(), bytes_max);
    ASSERT_EQ(entries.size(), written.size());
    for (size_t i = 0; i < written.size(); ++i) EXPECT_TRUE(entries[i].bytes == written[i]) << i;
  }
  const auto reader = log->read(Offset{0});
  EXPECT_EQ(read_once(*reader, 1)->size(), 1u);  // Never none.
}

TEST_P(LogContract, AReaderMayStartAnywhere) {
  auto log = open(new_stream());
  int landed = 0;
  for (int i = 0; i < 300; ++i) {
    log->append(std::to_string(i) + std::string(1000, 'x'), [&](auto at) { landed += at.ok(); });
  }
  run_until([&] { return landed == 300; });
  for (const uint64_t from : {0, 1, 150, 299}) {
    const auto entries = read(*log, Offset{from}, 300 - from);
    EXPECT_EQ(entries.front().offset, Offset{from});
    EXPECT_EQ(entries.front().bytes.substr(0, entries.front().bytes.find('x')), std::to_string(from));
  }
}

TEST_P(LogContract, AReaderAtTheEndWaitsForTheNextEntry) {
  auto log = open(new_stream());
  ASSERT_TRUE(append(*log, "old").ok());
  const auto reader = log->read(Offset{1});
  std::optional<std::vector<LogEntry>> got;
  reader->next(1 << 20, [&](auto read) { got = *read; });
  environment_->run_a_while();
  EXPECT_FALSE(got.has_value());
  ASSERT_TRUE(append(*log, "new").ok());
  run_until([&] { return got.has_value(); });
  EXPECT_EQ(got->front().bytes, "new");
}

TEST_P(LogContract, WhatIsDestroyedIsNotCalledBack) {
  const StreamId stream = new_stream();
  auto log = open(stream);
  auto reader = log->read(Offset{0});
  reader->next(1 << 20, [](auto) { FAIL() << "a reader that is gone was called back"; });
  reader.reset();
  log->append("x", [](auto) { FAIL() << "a log that is gone was called back"; });
  log.reset();
  environment_->run_a_while();
  auto again = open(stream);
  environment_->run_until([&] { return bounds(*again).end == Offset{1}; });
}

TEST_P(LogContract, ACallbackMayDestroyWhatItWasAskedOf) {
  const StreamId stream = new_stream();
  auto log = open(stream);
  ASSERT_TRUE(append(*log, "x").ok());
  auto reader = log->read(Offset{0});
  bool read_done = false;
  reader->next(1 << 20, [&](auto) {
    reader.reset();
    read_done = true;
  });
  run_until([&] { return read_done; });
  bool append_done = false;
  log->append("y", [&](auto) {
    log.reset();
    append_done = true;
  });
  run_until([&] { return append_done; });
}

TEST_P(LogContract, StreamsDoNotMix) {
  auto one = open(new_stream());
  auto two = open(new_stream());
  ASSERT_EQ(*append(*one, "one"), Offset{0});
  ASSERT_EQ(*append(*two, "two"), Offset{0});
  EXPECT_EQ(read(*one, Offset{0}, 1).front().bytes, "one");
  EXPECT_EQ(read(*two, Offset{0}, 1).front().bytes, "two");
}

TEST_P(LogContract, WhatWasAcknowledgedIsThereAfterARestart) {
  const StreamId stream = new_stream();
  auto log = open(stream);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(append(*log, std::to_string(i) + std::string(5000, 'r')).ok());
  log.reset();
  store_.reset();
  environment_->restart();
  store_ = environment_->connect();
  log = open(stream);
  EXPECT_EQ(bounds(*log).end, Offset{50});
  EXPECT_EQ(read(*log, Offset{0}, 50).back().bytes.substr(0, 3), "49r");
  EXPECT_EQ(*append(*log, "more"), Offset{50});
}

TEST_P(LogContract, TrimmingDiscardsAPrefixAndOffsetsStay) {
  const StreamId stream = new_stream();
  auto log = open(stream);
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(append(*log, std::to_string(i) + std::string(5000, 't')).ok());
  bool trimmed = false;
  log->trim(Offset{40}, [&](auto done) { trimmed = done.ok(); });
  run_until([&] { return trimmed; });
  run_until([&] { return bounds(*log).begin > Offset{0}; });
  const Log::Bounds there = bounds(*log);
  EXPECT_LE(there.begin, Offset{40});
  EXPECT_EQ(there.end, Offset{60});
  EXPECT_EQ(read(*log, Offset{40}, 20).front().bytes.substr(0, 3), "40t");
  {
    const auto reader = log->read(Offset{0});
    const auto gone = read_once(*reader);
    ASSERT_FALSE(gone.ok());
    EXPECT_EQ(gone.error().code, LogError::Trimmed) << gone.error().message;
  }
  log.reset();
  store_.reset();
  environment_->restart();
  store_ = environment_->connect();
  log = open(stream);
  EXPECT_EQ(bounds(*log).begin, there.begin);
  EXPECT_EQ(*append(*log, "next"), Offset{60});
}

// ---- the same Wal on every store ----

TEST_P(LogContract, AStandbyReadsWhatTheOwnerWrites) {
  const StreamId stream = new_stream();
  Replica standby(stream, open(stream), environment_->loop());
  Replica owner(stream, open(stream), environment_->loop());
  owner.wal->open(MapVersion{1}, 1);
  run_until([&] { return owner.wal->owning(); });
  for (int i = 0; i < 200; ++i) owner.wal->append(RecordKind::Body, std::to_string(i));
  run_until([&] { return owner.seen.size() == 201 && standby.seen.size() == 201; });
  EXPECT_EQ(owner.seen, standby.seen);
  EXPECT_EQ(owner.states, standby.states);
  owner.wal->append(RecordKind::Seal, "children");
  run_until([&] { return standby.wal->state().sealed && !owner.ends.empty(); });
  EXPECT_EQ(owner.ends, std::vector{EndReason::Sealed});
}

TEST_P(LogContract, AReplicaGoesOnFromItsCheckpointAfterARestart) {
  const StreamId stream = new_stream();
  ReaderState checkpoint;
  {
    Replica owner(stream, open(stream), environment_->loop());
    owner.wal->open(MapVersion{1}, 1);
    run_until([&] { return owner.wal->owning(); });
    for (int i = 0; i < 100; ++i)
      owner.wal->append(RecordKind::Body, std::to_string(i) + std::string(2000, 'c'));
    run_until([&] { return owner.seen.size() == 101; });
    checkpoint = owner.states[50];
  }
  store_.reset();
  environment_->restart();
  store_ = environment_->connect();
  Replica again(stream, open(stream), environment_->loop(), checkpoint);
  again.wal->open(MapVersion{1}, 2);
  run_until([&] { return again.wal->owning(); });
  EXPECT_EQ(again.bodies().size(), 50u);
  EXPECT_EQ(again.bodies().front().substr(0, 3), "50c");
  again.wal->append(RecordKind::Body, "new");
  run_until([&] { return again.bodies().back() == "new"; });
}

// The old owner has appends in flight when another opens the stream: none of those that land behind the
// fence is acknowledged or seen by anybody.
TEST_P(LogContract, NoLateAppendOfAFencedOwnerIsAcknowledgedOrSeen) {
  const StreamId stream = new_stream();
  Replica standby(stream, open(stream), environment_->loop());
  Replica old_owner(stream, open(stream), environment_->loop());
  old_owner.wal->open(MapVersion{1}, 1);
  run_until([&] { return old_owner.wal->owning(); });
  old_owner.wal->append(RecordKind::Body, "counts");
  run_until([&] { return old_owner.bodies().size() == 1; });

  auto second = environment_->connect();
  std::swap(store_, second);
  Replica new_owner(stream, open(stream), environment_->loop());
  std::swap(store_, second);
  new_owner.wal->open(MapVersion{2}, 2);
  run_until([&] { return new_owner.wal->owning(); });
  for (int i = 0; i < 20; ++i) old_owner.wal->append(RecordKind::Body, "late");
  run_until([&] { return !old_owner.ends.empty(); });
  EXPECT_EQ(old_owner.ends, std::vector{EndReason::Fenced});

  // It believes in its old map and tries again, at once; so does the new owner, once it finds itself
  // displaced. They settle.
  old_owner.wal->open(MapVersion{1}, 3);
  new_owner.wal->append(RecordKind::Body, "displaced");
  run_until([&] { return !new_owner.ends.empty() && old_owner.ends.size() == 2; });
  EXPECT_EQ(old_owner.ends.back(), EndReason::MapTooOld);
  new_owner.wal->open(MapVersion{2}, 4);
  run_until([&] { return new_owner.wal->owning(); });
  new_owner.wal->append(RecordKind::Body, "new");
  const std::vector<std::string> all{"counts", "new"};
  run_until(
      [&] { return new_owner.bodies() == all && standby.bodies() == all && old_owner.bodies() == all; });
  environment_->run_a_while();
  EXPECT_TRUE(new_owner.wal->owning());
  EXPECT_EQ(standby.bodies(), all);
}

TEST_P(LogContract, AnotherStreamsLogIsRefused) {
  const StreamId stream = new_stream();
  auto log = open(stream);
  const StreamId other{stream.cluster + 1, stream.region};
  ASSERT_TRUE(append(*log, encode_record({.kind = RecordKind::Fence, .stream = other}, "")).ok());
  Replica replica(stream, std::move(log), environment_->loop());
  run_until([&] { return replica.failed.has_value(); });
  EXPECT_EQ(replica.failed->code, LogError::Refused);
  EXPECT_NE(replica.failed->message.find("belongs to stream"), std::string::npos);
}

TEST_P(LogContract, ALogShorterThanACheckpointIsRefused) {
  const StreamId stream = new_stream();
  Replica replica(stream, open(stream), environment_->loop(), {.next = Offset{7}},
                  {.short_log_patience = Micros{100'000}});
  run_until([&] { return replica.failed.has_value(); });
  EXPECT_EQ(replica.failed->code, LogError::Refused);
  EXPECT_NE(replica.failed->message.find("before the checkpoint at 7"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
