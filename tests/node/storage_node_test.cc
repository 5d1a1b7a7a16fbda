// Storage nodes on logs, coordination and a network in memory: what was acknowledged is there, whatever dies.
#include "node/storage_node.h"

#include <gtest/gtest.h>

#include "tests/node/node_bed.h"

namespace tidemark {
namespace {

std::string key_of(uint64_t number) {
  return "key" + std::to_string(number);
}

// A write to each of `keys` keys, one after another per key.
void write_round(NodeBed& bed, uint64_t keys, const std::string& round) {
  for (uint64_t key = 0; key < keys; ++key) bed.write(key_of(key), round + "/" + std::to_string(key));
  ASSERT_TRUE(bed.run_until([&] { return bed.unanswered() == 0; }));
}

// Writes to random keys, never two to one key at once: those may be done in either order.
void write_some(NodeBed& bed, int count, uint64_t& number) {
  for (int i = 0; i < count; ++i) {
    std::string key = key_of(bed.random.below(60));
    if (!bed.is_in_flight(key)) bed.write(key, std::to_string(number++));
  }
}

// Every text that the view managers saw, in lane order.
std::vector<std::string> seen_by(const std::vector<PlainViewManager*>& view_managers) {
  std::map<std::pair<ShardId, Position>, std::vector<std::string>> all;
  for (PlainViewManager* view_manager : view_managers) {
    for (const auto& [lane, changes] : view_manager->seen()) {
      std::map<Position, std::vector<std::string>> mine;
      for (const auto& change : changes) mine[change.at].push_back(change.text);
      for (auto& [at, texts] : mine) all[{lane, at}] = texts;
    }
  }
  std::vector<std::string> out;
  for (const auto& [at, texts] : all) out.insert(out.end(), texts.begin(), texts.end());
  return out;
}

void expect_all_seen_once(NodeBed& bed, const std::vector<PlainViewManager*>& view_managers) {
  std::vector<std::string> texts = seen_by(view_managers);
  std::set<std::string> distinct(texts.begin(), texts.end());
  EXPECT_EQ(distinct.size(), texts.size()) << "some change was seen at two places";
  for (const std::string& text : bed.acknowledged()) EXPECT_EQ(distinct.count(text), 1u) << text;
}

bool all_seen(NodeBed& bed, const std::vector<PlainViewManager*>& view_managers) {
  std::vector<std::string> texts = seen_by(view_managers);
  std::set<std::string> distinct(texts.begin(), texts.end());
  for (const std::string& text : bed.acknowledged()) {
    if (distinct.count(text) == 0) return false;
  }
  return true;
}

TEST(StorageNode, AWriteGoesThroughTheLogToTheRowsAndToAQueue) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& view_manager = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  bed.write("hello", "world");
  ASSERT_TRUE(bed.run_until([&] { return bed.unanswered() == 0; }));
  EXPECT_EQ(bed.acknowledged().count("world"), 1u);
  EXPECT_EQ(bed.read_all(), (std::map<std::string, std::string>{{"hello", "world"}}));
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&view_manager}); }));
}

TEST(StorageNode, TellsHowLoadedItIsAndHowFarItsLanesAreBehind) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& view_manager = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  view_manager.commits = false;
  write_round(bed, 20, "a");
  bed.run_for(Micros{3'000'000});
  pb::RegionStatus behind = bed.status("n1", 1);
  EXPECT_GT(behind.lag_records(), 0u);
  EXPECT_GE(behind.lag_micros(), 1'000'000);
  EXPECT_GT(behind.changes_per_second(), 0u);
  ASSERT_EQ(behind.load_size(), 8);
  EXPECT_EQ(behind.load(7).shards().end(), 8u);

  // Reports are repeated by a real view manager; this one commits what comes next, and all before it.
  view_manager.commits = true;
  write_round(bed, 20, "b");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).lag_records() == 0; })) << bed.describe();
  EXPECT_EQ(bed.status("n1", 1).lag_micros(), 0);
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).changes_per_second() == 0; }));
}

