// Queues as cursors: each view manager gets the changes of its lanes, in order, once, within its credit.
#include "node/queue/stream_feed.h"

#include <gtest/gtest.h>

#include "tests/node/feed_bed.h"

namespace tidemark {
namespace {

void know_rings(FeedBed& bed, const std::vector<std::vector<std::string>>& rings) {
  pb::RingFact fact;
  for (size_t i = 0; i < rings.size(); ++i) {
    pb::Ring ring = ring_of(i + 1, rings[i]);
    if (i + 1 == rings.size()) {
      *fact.mutable_ring() = ring;
    } else {
      *fact.add_previous() = ring;
    }
  }
  fact.set_policy(pb::ACTIVATE_BY_NODE);
  ASSERT_TRUE(bed.rings.update(fact).ok());
  bed.feed->on_rings_changed();
}

TEST(StreamFeed, EachChangeGoesToTheQueueOfItsLane) {
  FeedBed bed;
  bed.open("a", {0, 1});
  bed.open("b", {3});
  bed.credit(1);
  bed.credit(2);
  bed.commit({0, 1, 2, 3});
  bed.commit({3, 0});
  bed.commit({2});
  bed.pump();
  EXPECT_EQ(bed.seen("a"), bed.written_for({0, 1}));
  EXPECT_EQ(bed.seen("b"), bed.written_for({3}));
}

TEST(StreamFeed, NothingIsSentBeforeTheViewManagerAnswersAndTheOpenIsRepeated) {
  FeedBed bed;
  bed.open("a", {0});
  bed.commit({0});
  bed.pump();
  EXPECT_TRUE(bed.seen("a").empty());
  EXPECT_EQ(bed.transport.opens(Address{"a"}), 1u);
  for (int i = 0; i < 20; ++i) bed.pump();
  EXPECT_GT(bed.transport.opens(Address{"a"}), 2u);
  bed.credit(1);
  EXPECT_EQ(bed.seen("a"), bed.written);
}

TEST(StreamFeed, TheOpenIsRepeatedUntilAllThatWasSentHasComeAndIsCommitted) {
  FeedBed bed;
  auto opens_meanwhile = [&] {
    const size_t before = bed.transport.opens(Address{"a"});
    for (int i = 0; i < 20; ++i) bed.pump();
    return bed.transport.opens(Address{"a"}) - before;
  };
  bed.open("a", {0});
  bed.credit(1);
  EXPECT_EQ(opens_meanwhile(), 0u);
  bed.commit({0});
  EXPECT_GT(opens_meanwhile(), 0u);
  EXPECT_EQ(bed.transport.last_open(Address{"a"}).sequence(), 1u);
  bed.credit(1, FeedBed::kMuch, 1);
  EXPECT_GT(opens_meanwhile(), 0u) << "who has it may have forgotten it";
  bed.committed.set({ShardId{0}, ShardId{1}}, {Generation{0}, bed.wal->state().next, 0});
  EXPECT_EQ(opens_meanwhile(), 0u);
}

TEST(StreamFeed, SendsNoMoreThanTheCreditAndOneEntry) {
  FeedBed bed;
  bed.open("a", {0});
  bed.credit(1, 150);  // Two entries of a little more than 64 bytes, and the one that passes it.
  for (int i = 0; i < 10; ++i) bed.commit({0});
  bed.pump();
  EXPECT_EQ(bed.seen("a").size(), 2u);
  bed.credit(1, 151);
  EXPECT_EQ(bed.seen("a").size(), 2u);
  bed.credit(1);
  EXPECT_EQ(bed.seen("a"), bed.written);
}

TEST(StreamFeed, AHeldBackPeerGetsNothingMore) {
  FeedBed bed;
  bed.open("a", {0});
  bed.credit(1);
  bed.transport.unsent[Address{"a"}] = size_t{1} << 30;
  bed.commit({0});
  bed.pump();
  EXPECT_TRUE(bed.seen("a").empty());
  bed.transport.unsent.clear();
  bed.pump();
  EXPECT_EQ(bed.seen("a"), bed.written);
}

TEST(StreamFeed, ASlowQueueCostsNoMemoryAndReadsTheLogLater) {
  FeedOptions options;
  options.window_bytes_max = 500;
  FeedBed bed(options);
  bed.open("slow", {0});
  bed.open("fast", {1});
  bed.credit(2);
  for (int i = 0; i < 200; ++i) {
    bed.commit({0, 1});
    bed.feed->pump();
    ASSERT_LE(bed.feed->figures().window_bytes, 500u);
  }
  bed.run();
  EXPECT_EQ(bed.seen("fast"), bed.written_for({1}));
  EXPECT_LE(bed.feed->figures().records_read, 1u) << "who keeps up reads no more than what was before it";
  bed.credit(1);
  EXPECT_EQ(bed.seen("slow"), bed.written_for({0}));
  EXPECT_GT(bed.feed->figures().records_read, 100u);
}

TEST(StreamFeed, ACatchUpThatStopsForCreditGoesOnWhereItStopped) {
  FeedOptions options;
  options.window_bytes_max = 100;
  FeedBed bed(options);
  for (int i = 0; i < 100; ++i) bed.commit({0});
  bed.open("slow", {0});
  for (uint64_t credit = 1; bed.seen("slow") != bed.written_for({0}); credit += 10) {
    ASSERT_LT(credit, FeedBed::kMuch);
    bed.grant(1, credit);
    bed.pump();
  }
  EXPECT_LE(bed.feed->figures().records_read, 101u);
}

TEST(StreamFeed, AQueueBeforeWhatItsLanesHaveCommittedIsOpenedAnewWhenTheLogIsCutThere) {
  FeedOptions options;
  options.window_bytes_max = 100;
  FeedBed bed(options);
  for (int i = 0; i < 200; ++i) bed.commit({0, 1});
  bed.open("late", {0}, 10);
  bed.open("other", {1}, 150);
  bed.committed.set(FeedBed::kShards.all(), {Generation{0}, Offset{150}, 0});
  bed.history.forget_before(Offset{150});
  bed.wal->trim(bed.history.states().front().next);
  bed.run();
  bed.credit(1);
  bed.credit(2);
  EXPECT_EQ(bed.passed, 1);
  EXPECT_EQ(bed.feed->slot_of(ShardId{0}), 0);
  EXPECT_TRUE(bed.transport.sent[Address{"late"}].back()->has_queue_close());

  bed.open("late", {0}, 150);
  bed.credit(3);
  EXPECT_EQ(bed.seen("late").size(), 51u) << "the fence lies at 0: the commits from 150 to 200";
  EXPECT_EQ(bed.seen("other").size(), 51u);
}

// The answer to a read of what is gone comes after the queue that it was for.
TEST(StreamFeed, AReadThatIsNobodysAnyMoreEndsNothing) {
  FeedOptions options;
  options.window_bytes_max = 100;
  FeedBed bed(options);
  for (int i = 0; i < 200; ++i) bed.commit({0, 1});
  bed.open("late", {0}, 10);
  bed.open("other", {1}, 150);
  bed.committed.set(FeedBed::kShards.all(), {Generation{0}, Offset{150}, 0});
  bed.history.forget_before(Offset{150});
  bed.wal->trim(bed.history.states().front().next);
  bed.run();
  bed.grant(1);
  bed.grant(2);
  bed.feed->pump();
  bed.feed->close(bed.feed->slot_of(ShardId{0}), StreamFeed::Tell::No);
  bed.run();
  EXPECT_EQ(bed.passed, 0);

  bed.open("late", {0}, 150);
  bed.credit(3);
  EXPECT_EQ(bed.seen("late").size(), 51u);
  EXPECT_EQ(bed.seen("other").size(), 51u);
}

// What was fetched wrongly may be read well the next time; and somebody must hear of it.
TEST(StreamFeed, ALogThatCanNotBeReadIsToldAndReadAgainLater) {
  FeedOptions options;
  options.window_bytes_max = 100;
  FeedBed bed(options);
  for (int i = 0; i < 20; ++i) bed.commit({0});
  bed.log_troubles.read = LogFailure{LogError::Refused, "a checksum is wrong"};
  bed.open("slow", {0});
  bed.credit(1);
  EXPECT_EQ(bed.failures, 1);
  bed.scheduler.run_until(Micros{bed.scheduler.now().value + options.failed_retry.value});
  EXPECT_EQ(bed.failures, 2);
  EXPECT_TRUE(bed.seen("slow").empty());
  bed.log_troubles = {};
  bed.scheduler.run_until(Micros{bed.scheduler.now().value + options.failed_retry.value});
  bed.pump();
  EXPECT_EQ(bed.seen("slow"), bed.written_for({0}));
}

TEST(StreamFeed, OneReaderCatchesUpForAll) {
  FeedOptions options;
  options.window_bytes_max = 100;
  FeedBed bed(options);
  for (int i = 0; i < 100; ++i) bed.commit({0, 1, 2});
  bed.credit(1);
  bed.open("a", {0});
  bed.open("b", {1});
  bed.open("c", {2});
  for (uint64_t epoch = 1; epoch <= 3; ++epoch) bed.grant(epoch);
  bed.pump();
  EXPECT_EQ(bed.seen("a"), bed.written_for({0}));
  EXPECT_EQ(bed.seen("b"), bed.written_for({1}));
  EXPECT_EQ(bed.seen("c"), bed.written_for({2}));
  EXPECT_LE(bed.feed->figures().records_read, 101u) << "each record is read once, not once per queue";
}

TEST(StreamFeed, ACutGoesThroughTheQueueAndStopsTheLanesThatMove) {
  FeedBed bed;
  know_rings(bed, {{"a", "a", "b", "b"}, {"a", "b", "b", "b"}});
  bed.open("a", {0, 1});
  bed.open("b", {2, 3});
  bed.credit(1);
  bed.credit(2);
  bed.commit({0, 1, 2, 3});
  bed.cut(2);
  bed.commit({0, 1, 2, 3});
  bed.pump();
  EXPECT_EQ(bed.seen("a"), (std::vector<std::string>{"0:0", "1:1", "0:4"}));
  EXPECT_EQ(bed.seen("b"), bed.written_for({2, 3}));
  ASSERT_EQ(bed.stopped.size(), 1u);
  EXPECT_EQ(bed.stopped[ShardId{1}], (Position{Generation{0}, Offset{3}, 0}));
  auto entries = bed.transport.entries(Address{"a"});
  EXPECT_EQ(std::count_if(entries.begin(), entries.end(), [](const auto& e) { return e.has_cut(); }), 1);
}

TEST(StreamFeed, LanesTakenAwayAreToldInTheQueuesOwnSequence) {
  FeedBed bed;
  bed.open("a", {0, 1});
  bed.credit(1);
  bed.commit({0, 1});
  bed.pump();
  bed.feed->close_lanes({ShardId{0}, ShardId{1}}, StreamFeed::Tell::Yes);
  bed.commit({0, 1});
  bed.pump();
  size_t closes = 0;
  for (const MessagePtr& message : bed.transport.sent[Address{"a"}]) closes += message->has_queue_close();
  EXPECT_EQ(closes, 1u);
  EXPECT_EQ(bed.seen("a").size(), 3u);  // Both lanes, then one. The numbers are checked on the way.
}

TEST(StreamFeed, AQueueWaitsBeforeACutToARingThatIsNotKnownHere) {
  FeedBed bed;
  know_rings(bed, {{"a", "a", "a", "a"}});
  bed.open("a", {0, 1});
  bed.credit(1);
  bed.cut(2);
  bed.commit({0, 1});
  bed.pump();
  EXPECT_TRUE(bed.transport.entries(Address{"a"}).empty());
  know_rings(bed, {{"a", "a", "a", "a"}, {"a", "b", "a", "a"}});
  bed.pump();
  EXPECT_EQ(bed.seen("a"), bed.written_for({0}));
}

TEST(StreamFeed, ASealEndsEveryLaneAfterIt) {
  FeedBed bed;
  bed.open("a", {0, 2});
  bed.credit(1);
  bed.commit({0, 2});
  pb::Seal seal;
  seal.set_generation(5);
  bed.wal->append(RecordKind::Seal, seal.SerializeAsString());
  bed.run();
  bed.pump();
  EXPECT_EQ(bed.seen("a"), bed.written);
  EXPECT_TRUE(bed.transport.entries(Address{"a"}).back().has_seal());
  EXPECT_EQ(bed.stopped[ShardId{0}], (Position{Generation{5}, Offset{0}, 0}));
  EXPECT_EQ(bed.stopped[ShardId{2}], (Position{Generation{5}, Offset{0}, 0}));
  EXPECT_TRUE(bed.feed->slots().empty());
}

TEST(StreamFeed, AQueueThatNothingConcernsIsToldHowFarTheStreamHasCome) {
  FeedOptions options;
  options.silent_records_max = 10;
  FeedBed bed(options);
  bed.open("idle", {3});
  bed.credit(1);
  for (int i = 0; i < 35; ++i) bed.commit({0});
  bed.pump();
  auto entries = bed.transport.entries(Address{"idle"});
  ASSERT_FALSE(entries.empty());
  EXPECT_GE(entries.back().offset(), 25u);
  EXPECT_TRUE(entries.back().changes().empty());
  EXPECT_LE(entries.size(), 4u);
}

TEST(StreamFeed, AQueueThatNothingConcernsIsToldWhatSomebodyWaitsFor) {
  FeedBed bed;
  bed.open("idle", {3});
  bed.credit(1);
  for (int i = 0; i < 5; ++i) bed.commit({0});
  bed.pump();
  EXPECT_TRUE(bed.transport.entries(Address{"idle"}).empty());
  bed.feed->want_told(Offset{5});
  bed.pump();
  EXPECT_EQ(bed.transport.entries(Address{"idle"}).size(), 1u);
  bed.pump();
  EXPECT_EQ(bed.transport.entries(Address{"idle"}).size(), 1u) << "it was told already";
}

TEST(StreamFeed, LanesStartAtTheirOwnPositions) {
  FeedBed bed;
  for (int i = 0; i < 6; ++i) bed.commit({0, 1});
  std::vector<LaneRun> lanes = {{{ShardId{0}, ShardId{1}}, {Generation{0}, Offset{3}, 0}},
                                {{ShardId{1}, ShardId{2}}, {Generation{0}, Offset{5}, 2}}};
  bed.feed->open(bed.rings.index_of("a"), Address{"a"}, 1, RingVersion{1}, lanes);
  bed.credit(1);
  EXPECT_EQ(bed.seen("a"), (std::vector<std::string>{"0:4", "0:6", "0:8", "1:9", "0:10", "1:11"}));
}

TEST(StreamFeedProperty, EveryQueueSeesItsLanesOnceAndInOrder) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    FeedOptions options;
    options.window_bytes_max = 1 + random.below(2000);
    options.message_bytes_max = 1 + random.below(300);
    options.read_bytes = 1 + random.below(500);
    FeedBed bed(options);
    std::map<std::string, std::vector<uint32_t>> lanes = {{"a", {0, 2}}, {"b", {1}}, {"c", {3}}};
    std::map<uint64_t, uint64_t> credits;
    for (const auto& [name, of] : lanes) bed.open(name, of);
    for (int step = 0; step < 150; ++step) {
      switch (random.below(4)) {
        case 0: {
          std::vector<uint32_t> shards;
          for (uint64_t left = random.below(5); left > 0; --left) {
            shards.push_back(static_cast<uint32_t>(random.below(4)));
          }
          bed.commit(shards);
          break;
        }
        case 1: {
          uint64_t epoch = 1 + random.below(3);
          bed.grant(epoch, credits[epoch] += random.below(1000));
          break;
        }
        case 2: bed.feed->pump(); break;
        case 3: bed.run(); break;
      }
    }
    for (uint64_t epoch = 1; epoch <= 3; ++epoch) bed.grant(epoch);
    for (int i = 0; i < 10; ++i) bed.pump();
    for (const auto& [name, of] : lanes) ASSERT_EQ(bed.seen(name), bed.written_for(of)) << name;
  }
}

}  // namespace
}  // namespace tidemark
