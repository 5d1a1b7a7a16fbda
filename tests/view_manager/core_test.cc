// The core as a transcript: one queue, two destinations, answers by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/process/prometheus_metrics.h"
#include "proto/convert.h"
#include "proto/queue.h"
#include "tests/view_manager/sample_program.h"
#include "view_manager/core.h"
#include "view_manager/view_manager_metrics.h"

namespace tidemark {
namespace {

using sample::Ints;
using sample::SampleProgram;

constexpr ShardCount kShards{8};
const Address kNode{"node"};
const ShardRange kLeft{ShardId{0}, ShardId{4}}, kRight{ShardId{4}, ShardId{8}};

Position at(uint64_t offset, uint32_t step = 0, uint32_t generation = 0) {
  return {Generation{generation}, Offset{offset}, step};
}

class CoreTest : public ::testing::Test {
 protected:
  void SetUp() override { restart({}); }

  void restart(const ViewManagerLimits& limits) {
    core_ = std::make_unique<ViewManagerCore>(ViewManagerId{"vm"}, kShards, program_, limits);
    pb::RegionMap map;
    for (ShardRange range : {kLeft, kRight}) *map.add_regions()->mutable_shards() = to_pb(range);
    core_->on_regions(map);
    sequence_ = 1;
  }

  // What the core sends after an event, by kind.
  void pump() {
    std::vector<Outgoing> out;
    core_->pump(out);
    for (Outgoing& message : out) {
      switch (message.message->body_case()) {
        case pb::Message::kPositions: asks_.push_back(message); break;
        case pb::Message::kEffects: batches_.push_back(message); break;
        case pb::Message::kCommitted: reports_.push_back(message.message->committed()); break;
        case pb::Message::kQueueCredit: credits_.push_back(message.message->queue_credit()); break;
        case pb::Message::kQueueClose: closes_.push_back(message.message->queue_close()); break;
        default: FAIL();
      }
    }
  }
  void clear() {
    asks_.clear();
    batches_.clear();
    reports_.clear();
    credits_.clear();
    closes_.clear();
  }
  void tick(int64_t millis) {
    now_.value += millis * 1000;
    core_->tick(now_);
    pump();
  }
  void deliver(pb::Message message) {
    core_->on_message(kNode, std::make_shared<pb::Message>(std::move(message)));
    pump();
  }

  void open(uint64_t epoch, Position start, ShardRange lanes = kShards.all(), uint64_t sent = 0) {
    pb::Message message;
    pb::QueueOpen& open = *message.mutable_queue_open();
    open.set_region(1);
    open.set_epoch(epoch);
    open.set_identity(opened_for_);
    open.set_generation(start.generation.value);
    *open.mutable_shards() = to_pb(kShards.all());
    to_pb({{lanes, start}}, *open.mutable_lanes());
    open.set_sequence(sent);
    sequence_ = sent + 1;
    epoch_ = epoch;
    deliver(std::move(message));
  }

  static pb::QueueEntry entry(uint64_t offset) {
    pb::QueueEntry out;
    out.set_offset(offset);
    out.set_catalog_version(1);
    return out;
  }
  static void upsert(pb::QueueEntry& out, int64_t id, std::optional<Ints> before, std::optional<Ints> after) {
    std::string key = sample::key_of({id}), b, a;
    Change change;
    change.table = sample::kA;
    change.hash = sample::hash_of(sample::kA, {id});
    change.key = key;
    if (before) change.before = b = sample::row_of(*before);
    if (after) change.after = a = sample::row_of(*after);
    append_change(*out.mutable_changes(), change);
  }
  static pb::QueueEntry four_rows(uint64_t offset) {
    pb::QueueEntry out = entry(offset);
    for (int64_t i = 0; i < 4; ++i) upsert(out, static_cast<int64_t>(offset) * 4 + i, {}, Ints{i, i});
    return out;
  }
  void records(std::vector<pb::QueueEntry> entries, uint64_t skip = 0) {
    pb::Message message;
    pb::QueueRecords& records = *message.mutable_queue_records();
    records.set_region(1);
    records.set_epoch(epoch_);
    records.set_sequence(sequence_++ + skip);
    for (auto& e : entries) *records.add_entries() = std::move(e);
    deliver(std::move(message));
  }