// A view manager is not told of records that do not concern its lanes, and so does not commit past them.
TEST(StorageNode, LanesThatNothingConcernsAreNotBehind) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& busy = bed.start_view_manager("v1");
  bed.start_view_manager("v2");
  bed.set_ring({"v1", "v1", "v1", "v1", "v2", "v2", "v2", "v2"});
  bed.bootstrap({"n1"});
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  for (uint64_t i = 0, written = 0; written < 20; ++i) {
    if (kBedShards.shard_of(NodeBed::hash_of(key_of(i))) >= ShardId{4}) continue;
    bed.run_for(Micros{1'000'000});
    bed.write(key_of(i), std::to_string(i));
    ++written;
  }
  ASSERT_TRUE(bed.run_until([&] { return bed.unanswered() == 0 && all_seen(bed, {&busy}); }));
  bed.run_for(Micros{3'000'000});
  const RegionState& state = bed.node("n1").region(RegionId{1})->state();
  ASSERT_LT(state.committed_floor(), state.last_change().offset) << "else this shows nothing";
  EXPECT_EQ(bed.status("n1", 1).lag_records(), 0u);
  EXPECT_EQ(bed.status("n1", 1).lag_micros(), 0);

  // An owner that has not seen the changes knows it, too, once its queues have read them again.
  bed.crash("n1");
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  bed.run_for(Micros{3'000'000});
  EXPECT_EQ(bed.status("n1", 1).lag_records(), 0u);

  busy.commits = false;
  bed.write("key0", "late");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).lag_records() > 0; }));
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).lag_micros() > 2'000'000; }));
}

TEST(StorageNode, ALaneStandsStillFromTheEndOfItsViewManagerToTheNext) {
  NodeBed bed;
  bed.start("n1");
  bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 20, "a");
  bed.view_manager("v1").die_unnoticed();
  bed.run_for(Micros{1'000'000});  // Its queues are opened again and again, in vain.
  PlainViewManager& next = bed.start_view_manager("v2");
  bed.stop_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v2"));
  write_round(bed, 20, "b");
  ASSERT_TRUE(bed.run_until([&] { return next.opens() > 0 && bed.status("n1", 1).pauses_size() > 0; }));
  for (const pb::LanePause& pause : bed.status("n1", 1).pauses()) EXPECT_GE(pause.micros(), 900'000u);
}

TEST(StorageNode, ALaneThatOnlyLostItsConnectionHasNotPausedWhenItMovesLater) {
  NodeBed bed;
  bed.start("n1");
  bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 20, "a");
  bed.network.set_faults({.loss = 1});
  bed.write("lost", "connection");
  bed.run_for(Micros{100'000});
  bed.network.set_faults({});
  write_round(bed, 20, "b");
  bed.run_for(Micros{1'000'000});
  bed.start_view_manager("v2");
  bed.set_ring(std::vector<std::string>(8, "v2"));
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).pauses_size() > 0; }));
  for (const pb::LanePause& pause : bed.status("n1", 1).pauses()) EXPECT_LT(pause.micros(), 500'000u);
}

// Its token is that of the region's last change, which another view manager saw.
TEST(StorageNode, AWriteThatChangesNothingCanBeWaitedForThoughAllIsQuiet) {
  NodeBed bed;
  bed.start("n1");
  bed.start_view_manager("v1");
  bed.start_view_manager("v2");
  bed.set_ring({"v1", "v1", "v1", "v1", "v2", "v2", "v2", "v2"});
  bed.bootstrap({"n1"});
  auto key_in = [](bool low) {
    for (int i = 0;; ++i) {
      const std::string key = "key" + std::to_string(i);
      if ((kBedShards.shard_of(NodeBed::hash_of(key)).value < 4) == low) return key;
    }
  };
  auto write = [&](const std::string& key) {
    WriteBatch batch;
    batch.add({OperationKind::Put, kBedTable, NodeBed::hash_of(key), key, "text", std::nullopt});
    std::optional<LaneRuns> tokens;
    bed.client().write(std::move(batch), CatalogVersion{1}, Atomicity::PerRegion,
                       [&](const Result<WriteOutcome, ClientFailure>& outcome) {
                         ASSERT_TRUE(outcome.ok()) << outcome.error().message;
                         tokens = outcome->tokens;
                       });
    EXPECT_TRUE(bed.run_until([&] { return tokens.has_value(); }));
    bed.run_for(Micros{1'000'000});
    return tokens.value_or(LaneRuns());
  };
  write(key_in(true));
  write(key_in(false));
  const LaneRuns tokens = write(key_in(true));
  bool waited = false;
  bed.client().wait({kBedTable}, tokens, std::nullopt,
                    [&](const Result<std::monostate, ClientFailure>& result) { waited = result.ok(); });
  EXPECT_TRUE(bed.run_until([&] { return waited; }));
}

