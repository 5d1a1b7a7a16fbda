#include "wal/reader_rule.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "tests/wal/raw_stream.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{1, RegionId{1}};

RecordHeader fence(uint64_t version, uint64_t nonce = 1) {
  return {.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{version}, .nonce = nonce};
}
RecordHeader body(uint64_t incarnation, uint64_t expects, RecordKind kind = RecordKind::Body) {
  return {.kind = kind, .stream = kStream, .incarnation = Offset{incarnation}, .expects = Offset{expects}};
}
RecordHeader seal(uint64_t incarnation, uint64_t expects) {
  return body(incarnation, expects, RecordKind::Seal);
}

std::vector<Verdict> read_all(const std::vector<RecordHeader>& log, ReaderState start = {}) {
  ReaderRule rule(kStream, start);
  std::vector<Verdict> verdicts;
  for (size_t at = start.next.value; at < log.size(); ++at) verdicts.push_back(*rule.step(log[at]));
  return verdicts;
}

using enum Verdict;
using Verdicts = std::vector<Verdict>;

TEST(ReaderRule, AnOwnersPipelineCounts) {
  EXPECT_EQ(read_all({fence(1), body(0, 1), body(0, 2), seal(0, 3)}), (Verdicts{Valid, Valid, Valid, Valid}));
}

TEST(ReaderRule, NothingCountsBeforeTheFirstFence) {
  EXPECT_EQ(read_all({body(0, 0), fence(1)}), (Verdicts{VoidIncarnation, Valid}));
}

TEST(ReaderRule, LateAppendsOfAFencedOwnerAreVoid) {
  EXPECT_EQ(read_all({fence(1), body(0, 1), fence(2), body(0, 2), body(0, 3)}),
            (Verdicts{Valid, Valid, Valid, VoidIncarnation, VoidIncarnation}));
}

// The model's directed history `chain`: the second of three appends is lost and a copy of the first lies in
// its place. Without the rule the third would count, on top of a change that is not there.
TEST(ReaderRule, AnIgnoredRecordEndsTheIncarnation) {
  EXPECT_EQ(read_all({fence(1), body(0, 1), body(0, 1), body(0, 3)}),
            (Verdicts{Valid, Valid, VoidOffset, VoidIncarnation}));
}

// The same gap, filled by a late append of the owner before: it is not of the incarnation in force, but ends
// it no less.
TEST(ReaderRule, AnothersIgnoredRecordEndsTheIncarnationToo) {
  EXPECT_EQ(read_all({fence(1), fence(2), body(0, 1), body(1, 3)}),
            (Verdicts{Valid, Valid, VoidIncarnation, VoidIncarnation}));
  EXPECT_EQ(read_all({fence(2), fence(1), body(0, 2)}), (Verdicts{Valid, VoidOldFence, VoidIncarnation}));
}

// The model's directed history `fence_version`: the fence of one who was told to split lands after the fence
// that undid the split; its seal must not count.
TEST(ReaderRule, AFenceOfAnOlderMapIsVoid) {
  EXPECT_EQ(read_all({fence(3), fence(1), seal(1, 2)}), (Verdicts{Valid, VoidOldFence, VoidIncarnation}));
}

TEST(ReaderRule, AVoidFenceDoesNotLowerTheVersion) {
  EXPECT_EQ(read_all({fence(3), fence(1), fence(2), fence(3)}),
            (Verdicts{Valid, VoidOldFence, VoidOldFence, Valid}));
}

TEST(ReaderRule, NothingCountsAfterASeal) {
  EXPECT_EQ(read_all({fence(1), seal(0, 1), body(0, 2), fence(9)}),
            (Verdicts{Valid, Valid, VoidSealed, VoidSealed}));
}

TEST(ReaderRule, AnotherStreamsRecordIsAnErrorAndMovesNothing) {
  ReaderRule rule(kStream);
  RecordHeader foreign = fence(1);
  foreign.stream.region = RegionId{2};
  const auto verdict = rule.step(foreign);
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("belongs to stream"), std::string::npos);
  EXPECT_EQ(rule.state(), ReaderState{});
}

// Mostly what an owner would write, else something near it.
std::vector<RecordHeader> some_log() {
  std::vector<RecordHeader> log;
  uint64_t last_fence = 0;
  const int size = *rc::gen::inRange(0, 30);
  for (int i = 0; i < size; ++i) {
    const uint64_t at = log.size();
    const int what = *rc::gen::inRange(0, 20);
    if (what < 4 || at == 0) {
      log.push_back(fence(*rc::gen::inRange<uint64_t>(0, 4)));
      if (what < 3) last_fence = at;
    } else if (what < 15) {
      log.push_back(body(last_fence, at));
    } else if (what < 16) {
      log.push_back(seal(last_fence, at));
    } else {
      log.push_back(body(*rc::gen::inRange<uint64_t>(0, at + 1), *rc::gen::inRange<uint64_t>(0, at + 2)));
    }
  }
  return log;
}

TEST(ReaderRuleProperty, AgreesWithTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    const auto log = some_log();
    RawStream twin;
    for (const RecordHeader& header : log) twin.add(encode_record(header, ""));
    const auto verdicts = read_all(log);
    for (size_t at = 0; at < log.size(); ++at) {
      RC_ASSERT((verdicts[at] == Valid) == twin.records()[at].is_valid);
    }
  }));
}

TEST(ReaderRuleProperty, AReaderFromACheckpointAgreesWithOneFromTheStart) {
  EXPECT_TRUE(rc::check([] {
    const auto log = some_log();
    const auto all = read_all(log);
    const size_t cut = *rc::gen::inRange<size_t>(0, log.size() + 1);
    ReaderRule rule(kStream);
    for (size_t at = 0; at < cut; ++at) RC_ASSERT(rule.step(log[at]).ok());
    RC_ASSERT(read_all(log, rule.state()) == Verdicts(all.begin() + static_cast<ptrdiff_t>(cut), all.end()));
  }));
}

}  // namespace
}  // namespace tidemark