  void answer_positions(const Outgoing& ask, Position left = {}, Position right = {}) {
    pb::Message message;
    message.set_request(ask.message->request());
    pb::EffectAnswer& answer = *message.mutable_effects_answer();
    answer.set_verdict(pb::EffectAnswer::REFUSED);
    ShardRange range = kLeft.contains(ask.shard) ? kLeft : kRight;
    pb::Part& part = *answer.add_parts();
    *part.mutable_shards() = to_pb(range);
    Position position = range == kLeft ? left : right;
    if (position != Position{}) to_pb({{kShards.all(), position}}, *part.mutable_applied());
    deliver(std::move(message));
  }
  void answer(const Outgoing& batch, pb::EffectAnswer::Verdict verdict = pb::EffectAnswer::APPLIED) {
    pb::Message message;
    message.set_request(batch.message->request());
    pb::EffectAnswer& answer = *message.mutable_effects_answer();
    answer.set_verdict(verdict);
    *answer.mutable_part() = batch.message->effects().part();
    for (const pb::LaneStep& step : batch.message->effects().lanes()) {
      pb::LaneRun& run = *answer.add_to();
      *run.mutable_lanes() = step.lanes();
      *run.mutable_position() = step.to();
    }
    deliver(std::move(message));
  }
  void refuse(const Outgoing& asked) {
    pb::Message message;
    message.set_request(asked.message->request());
    message.mutable_refusal()->set_code(pb::NOT_OWNER);
    deliver(std::move(message));
  }
  void open_and_learn(Position left = {}, Position right = {}) {
    open(1, at(0));
    auto asks = asks_;
    for (const Outgoing& ask : asks) answer_positions(ask, left, right);
    clear();
  }

  static std::map<std::pair<TableId, Ints>, std::pair<EffectKind, Ints>> effects(const Outgoing& batch) {
    std::map<std::pair<TableId, Ints>, std::pair<EffectKind, Ints>> out;
    EffectReader reader(batch.message->effects().effects());
    Effect effect;
    while (reader.next(effect)) {
      Ints row;
      if (effect.kind != EffectKind::Delete) {
        row = sample::ints_of_row(effect.row, sample::columns_of(effect.table));
      }
      out[{effect.table, sample::ints_of_key(effect.key)}] = {effect.kind, row};
    }
    return out;
  }
  static Position only_to(const Outgoing& batch) {
    EXPECT_EQ(batch.message->effects().lanes_size(), 1);
    return from_pb(batch.message->effects().lanes(0).to());
  }
  static Position only_prev(const Outgoing& batch) {
    return from_pb(batch.message->effects().lanes(0).prev());
  }