TEST(StorageNode, RefusesWhatItDoesNotOwnAndNamesTheOwner) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1"});
  std::optional<pb::Refusal> refusal;
  auto transport = bed.network.connect(Address{"asker"}, bed.scheduler);
  transport->set_handlers({[&](const Address&, MessagePtr message) { refusal = message->refusal(); }, {}});
  auto question = std::make_shared<pb::Message>();
  question->set_request(5);
  question->mutable_write()->set_region(1);
  transport->send(Address{"n2"}, question);
  ASSERT_TRUE(bed.run_until([&] { return refusal.has_value(); }));
  EXPECT_EQ(refusal->code(), pb::NOT_OWNER);
  EXPECT_EQ(refusal->owner(), "n1");
}

TEST(StorageNode, RestartsFromItsCheckpointAndTheLog) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, 20, "first");
  bed.run_for(Micros{5'000'000});
  EXPECT_FALSE(bed.disk("n1").checkpoints().empty());
  write_round(bed, 20, "second");
  bed.crash("n1");
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  bed.expect_nothing_lost();
  write_round(bed, 20, "third");
  bed.expect_nothing_lost();
}

TEST(StorageNode, AcknowledgedWritesSurviveKillsAtAnyPoint) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    NodeBed bed(seed);
    bed.start("n1");
    PlainViewManager& view_manager = bed.start_view_manager("v1");
    bed.set_ring(std::vector<std::string>(8, "v1"));
    bed.bootstrap({"n1"});
    uint64_t number = 0;
    for (int kill = 0; kill < 10; ++kill) {
      write_some(bed, 10, number);
      for (uint64_t left = bed.random.below(300); left > 0; --left) bed.scheduler.run_one();
      bed.crash("n1");
      bed.run_for(Micros{static_cast<int64_t>(bed.random.below(100'000))});
      bed.start("n1");
    }
    ASSERT_TRUE(bed.run_until([&] { return bed.unanswered() == 0; }));
    bed.expect_nothing_lost();
    ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&view_manager}); }));
    expect_all_seen_once(bed, {&view_manager});
    for (const std::string& text : bed.said) EXPECT_EQ(text.find("can not be"), std::string::npos) << text;
  }
}

TEST(StorageNode, AStandbyTailsAndIsPromoted) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 20, "first");
  bed.move(1, "n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", 1) && !bed.owns("n1", 1); }));
  write_round(bed, 20, "second");
  bed.crash("n2");
  bed.move(1, "n1");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  bed.expect_nothing_lost();
  write_round(bed, 20, "third");
  bed.expect_nothing_lost();
}

TEST(StorageNode, ALaterMemberIsSeededByTheOwnerAndCanTakeOver) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, 50, "first");
  bed.start("n3");
  bed.run_for(Micros{1'000'000});
  bed.join(1, "n3");
  write_round(bed, 50, "second");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n3", 1).has_checkpoint(); }));
  EXPECT_EQ(bed.status("n3", 1).joined(), bed.map().version());
  write_round(bed, 50, "third");
  bed.crash("n1");
  bed.move(1, "n3");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n3", 1); }));
  bed.expect_nothing_lost();
}

// The owner pauses while it sends, the region moves, the next owner sends, and the first one wakes up. The
// rows of its chunk are behind the checkpoint that the next one sends: no log would bring them again.
TEST(StorageNode, ASeedIsNotMixedFromTwoOwners) {
  NodeBed bed;
  bed.seed_chunk_bytes = 300;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 50, "first");
  bed.start("n3");
  bed.run_for(Micros{1'000'000});
  std::map<Address, std::shared_ptr<pb::Message>> lost;  // The third chunk of each sender.
  bed.network.set_tap([&](const Address& from, const Address& to, const pb::Message& message) {
    if (!message.has_checkpoint_chunk() || message.checkpoint_chunk().index() != 2) return;
    if (lost.try_emplace(from, std::make_shared<pb::Message>(message)).second) bed.network.cut(from, to);
  });
  bed.join(1, "n3");
  ASSERT_TRUE(bed.run_until([&] { return lost.count(Address{"n1"}) != 0; }));
  bed.crash("n1");
  bed.move(1, "n2");
  write_round(bed, 50, "later");
  ASSERT_TRUE(bed.run_until([&] { return lost.count(Address{"n2"}) != 0; }));
  bed.network.heal_all();
  auto woken = bed.network.connect(Address{"n1"}, bed.scheduler);
  woken->send(Address{"n3"}, lost.at(Address{"n1"}));
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n3", 1).has_checkpoint(); }));
  bed.crash("n2");
  bed.move(1, "n3");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n3", 1); }));
  bed.expect_nothing_lost();
}

// Connections break, and what was sent through an older one comes late: a first chunk, too.
TEST(StorageNode, ASeedEndsWhateverIsLostOrLate) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    NodeBed bed(seed);
    bed.seed_chunk_bytes = 300;
    bed.start("n1");
    bed.bootstrap({"n1"});
    write_round(bed, 50, "first");
    bed.start("n2");
    bed.run_for(Micros{1'000'000});
    SimNetworkFaults faults;
    faults.loss = 0.05;
    faults.slow = 0.2;
    faults.slow_delay_max = Micros{3'000'000};
    bed.network.set_faults(faults);
    bed.join(1, "n2");
    bed.run_for(Micros{10'000'000});
    bed.network.set_faults({});
    ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
  }
}

// The owner pauses while it sends, the region is split, another sends the child, and the first one wakes up.
TEST(StorageNode, ASeedOfAChildIsNotMixedWithTheParents) {
  NodeBed bed;
  bed.seed_chunk_bytes = 300;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 50, "first");
  bed.start("n3");
  bed.run_for(Micros{1'000'000});
  std::shared_ptr<pb::Message> late;
  bool child_has_rows = false;
  bed.network.set_tap([&](const Address& from, const Address& to, const pb::Message& message) {
    if (!message.has_checkpoint_chunk()) return;
    const pb::CheckpointChunk& chunk = message.checkpoint_chunk();
    const bool of_parent = chunk.region() == 1 && chunk.index() == 2 && !late;
    if (of_parent) late = std::make_shared<pb::Message>(message);
    const bool last_of_child = chunk.region() == 2 && chunk.last() && !child_has_rows;
    if (last_of_child) child_has_rows = true;
    if (of_parent || last_of_child) bed.network.cut(from, to);
  });
  bed.join(1, "n3");
  ASSERT_TRUE(bed.run_until([&] { return late != nullptr; }));
  bed.split(1, 7);
  write_round(bed, 50, "second");
  bed.crash("n1");
  for (uint64_t child : {2, 3}) bed.move(child, "n2");
  ASSERT_TRUE(bed.run_until([&] { return child_has_rows; }));
  bed.network.heal_all();
  auto woken = bed.network.connect(Address{"n1"}, bed.scheduler);
  woken->send(Address{"n3"}, late);
  for (uint64_t child : {2, 3})
    ASSERT_TRUE(bed.run_until([&] { return bed.status("n3", child).has_checkpoint(); })) << child;
  bed.crash("n2");
  for (uint64_t child : {2, 3}) {
    bed.move(child, "n3");
    ASSERT_TRUE(bed.run_until([&] { return bed.owns("n3", child); })) << child;
  }
  bed.expect_nothing_lost();
}