  SampleProgram program_;
  std::unique_ptr<ViewManagerCore> core_;
  std::vector<Outgoing> asks_, batches_;
  std::vector<pb::CommittedReport> reports_;
  std::vector<pb::QueueCredit> credits_;
  std::vector<pb::QueueClose> closes_;
  std::string opened_for_ = "vm";
  uint64_t sequence_ = 1, epoch_ = 1;
  Micros now_{1};
};

TEST_F(CoreTest, AsksEachRegionBeforeItSends) {
  open(1, at(0));
  EXPECT_EQ(asks_.size(), 2u);
  ASSERT_EQ(credits_.size(), 1u);
  pb::QueueEntry e = entry(0);
  upsert(e, 1, {}, Ints{3, 5});
  records({e});
  EXPECT_TRUE(batches_.empty());
  auto asks = asks_;
  for (const Outgoing& ask : asks) answer_positions(ask);
  EXPECT_FALSE(batches_.empty());
}

TEST_F(CoreTest, EffectsGoToBothPartsCombinedAndAreCommittedWhenBothHaveThem) {
  open_and_learn();
  std::vector<pb::QueueEntry> entries;
  for (uint64_t i = 0; i < 40; ++i) {
    entries.push_back(entry(i));
    upsert(entries.back(), static_cast<int64_t>(i), {}, Ints{static_cast<int64_t>(i % 4), 10});
  }
  records(entries);
  ASSERT_EQ(batches_.size(), 2u);
  int64_t count = 0, sum = 0;
  for (const Outgoing& batch : batches_) {
    EXPECT_LE(only_to(batch), at(40));
    for (const auto& [row, effect] : effects(batch)) {
      if (row.first != sample::kCounts) continue;
      EXPECT_EQ(effect.first, EffectKind::Add);
      EXPECT_EQ(effect.second, (Ints{10, 100}));
      count += effect.second[0];
      sum += effect.second[1];
    }
  }
  EXPECT_EQ(count, 40);
  EXPECT_EQ(sum, 400);
  EXPECT_TRUE(reports_.empty());
  auto batches = batches_;
  answer(batches[0]);
  tick(60);
  for (const pb::CommittedReport& report : reports_) {
    for (const pb::LaneRun& run : report.lanes()) EXPECT_LT(from_pb(run.position()), at(40));
  }
  answer(batches[1]);
  tick(60);
  ASSERT_FALSE(reports_.empty());
  ASSERT_EQ(reports_.back().lanes_size(), 1);
  EXPECT_EQ(from_pb(reports_.back().lanes(0).lanes()), kShards.all());
  EXPECT_EQ(from_pb(reports_.back().lanes(0).position()), at(40));
  EXPECT_EQ(core_->effects_bytes(), 0u);
  EXPECT_EQ(core_->input_bytes(), 0u);
}

// An owner that was replaced, and does not know it, tells of less than was told before.
TEST_F(CoreTest, WhatWasToldBeforeHoldsThoughALaterAnswerTellsOfLess) {
  const std::vector<pb::QueueEntry> entries = {four_rows(0), four_rows(1), four_rows(2), four_rows(3)};
  auto answer_all = [&] {
    for (size_t i = 0; i < batches_.size(); ++i) answer(Outgoing(batches_[i]));
  };
  open_and_learn();
  records(entries);
  answer_all();
  tick(60);
  ASSERT_FALSE(reports_.empty());
  EXPECT_EQ(from_pb(reports_.back().lanes(0).position()), at(4));
  clear();

  open(2, at(0));
  ASSERT_FALSE(asks_.empty());
  records(entries);
  const std::vector<Outgoing> asks = asks_;
  for (const Outgoing& ask : asks) answer_positions(ask, at(2), at(2));
  answer_all();
  tick(60);
  ASSERT_FALSE(reports_.empty());
  EXPECT_EQ(from_pb(reports_.back().lanes(0).position()), at(4));
  EXPECT_EQ(core_->effects_bytes(), 0u);
}

TEST_F(CoreTest, MetricsFollowWhatItDoesAndGoOnWithAnother) {
  using testing::HasSubstr;
  PrometheusMetrics served;
  ViewManagerMetrics metrics(served);
  for (uint64_t round = 1; round <= 2; ++round) {
    restart({});
    clear();
    open_and_learn();
    pb::QueueEntry e = entry(0);
    for (int64_t id = 0; id < 8; ++id) upsert(e, id, {}, Ints{1, 7});
    records({e});
    metrics.sample(core_.get());
    std::string twice = std::to_string(8 * round);
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_changes_total " + twice));
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_entries_total " + std::to_string(round)));
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_lanes 8"));
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_queues 1"));
    metrics.sample(nullptr);
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_lanes 0"));
    EXPECT_THAT(served.text(), HasSubstr("tidemark_view_manager_changes_total " + twice));
  }
  EXPECT_GT(core_->batch_counts().combined, 0u);
}

TEST_F(CoreTest, PutsAndDeletesOfARowKeepTheLast) {
  open_and_learn();
  pb::QueueEntry e = entry(0);
  upsert(e, 1, {}, Ints{1, 7});
  upsert(e, 1, Ints{1, 7}, Ints{1, 8});
  upsert(e, 1, Ints{1, 8}, {});
  upsert(e, 1, {}, Ints{2, 7});
  records({e});
  std::map<std::pair<TableId, Ints>, std::pair<EffectKind, Ints>> all;
  for (const Outgoing& batch : batches_) all.merge(effects(batch));
  EXPECT_EQ((all[{sample::kIndex, {7, 1}}]), (std::pair{EffectKind::Put, Ints{2}}));
  EXPECT_EQ((all[{sample::kIndex, {8, 1}}]), (std::pair{EffectKind::Delete, Ints{}}));
  EXPECT_EQ((all[{sample::kCounts, {2}}]), (std::pair{EffectKind::Add, Ints{1, 7}}));
  // Combined to nothing, and sent all the same.
  EXPECT_EQ((all[{sample::kCounts, {1}}]), (std::pair{EffectKind::Add, Ints{0, 0}}));
}

TEST_F(CoreTest, ARefusalRewindsToWhatTheRegionHas) {
  open_and_learn();
  for (uint64_t i = 0; i < 20; ++i) {
    pb::QueueEntry e = entry(i);
    upsert(e, static_cast<int64_t>(i), {}, Ints{static_cast<int64_t>(i), 1});
    records({e});
  }
  Outgoing first = *std::find_if(batches_.begin(), batches_.end(),
                                 [](const Outgoing& batch) { return kLeft.contains(batch.shard); });
  clear();
  // Another has brought the region up to record 10.
  answer_positions(first, at(10), at(10));
  ASSERT_FALSE(batches_.empty());
  for (const Outgoing& batch : batches_) {
    EXPECT_EQ(only_prev(batch), at(10));
    EXPECT_EQ(batch.shard, kLeft.begin);
    for (const auto& [row, effect] : effects(batch)) {
      if (row.first == sample::kCounts) {
        EXPECT_GE(row.second[0], 10);
      }
    }
  }
  clear();
  // The same refusal again is no news.
  answer_positions(first, at(10), at(10));
  EXPECT_TRUE(batches_.empty());
}

TEST_F(CoreTest, WhatARegionHadBeforeIsNotSentAgain) {
  open_and_learn(at(5), at(5));
  for (uint64_t i = 0; i < 5; ++i) {
    pb::QueueEntry e = entry(i);
    upsert(e, static_cast<int64_t>(i), {}, Ints{static_cast<int64_t>(i), 1});
    records({e});
  }
  EXPECT_TRUE(batches_.empty());
  EXPECT_TRUE(core_->counts().already_applied > 0);
  tick(60);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(from_pb(reports_[0].lanes(0).position()), at(5));
}

// Who had the lanes before may commit on after the regions were asked: they told less than they have by now.
TEST_F(CoreTest, WhatAnotherHasCommittedSinceIsNotSentAgain) {
  open(1, at(0));
  pb::QueueEntry before = entry(0), progress = entry(1), after = entry(2);
  upsert(before, 1, {}, Ints{1, 1});
  to_pb({{kShards.all(), at(1)}}, *progress.mutable_progress()->mutable_committed());
  upsert(after, 1, Ints{1, 1}, Ints{1, 5});
  records({before, progress});
  for (const Outgoing& ask : std::exchange(asks_, {})) answer_positions(ask);
  EXPECT_TRUE(batches_.empty());
  records({after});
  ASSERT_FALSE(batches_.empty());
  for (const Outgoing& batch : batches_) {
    for (const pb::LaneStep& step : batch.message->effects().lanes()) {
      EXPECT_EQ(from_pb(step.prev()), at(1));
      EXPECT_EQ(from_pb(step.to()), at(3));
    }
  }
}

TEST_F(CoreTest, ALargeRecordIsSentInPiecesThatKeepEachLanesOrder) {
  ViewManagerLimits limits;
  limits.batch_effects_max = 3;
  limits.batches_in_flight_max = 1;
  restart(limits);
  open_and_learn();
  pb::QueueEntry e = entry(0);
  for (int64_t i = 0; i < 30; ++i) upsert(e, i, {}, Ints{i, i});
  records({e, entry(1)});
  size_t sent = 0;
  std::map<uint32_t, LaneRuns> reached;
  while (!batches_.empty()) {
    auto batches = batches_;
    clear();
    for (const Outgoing& batch : batches) {
      EXPECT_LE(effects(batch).size(), 3u);
      EXPECT_LE(batch.message->effects().lanes_size(), 4);
      for (const pb::LaneStep& step : batch.message->effects().lanes()) {
        ShardRange lanes = from_pb(step.lanes());
        EXPECT_TRUE(reached[batch.shard.value].all_at(lanes, from_pb(step.prev())));
        reached[batch.shard.value].set(lanes, from_pb(step.to()));
      }
      sent += effects(batch).size();
      answer(batch);
    }
  }
  EXPECT_EQ(sent, 90u);  // counts, index_a and side_a, each once.
  EXPECT_GT(core_->batch_counts().inside_record, 0u);
  tick(60);
  EXPECT_EQ(core_->effects_bytes(), 0u);
}

TEST_F(CoreTest, TheMemoryOfALargeRecordIsGivenBack) {
  open_and_learn();
  const auto apply = [&](const pb::QueueEntry& record) {
    records({record});
    while (!batches_.empty()) {
      auto batches = batches_;
      clear();
      for (const Outgoing& batch : batches) answer(batch);
    }
    EXPECT_EQ(core_->effects_bytes(), 0u);
  };
  apply(four_rows(0));
  EXPECT_GT(core_->pooled_bytes(), 0u);
  pb::QueueEntry large = entry(1);
  for (int64_t i = 0; i < 10'000; ++i) upsert(large, i, {}, Ints{i, i});
  apply(large);
  EXPECT_LT(core_->pooled_bytes(), size_t{256} << 10);
}

TEST_F(CoreTest, ABusyRegionGetsOneEffectAtATime) {
  open_and_learn();
  pb::QueueEntry e = entry(0);
  for (int64_t i = 0; i < 10; ++i) upsert(e, i, {}, Ints{i, i});
  records({e});
  auto batches = batches_;
  clear();
  answer(batches[0], pb::EffectAnswer::BUSY);
  EXPECT_TRUE(batches_.empty());
  tick(10);
  ASSERT_EQ(batches_.size(), 1u);
  EXPECT_EQ(effects(batches_[0]).size(), 1u);
  batches = batches_;
  clear();
  answer(batches[0]);
  ASSERT_EQ(batches_.size(), 1u);
  EXPECT_GT(effects(batches_[0]).size(), 1u);
}

TEST_F(CoreTest, ALostMessageReopensTheQueue) {
  open_and_learn();
  records({entry(0)});
  records({entry(1)}, 1);
  ASSERT_EQ(closes_.size(), 1u);
  EXPECT_EQ(closes_[0].epoch(), 1u);
  tick(600);
  EXPECT_EQ(closes_.size(), 2u);
  open(2, at(0));
  EXPECT_EQ(core_->queue_count(), 1u);
  tick(600);
  EXPECT_EQ(closes_.size(), 2u);
}

TEST_F(CoreTest, ALostLastMessageIsFoundByTheOpenThatIsRepeatedAfterIt) {
  open_and_learn();
  records({entry(0)});
  open(1, at(0), kShards.all(), 1);
  EXPECT_TRUE(closes_.empty());
  ASSERT_FALSE(credits_.empty());
  EXPECT_EQ(credits_.back().sequence(), 1u);
  EXPECT_FALSE(reports_.empty()) << "an earlier one may be lost";
  open(1, at(0), kShards.all(), 2);
  ASSERT_EQ(closes_.size(), 1u);
  EXPECT_EQ(closes_[0].epoch(), 1u);
}

TEST_F(CoreTest, AnOpenOfAQueueWhoseInputIsForgottenIsClosed) {
  open(7, at(0), kShards.all(), 3);
  ASSERT_EQ(closes_.size(), 1u);
  EXPECT_EQ(closes_[0].epoch(), 7u);
  EXPECT_EQ(core_->queue_count(), 0u);
}

TEST_F(CoreTest, RecordsOfAnUnknownCatalogVersionWait) {
  open_and_learn();
  pb::QueueEntry e = entry(0);
  upsert(e, 1, {}, Ints{1, 1});
  e.set_catalog_version(2);
  records({e});
  EXPECT_TRUE(batches_.empty());
  program_.known = CatalogVersion{2};
  pump();
  ASSERT_FALSE(batches_.empty());
  EXPECT_EQ(batches_[0].message->effects().catalog_version(), 2u);
}

// Its owner judges cuts by the other's lanes, and sends what those would have.
TEST_F(CoreTest, AQueueForAnotherIdentityIsNotTaken) {
  opened_for_ = "other";
  open(1, at(0));
  EXPECT_TRUE(core_->lanes().empty());
  opened_for_ = "vm";
  open(2, at(0));
  EXPECT_FALSE(core_->lanes().empty());
}

TEST_F(CoreTest, ACutStopsTheLanesThatGoToAnother) {
  pb::RingFact fact;
  fact.mutable_ring()->set_version(2);
  fact.mutable_ring()->add_members("vm");
  fact.mutable_ring()->add_members("other");
  for (uint32_t member : {0u, 1u}) {
    pb::Ring::Slice& slice = *fact.mutable_ring()->add_slices();
    slice.set_member(member);
    *slice.mutable_shards() = to_pb(member == 0 ? kLeft : kRight);
  }
  core_->on_ring(fact);
  open_and_learn();
  pb::QueueEntry cut = entry(0), e = entry(1);
  cut.mutable_cut()->set_ring_version(2);
  for (int64_t i = 0; i < 16; ++i) upsert(e, i, {}, Ints{i, i});
  records({cut, e});
  // The marker is acknowledged at once, and nothing after it is sent for the lanes that left.
  ASSERT_EQ(reports_.size(), 1u);
  for (const Outgoing& batch : batches_) {
    for (const pb::LaneStep& step : batch.message->effects().lanes()) {
      if (from_pb(step.to()) > at(1)) {
        EXPECT_TRUE(kLeft.contains(from_pb(step.lanes())));
      }
    }
  }
  auto batches = batches_;
  for (const Outgoing& batch : batches) answer(batch);
  tick(60);
  for (const pb::LaneRun& run : reports_.back().lanes()) {
    EXPECT_EQ(from_pb(run.position()), kLeft.contains(from_pb(run.lanes())) ? at(2) : at(1));
  }
  // Once the end of the lanes that left is recorded, they are let go.
  pb::QueueEntry progress = entry(2);
  to_pb({{kShards.all(), at(1)}}, *progress.mutable_progress()->mutable_committed());
  records({progress});
  EXPECT_EQ(core_->lanes().ranges(), std::vector<ShardRange>{kLeft});
}

// Between what is recorded and what is committed may lie a change of lanes that are another's.
TEST_F(CoreTest, WhatIsCommittedPastARecordOfProgressIsReportedOnce) {
  open_and_learn();
  pb::QueueEntry change = entry(0);
  upsert(change, 1, {}, Ints{1, 1});
  records({change});
  auto batches = std::exchange(batches_, {});
  for (const Outgoing& batch : batches) answer(batch);
  tick(60);
  reports_.clear();
  pb::QueueEntry progress = entry(2);  // Of the change at 1 it was told nothing.
  to_pb({{kShards.all(), at(1)}}, *progress.mutable_progress()->mutable_committed());
  records({progress});
  tick(60);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(from_pb(reports_.back().lanes(0).position()), at(3));
  tick(2'000);
  EXPECT_EQ(reports_.size(), 1u);
}

// Its lanes stand still until then.
TEST_F(CoreTest, AMarkerIsReportedAtOnceThoughMoreWasCommittedWithIt) {
  pb::RingFact fact;
  fact.mutable_ring()->set_version(2);
  fact.mutable_ring()->add_members("vm");
  pb::Ring::Slice& slice = *fact.mutable_ring()->add_slices();
  *slice.mutable_shards() = to_pb(kShards.all());
  core_->on_ring(fact);
  open_and_learn();
  auto commit = [&](std::vector<pb::QueueEntry> entries) {
    for (pb::QueueEntry& each : entries) {
      if (!each.has_cut()) upsert(each, 1, {}, Ints{1, 1});
    }
    records(std::move(entries));
    auto batches = std::exchange(batches_, {});
    for (const Outgoing& batch : batches) answer(batch);
  };
  tick(1'000);
  commit({entry(0)});
  ASSERT_EQ(reports_.size(), 1u);
  pb::QueueEntry cut = entry(2);
  cut.mutable_cut()->set_ring_version(2);
  commit({entry(1), cut, entry(3)});  // One answer commits all three.
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(from_pb(reports_.back().lanes(0).position()), at(4));
  // Mere progress is not reported so soon.
  commit({entry(4)});
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(CoreTest, PastASealTheLanesAreInTheNextGeneration) {
  open_and_learn();
  pb::QueueEntry e = entry(0), seal = entry(1);
  upsert(e, 1, {}, Ints{1, 1});
  seal.mutable_seal()->set_generation(3);
  records({e, seal});
  EXPECT_TRUE(reports_.empty());
  auto batches = batches_;
  for (const Outgoing& batch : batches) answer(batch);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(from_pb(reports_[0].lanes(0).position()), at(0, 0, 3));
  // Repeated until the lanes are opened in the child.
  tick(600);
  EXPECT_EQ(reports_.size(), 2u);
  open(2, at(0, 0, 3));
  tick(600);
  EXPECT_EQ(reports_.size(), 2u);
  EXPECT_EQ(core_->queue_count(), 1u);
}

TEST_F(CoreTest, ASilentDestinationIsParkedWhenMemoryIsShortAndReadAgainLater) {
  ViewManagerLimits limits;
  limits.effects_bytes_max = 4096;
  limits.input_bytes_max = 8192;
  restart(limits);
  open_and_learn();
  size_t highest = 0;
  uint64_t offset = 0;
  auto feed = [&] {
    records({four_rows(offset++)});
    highest = std::max(highest, core_->effects_bytes());
    auto batches = batches_;
    batches_.clear();
    for (const Outgoing& batch : batches) {
      if (kLeft.contains(batch.shard)) answer(batch);
    }
  };
  for (int i = 0; i < 20; ++i) {
    feed();
    tick(200);
  }
  EXPECT_GT(core_->counts().parked, 0u);
  for (int i = 0; i < 200; ++i) feed();
  EXPECT_LT(highest, 4096u + 4096u);
  // The left region got everything; the lanes have not committed.
  EXPECT_EQ(core_->counts().entries, offset);
  for (const pb::CommittedReport& report : reports_) {
    for (const pb::LaneRun& run : report.lanes()) EXPECT_LT(from_pb(run.position()), at(20));
  }
  clear();
  tick(600);
  ASSERT_FALSE(asks_.empty());
  answer_positions(asks_.back(), at(offset), at(0));
  EXPECT_EQ(core_->counts().unparked, 1u);
  EXPECT_EQ(closes_.size(), 1u);
}

// Patience with batches may be longer than with silence: what is parked has then not been asked yet.
TEST_F(CoreTest, AParkedDestinationThatAnswersALateBatchIsAskedAllTheSame) {
  ViewManagerLimits limits;
  limits.effects_bytes_max = 4096;
  limits.stall_timeout = Micros{200'000};
  restart(limits);
  open_and_learn();
  uint64_t offset = 0;
  while (core_->effects_bytes() < limits.effects_bytes_max) records({four_rows(offset++)});
  const std::vector<Outgoing> late = batches_;
  tick(300);
  records({four_rows(offset)});
  ASSERT_EQ(core_->parked_count(), 2u);
  for (const Outgoing& batch : late) answer(batch);
  ASSERT_EQ(asks_.size(), 2u);
  const std::vector<Outgoing> asks = asks_;
  for (const Outgoing& ask : asks) answer_positions(ask);
  EXPECT_EQ(core_->parked_count(), 0u);
  EXPECT_EQ(closes_.size(), 1u);
}

// The left region takes everything, and `on_right` says what the right one answers. Sends what the credit
// allows, for as long as it is told.
class StalledRegionTest : public CoreTest {
 protected:
  void SetUp() override {
    ViewManagerLimits limits;
    limits.input_bytes_max = 4096;
    limits.queue_bytes_min = 1024;
    restart(limits);
    open(1, at(0));
    credit_ = credits_.back().bytes();
    for (const Outgoing& ask : std::vector<Outgoing>(asks_)) answer_positions(ask);
    asks_.clear();
  }

  void run(int64_t millis, const std::function<void(const Outgoing&)>& on_right) {
    for (; millis > 0; millis -= 10) {
      while (cost_ < credit_ && closes_.empty()) {
        pb::QueueEntry next = four_rows(offset_++);
        cost_ += queue_entry_cost(next);
        records({next});
      }
      tick(10);
      std::vector<Outgoing> sent = std::exchange(batches_, {});
      for (Outgoing& ask : std::exchange(asks_, {})) sent.push_back(std::move(ask));
      for (const Outgoing& message : sent) {
        if (kRight.contains(message.shard)) {
          on_right(message);
        } else if (message.message->has_effects()) {
          answer(message);
        } else {
          answer_positions(message);
        }
      }
      for (const pb::QueueCredit& credit : std::exchange(credits_, {})) {
        if (credit.epoch() == epoch_) credit_ = std::max(credit_, credit.bytes());
      }
    }
  }

  uint64_t offset_ = 0, cost_ = 0, credit_ = 0;
};

TEST_F(StalledRegionTest, ThatIsSilentIsParkedWhenCreditEnds) {
  run(1'000, [](const Outgoing&) {});
  const uint64_t stopped_at = offset_;
  EXPECT_EQ(core_->parked_count(), 0u);
  run(2'000, [](const Outgoing&) {});
  EXPECT_EQ(core_->parked_count(), 1u);
  EXPECT_GT(offset_, 10 * stopped_at);
  EXPECT_LT(core_->input_bytes(), 4096u);
}

TEST_F(StalledRegionTest, ThatRefusesIsParkedUntilItSaysWhereItIs) {
  run(3'000, [&](const Outgoing& message) { refuse(message); });
  EXPECT_EQ(core_->parked_count(), 1u);
  EXPECT_TRUE(closes_.empty());
  run(100, [&](const Outgoing& message) { answer_positions(message); });
  EXPECT_EQ(core_->parked_count(), 0u);
  EXPECT_EQ(closes_.size(), 1u);  // To be read again for it.
}

// Its log is slow: whenever it is about to answer, all would begin anew.
TEST_F(StalledRegionTest, ThatHasComeBackIsGivenMoreTime) {
  const auto silent = [](const Outgoing&) {};
  run(3'000, silent);
  ASSERT_EQ(core_->counts().parked, 1u);
  const auto read_again = [&] {
    run(600, [&](const Outgoing& message) { answer_positions(message); });
    ASSERT_FALSE(closes_.empty());
    clear();
    open(epoch_ + 1, at(0));
    offset_ = cost_ = 0;
    credit_ = credits_.back().bytes();
  };
  read_again();
  run(3'000, silent);
  EXPECT_EQ(core_->counts().parked, 1u);
  run(1'000, [&](const Outgoing& message) {
    if (!message.message->has_effects()) return answer_positions(message);
    answer(message);
  });
  run(3'000, silent);
  EXPECT_EQ(core_->counts().parked, 2u) << "it is fast again";
}

TEST_F(StalledRegionTest, ThatIsBusyIsNotParkedSinceItSaysAtOnceWhereItIs) {
  run(4'000, [&](const Outgoing& message) {
    if (!message.message->has_effects()) return answer_positions(message);
    answer(message, pb::EffectAnswer::BUSY);
  });
  EXPECT_GT(core_->counts().busy, 100u);
  EXPECT_EQ(core_->counts().parked, 0u);
}

// It has no credit, and so can not say how much of what is reported it has recorded.
TEST_F(CoreTest, AnOwnerThatSaysThatItIsThereIsNotSilent) {
  ViewManagerLimits limits;
  limits.batch_effects_max = 1;
  restart(limits);
  open_and_learn();
  for (uint64_t offset = 0; offset < 100; ++offset) records({four_rows(offset)});
  const uint64_t sent = sequence_ - 1;
  for (int round = 0; round < 60; ++round) {
    for (const Outgoing& batch : std::exchange(batches_, {})) answer(batch);
    tick(60);
    if (round % 8 == 7) open(1, at(0), kShards.all(), sent);
  }
  EXPECT_GT(reports_.size(), 20u);
  EXPECT_EQ(core_->counts().reopened, 0u);
}

TEST_F(CoreTest, ARefusalIsTheAnswerToOneQuestionOnly) {
  open(1, at(0));
  ASSERT_EQ(asks_.size(), 2u);
  const std::vector<Outgoing> asks = std::exchange(asks_, {});
  refuse(asks[0]);
  tick(10);
  ASSERT_EQ(asks_.size(), 1u);
  EXPECT_EQ(asks_[0].shard, asks[0].shard);
}

// Two queues, one with the even lanes and one with the odd ones.
TEST_F(CoreTest, ABatchNamesNoMoreRunsOfLanesThanFitARecord) {
  constexpr ShardCount kMany{8'192};
  core_ = std::make_unique<ViewManagerCore>(ViewManagerId{"vm"}, kMany, program_, ViewManagerLimits{});
  for (uint64_t epoch : {1, 2}) {
    pb::Message message;
    pb::QueueOpen& open = *message.mutable_queue_open();
    open.set_region(1);
    open.set_epoch(epoch);
    open.set_identity("vm");
    *open.mutable_shards() = to_pb(kMany.all());
    std::vector<LaneRun> lanes;
    for (auto lane = static_cast<uint32_t>(epoch - 1); lane < kMany.value; lane += 2)
      lanes.push_back({{ShardId{lane}, ShardId{lane + 1}}, at(epoch)});
    to_pb(lanes, *open.mutable_lanes());
    deliver(std::move(message));
  }
  for (uint64_t epoch : {1, 2}) {
    pb::QueueEntry e = entry(10);
    for (int64_t i = 0; i < 20; ++i) upsert(e, i, {}, Ints{i, i});
    epoch_ = epoch;
    sequence_ = 1;
    records({e});
  }
  ASSERT_EQ(asks_.size(), 1u);
  pb::Message told;
  told.set_request(asks_[0].message->request());
  told.mutable_effects_answer()->set_verdict(pb::EffectAnswer::REFUSED);
  *told.mutable_effects_answer()->add_parts()->mutable_shards() = to_pb(kMany.all());
  deliver(std::move(told));
  ASSERT_EQ(batches_.size(), 2u);
  for (const Outgoing& batch : batches_) EXPECT_EQ(batch.message->effects().lanes_size(), 4'096);
}

}  // namespace
}  // namespace tidemark