// The parent's rows are the child's, and of the child only the seed's have come: they stay when the map lets
// go of the parent.
TEST(StorageNode, ASeedOutlivesTheParentThatIsDroppedMeanwhile) {
  NodeBed bed;
  bed.seed_chunk_bytes = 300;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 50, "first");
  bed.split(1, 3);
  for (uint64_t child : {2, 3})
    ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", child).has_checkpoint(); })) << child;
  bed.leave(3, "n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.node("n2").regions().find(RegionId{3}) == nullptr; }));

  bool is_amid = false;
  bed.network.set_tap([&](const Address& from, const Address& to, const pb::Message& message) {
    if (!message.has_checkpoint_chunk() || message.checkpoint_chunk().index() != 2 || is_amid) return;
    is_amid = true;
    bed.network.cut(from, to);
  });
  bed.join(3, "n2");
  ASSERT_TRUE(bed.run_until([&] { return is_amid; }));
  bed.change_map([&](pb::RegionMap& map) {
    ASSERT_EQ(map.regions(0).region(), 1u);
    map.mutable_regions()->DeleteSubrange(0, 1);
  });
  ASSERT_TRUE(bed.run_until([&] { return bed.node("n2").regions().find(RegionId{1}) == nullptr; }));
  bed.network.heal_all();
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 3).has_checkpoint(); }));
  bed.crash("n1");
  for (uint64_t child : {2, 3}) {
    bed.move(child, "n2");
    ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", child); })) << child;
  }
  bed.expect_nothing_lost();
}

// What it needs of the log may be gone.
TEST(StorageNode, ASeedBelowTheFloorIsRefused) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, 50, "first");
  bed.start("n3");
  bed.run_for(Micros{1'000'000});
  bed.change_map([&](pb::RegionMap& map) {
    pb::Replica& replica = *bed.entry(map, 1).add_replicas();
    replica.set_node("n3");
    replica.set_joined(map.version());
    bed.entry(map, 1).set_floor(5);
  });
  bed.run_for(Micros{20'000'000});
  EXPECT_FALSE(bed.status("n3", 1).has_checkpoint());
}

// Else the log could be cut behind whoever has it.
TEST(StorageNode, ASeedIsSentToMembersOnly) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, 20, "first");
  size_t chunks = 0;
  auto stranger = bed.network.connect(Address{"n3"}, bed.scheduler);
  stranger->set_handlers(
      {[&](const Address&, const MessagePtr& message) { chunks += message->has_checkpoint_chunk() ? 1 : 0; },
       [](const Address&) {}});
  const uint64_t joined = bed.map().version() + 1;
  auto ask = [&] {
    auto message = std::make_shared<pb::Message>();
    message->mutable_checkpoint_ack()->set_region(1);
    message->mutable_checkpoint_ack()->set_joined(joined);
    stranger->send(Address{"n1"}, std::move(message));
    bed.run_for(Micros{1'000'000});
  };
  ask();
  EXPECT_EQ(chunks, 0u);
  bed.change_map([&](pb::RegionMap& map) {
    pb::Replica& replica = *bed.entry(map, 1).add_replicas();
    replica.set_node("n3");
    replica.set_joined(joined);
  });
  bed.run_for(Micros{1'000'000});
  ask();
  EXPECT_GT(chunks, 0u);
}

TEST(StorageNode, NoChunkOfASeedIsLargerThanRowsOrStateOfOneChunk) {
  NodeBed bed;
  bed.seed_chunk_bytes = 100;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, 20, "first");
  auto standby = bed.network.connect(Address{"n3"}, bed.scheduler);
  bed.join(1, "n3");
  auto ask = [&, joined = bed.map().version()](uint64_t index, uint64_t sending) {
    auto message = std::make_shared<pb::Message>();
    message->mutable_checkpoint_ack()->set_region(1);
    message->mutable_checkpoint_ack()->set_joined(joined);
    message->mutable_checkpoint_ack()->set_index(index);
    message->mutable_checkpoint_ack()->set_sending(sending);
    standby->send(Address{"n1"}, std::move(message));
  };
  std::string state;
  size_t pieces = 0;
  bool last = false;
  standby->set_handlers({[&](const Address&, const MessagePtr& message) {
                           if (!message->has_checkpoint_chunk()) return;
                           const pb::CheckpointChunk& chunk = message->checkpoint_chunk();
                           EXPECT_LE(chunk.state().size(), 100u);
                           state += chunk.state();
                           pieces += chunk.state().empty() ? 0 : 1;
                           last = chunk.last();
                           ask(chunk.index() + 1, chunk.sending());
                         },
                         [](const Address&) {}});
  bed.run_for(Micros{1'000'000});
  ask(0, 0);
  ASSERT_TRUE(bed.run_until([&] { return last; }));
  EXPECT_GT(pieces, 1u);
  EXPECT_TRUE(decode_checkpoint(state).ok());
}

// Whoever sends one may be behind, and not know it.
TEST(StorageNode, AStandbyWithACheckpointTakesNoSeed) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 20, "first");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
  bed.crash("n1");
  bed.crash("n2");
  bed.start("n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.node("n2").regions().find(RegionId{1}) != nullptr; }));
  EXPECT_TRUE(bed.node("n2").regions().wants_seed().empty());
}

// n1 owns region 1; n2 was its standby, and has nothing any more.
void start_and_lose_a_disk(NodeBed& bed) {
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, 20, "first");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
  bed.crash("n2");
  bed.lose_disk("n2");
  bed.start("n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).lost(); }));
}

TEST(StorageNode, AnEmptyDiskSaysThatItIsLostAndJoinsAnew) {
  NodeBed bed;
  ASSERT_NO_FATAL_FAILURE(start_and_lose_a_disk(bed));
  EXPECT_FALSE(bed.status("n2", 1).has_checkpoint());
  bed.change_map(
      [&](pb::RegionMap& map) { bed.entry(map, 1).mutable_replicas(1)->set_joined(map.version()); });
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
  bed.crash("n1");
  bed.move(1, "n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", 1); }));
  bed.expect_nothing_lost();
}

// A sealed parent is sent by nobody: whoever lost it gets the child from the child's owner.
TEST(StorageNode, ANodeThatLostTheParentBeforeTheSplitIsSeededWithTheChildren) {
  NodeBed bed;
  ASSERT_NO_FATAL_FAILURE(start_and_lose_a_disk(bed));
  bed.split(1, 3);
  write_round(bed, 20, "second");
  for (uint64_t child : {2, 3})
    ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", child).has_checkpoint(); })) << child;
  bed.crash("n1");
  for (uint64_t child : {2, 3}) {
    bed.move(child, "n2");
    ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", child); })) << child;
  }
  bed.expect_nothing_lost();
}

// n1 has region 1 alone, and its log is cut to the returned offset.
uint64_t start_and_cut_the_log(NodeBed& bed) {
  bed.start("n1");
  bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  // Readers start about every 64 records: the log is needed from the last such place before the checkpoint.
  uint64_t checkpoint = 0;
  for (int i = 0; i < 100 && checkpoint <= 5; ++i) {
    write_round(bed, 50, std::to_string(i));
    bed.run_for(Micros{5'000'000});
    checkpoint = bed.status("n1", 1).checkpoint();
  }
  EXPECT_GT(checkpoint, 5u);
  write_round(bed, 50, "last");
  bed.change_map([&](pb::RegionMap& map) { bed.entry(map, 1).set_floor(checkpoint); });
  bed.run_for(Micros{1'000'000});
  return checkpoint;
}

TEST(StorageNode, TheOwnerTrimsToTheFloorOfTheMapAndStillRestarts) {
  NodeBed bed;
  const uint64_t checkpoint = start_and_cut_the_log(bed);
  std::vector<LogEntry> left = bed.logs.entries({kBedCluster, RegionId{1}});
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front().offset.value, checkpoint);
  bed.crash("n1");
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  bed.expect_nothing_lost();
}

// Whoever restarts may be shown an old map first, of before it had the region.
TEST(StorageNode, DropsNothingByAMapOlderThanItsCheckpoint) {
  NodeBed bed;
  start_and_cut_the_log(bed);
  bed.run_for(Micros{20'000'000});
  bed.crash("n1");
  const pb::RegionMap newest = bed.map();
  bed.change_map([](pb::RegionMap& map) {
    map.clear_regions();
    map.set_version(1);
  });
  bed.start("n1");
  bed.run_for(Micros{1'000'000});
  bed.change_map([&](pb::RegionMap& map) { map = newest; });
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); }));
  bed.expect_nothing_lost();
}

TEST(StorageNode, ASplitKeepsRowsAndQueues) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& view_manager = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 40, "first");
  bed.split(1, 3);
  write_round(bed, 40, "second");
  EXPECT_TRUE(bed.owns("n1", 2));
  EXPECT_TRUE(bed.owns("n1", 3));
  bed.expect_nothing_lost();
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&view_manager}); }));
  expect_all_seen_once(bed, {&view_manager});
}

TEST(StorageNode, AMergeKeepsRowsAndQueues) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& view_manager = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 40, "first");
  bed.split(1, 3);
  write_round(bed, 40, "second");
  bed.merge(2, 3);
  write_round(bed, 40, "third");
  EXPECT_TRUE(bed.owns("n1", 4));
  bed.expect_nothing_lost();
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&view_manager}); }));
  expect_all_seen_once(bed, {&view_manager});
}

TEST(StorageNode, TheParentsTailIsServedByTheChildsOwnerAlsoAfterARestart) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& view_manager = bed.start_view_manager("v1");
  view_manager.credit = 1;  // Nothing gets through.
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 40, "first");
  bed.split(1, 3);
  write_round(bed, 40, "second");
  bed.run_for(Micros{5'000'000});
  bed.crash("n1");
  bed.start("n1");
  view_manager.credit = uint64_t{1} << 40;
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 2) && bed.owns("n1", 3); }));
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&view_manager}); }));
  expect_all_seen_once(bed, {&view_manager});
}

TEST(StorageNode, LanesMoveToANewViewManagerAtTheCut) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& first = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  write_round(bed, 40, "first");
  PlainViewManager& second = bed.start_view_manager("v2");
  bed.set_ring({"v1", "v1", "v1", "v1", "v2", "v2", "v2", "v2"});
  write_round(bed, 40, "second");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).ring_acknowledged() == 2; }));
  write_round(bed, 40, "third");
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&first, &second}); }));
  expect_all_seen_once(bed, {&first, &second});
  for (const auto& [lane, changes] : second.seen()) EXPECT_GE(lane.value, 4u);
  EXPECT_FALSE(second.seen().empty());
}

// Queues of one view manager are gathered into one where that can be; lanes that have committed under
// different rings stay in queues of their own.
TEST(StorageNode, LanesUnderManyRingsStayInManyQueues) {
  NodeBed bed;
  bed.queues_per_member_max = 2;
  bed.start("n1");
  std::vector<std::string> ring;
  std::vector<PlainViewManager*> all;
  for (int i = 0; i < 8; ++i) {
    ring.push_back("v" + std::to_string(i));
    all.push_back(&bed.start_view_manager(ring.back()));
  }
  bed.set_ring(ring);
  bed.bootstrap({"n1"});
  write_round(bed, 40, "first");
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, all); }));
  all.push_back(&bed.start_view_manager("heir"));
  bed.network.cut(Address{"heir"}, Address{"n1"});  // It gets all, and nobody hears what it commits.
  for (uint64_t i = 0; i < 6; ++i) {
    ring[i] = "heir";
    bed.set_ring(ring);
    write_round(bed, 20, std::to_string(i));
    ASSERT_TRUE(bed.run_until([&] {
      const RegionState& state = bed.node("n1").region(RegionId{1})->state();
      return state.ring_at(ShardId{static_cast<uint32_t>(i)},
                           state.committed().at(ShardId{static_cast<uint32_t>(i)})) == RingVersion{i + 2};
    })) << bed.describe();
  }
  bed.network.heal_all();
  write_round(bed, 40, "last");
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, all); })) << bed.describe();
  expect_all_seen_once(bed, all);
}

TEST(StorageNode, TheSuccessorOfADeadViewManagerStartsAtTheCommittedPositions) {
  NodeBed bed;
  bed.start("n1");
  PlainViewManager& first = bed.start_view_manager("v1");
  bed.set_ring(std::vector<std::string>(8, "v1"));
  bed.bootstrap({"n1"});
  first.commits = false;
  write_round(bed, 40, "first");
  bed.run_for(Micros{1'000'000});
  bed.stop_view_manager("v1");
  write_round(bed, 40, "second");
  PlainViewManager& second = bed.start_view_manager("v2");
  bed.set_ring(std::vector<std::string>(8, "v2"));
  ASSERT_TRUE(bed.run_until([&] { return all_seen(bed, {&second}); }));
  expect_all_seen_once(bed, {&second});
}

}  // namespace
}  // namespace tidemark
