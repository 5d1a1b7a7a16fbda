// Storage nodes whose log or disk is in trouble for a while: nothing is lost, and they go on by themselves.
#include <gtest/gtest.h>

#include "tests/node/node_bed.h"

namespace tidemark {
namespace {

void write_round(NodeBed& bed, const std::string& round) {
  for (int key = 0; key < 20; ++key)
    bed.write("key" + std::to_string(key), round + "/" + std::to_string(key));
  ASSERT_TRUE(bed.run_until([&] { return bed.unanswered() == 0; }));
}

bool has_said(const NodeBed& bed, const std::string& what) {
  return std::any_of(bed.said.begin(), bed.said.end(),
                     [&](const std::string& text) { return text.find(what) != std::string::npos; });
}

bool has_log(NodeBed& bed, uint64_t region) {
  std::optional<bool> found;
  const auto store = bed.logs.connect(bed.scheduler);
  store->open({kBedCluster, RegionId{region}}, [&](const auto& opened) { found = opened.ok(); });
  EXPECT_TRUE(bed.run_until([&] { return found.has_value(); }));
  return found.value_or(false);
}

// n1 had region 1 and a checkpoint of it, and is down.
void start_and_crash(NodeBed& bed) {
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, "first");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).has_checkpoint(); }));
  bed.crash("n1");
}

// A broker that has just become the leader may say so: decision 0010.
TEST(StorageNodeTroubles, ALogThatSeemsToEndBeforeTheCheckpointIsWaitedFor) {
  NodeBed bed;
  ASSERT_NO_FATAL_FAILURE(start_and_crash(bed));
  bed.log_troubles.end = Offset{1};
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "ends at"); }));
  bed.run_for(Micros{5'000'000});
  EXPECT_FALSE(bed.owns("n1", 1));
  bed.log_troubles = {};
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); })) << bed.describe();
  bed.expect_nothing_lost();
}

// Who promotes it, or cuts the log on its word, would lose what only others have.
TEST(StorageNodeTroubles, ARegionThatCanNotBeUsedClaimsNoCheckpointAndIsTriedAgain) {
  NodeBed bed;
  ASSERT_NO_FATAL_FAILURE(start_and_crash(bed));
  bed.log_troubles.open = LogFailure{LogError::Refused, "no such topic"};
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used: no such topic"); }));
  EXPECT_TRUE(bed.run_until([&] { return !bed.status("n1", 1).has_checkpoint(); }));
  bed.log_troubles = {};
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 1); })) << bed.describe();
  EXPECT_TRUE(bed.run_until([&] { return bed.status("n1", 1).has_checkpoint(); }));
  bed.expect_nothing_lost();
}

// It has what may be the only copy: nobody must take it for one that begins anew.
TEST(StorageNodeTroubles, AnOwnerWhoseLogIsRefusedHasNotLostTheRegion) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, "first");
  for (const char* node : {"n1", "n2"})
    ASSERT_TRUE(bed.run_until([&] { return bed.status(node, 1).has_checkpoint(); })) << node;
  bed.change_map([&](pb::RegionMap& map) { bed.entry(map, 1).set_floor(1); });
  bed.crash("n1");
  bed.log_troubles.open = LogFailure{LogError::Refused, "no such topic"};
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used"); }));
  ASSERT_TRUE(bed.run_until([&] { return !bed.status("n1", 1).has_checkpoint(); }));
  EXPECT_FALSE(bed.status("n1", 1).lost());
}

// It would come and go with every attempt.
TEST(StorageNodeTroubles, ALogThatWasCutGivesNoCheckpointWhileItIsTriedAgain) {
  NodeBed bed;
  ASSERT_NO_FATAL_FAILURE(start_and_crash(bed));
  bed.log_troubles.end = Offset{1};
  bed.start("n1");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used"); }));
  ASSERT_TRUE(bed.run_until([&] { return !bed.status("n1", 1).has_checkpoint(); }));
  for (int second = 0; second < 100; ++second) {
    bed.run_for(Micros{1'000'000});
    ASSERT_FALSE(bed.status("n1", 1).has_checkpoint()) << second;
  }
}

// Of region 1 into 2 and 3.
void enter_split(NodeBed& bed, pb::RegionChange::Phase phase) {
  bed.change_map([&](pb::RegionMap& map) {
    pb::RegionChange& change = map.changes_size() > 0 ? *map.mutable_changes(0) : *map.add_changes();
    change.Clear();
    change.set_id(1);
    change.add_parents(1);
    change.set_phase(phase);
    change.set_version(map.version());
    for (uint32_t child : {0, 1}) {
      auto* made = change.add_children();
      made->set_region(2 + child);
      made->mutable_shards()->set_begin(4 * child);
      made->mutable_shards()->set_end(4 * child + 4);
    }
  });
}

TEST(StorageNodeTroubles, ASplitIsUndoneThoughTheStreamsOfItsChildrenCanNotBeMade) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, "first");
  bed.log_troubles.create = LogFailure{LogError::Unavailable, "too few brokers"};
  enter_split(bed, pb::RegionChange::SPLIT_SEAL);
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "too few brokers"); }));
  enter_split(bed, pb::RegionChange::UNDO);
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n1", 1).fence_version() == bed.map().version(); }));
  EXPECT_EQ(bed.status("n1", 1).sealed(), 0u);
  bed.change_map([](pb::RegionMap& map) { map.clear_changes(); });
  write_round(bed, "second");
  bed.expect_nothing_lost();
  EXPECT_FALSE(has_log(bed, 2)) << "it was made though the answer said otherwise, and is nobody's";
}

TEST(StorageNodeTroubles, TheLogOfARegionThatIsDoneWithIsRemovedOnceTheStoreTakesIt) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  bed.split(1, 4);
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 2) && bed.owns("n1", 3); }));
  bed.log_troubles.remove = LogFailure{LogError::Unavailable, "no controller"};
  bed.change_map([](pb::RegionMap& map) { map.mutable_regions()->DeleteSubrange(0, 1); });
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "could not be removed"); }));
  EXPECT_TRUE(has_log(bed, 1));
  bed.log_troubles = {};
  bed.run_for(Micros{40'000'000});
  EXPECT_FALSE(has_log(bed, 1));
}

// By an old map: what is written into it is nobody's.
TEST(StorageNodeTroubles, AChildsLogThatIsGoneIsNotMadeAgain) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  bed.log_troubles.open = LogFailure{LogError::Refused, "no such topic"};
  bed.split(1, 4);
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used: no such topic"); }));
  const auto store = bed.logs.connect(bed.scheduler);
  store->remove({kBedCluster, RegionId{2}}, [](const auto&) {});
  bed.log_troubles = {};
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 3); }));
  bed.run_for(Micros{60'000'000});
  EXPECT_FALSE(has_log(bed, 2));
}

TEST(StorageNodeTroubles, AStandbyThatHasHeardOfASplitSealsNothingBeforeTheStreamsOfTheChildrenAreMade) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, "first");
  bed.log_troubles.create = LogFailure{LogError::Unavailable, "too few brokers"};
  enter_split(bed, pb::RegionChange::SPLIT_SEAL);
  bed.run_for(Micros{100'000});
  bed.crash("n1");
  bed.move(1, "n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", 1); })) << bed.describe();
  bed.run_for(Micros{5'000'000});
  EXPECT_EQ(bed.status("n2", 1).sealed(), 0u);
  bed.log_troubles = {};
  EXPECT_TRUE(bed.run_until([&] { return bed.status("n2", 1).sealed() == 1; })) << bed.describe();
}

TEST(StorageNodeTroubles, ACheckpointFromBeforeTheStreamWasMadeIsStartedFrom) {
  NodeBed bed;
  bed.logs.set_available(false);
  bed.start("n1");
  bed.scheduler.post_after(Micros{5'000'000}, [&] {
    EXPECT_TRUE(bed.status("n1", 1).has_checkpoint());
    bed.crash("n1");
    bed.logs.set_available(true);
    bed.start("n1");
  });
  bed.bootstrap({"n1"});
  write_round(bed, "first");
  bed.expect_nothing_lost();
}

TEST(StorageNodeTroubles, AStandbyWithoutRoomDoesNotReadItsLog) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  auto read_to = [&](const std::string& node) {
    return bed.node(node).region(RegionId{1})->state().reader().next;
  };
  write_round(bed, "first");
  ASSERT_TRUE(bed.run_until([&] { return read_to("n2") == read_to("n1"); }));
  bed.disk("n2").refuse_saves("no space left on device");
  bed.disk("n2").fill();
  bed.run_for(Micros{2'000'000});
  write_round(bed, "second");  // What was asked for before still comes.
  bed.run_for(Micros{2'000'000});
  const Offset before = read_to("n2");
  write_round(bed, "third");
  write_round(bed, "fourth");
  bed.run_for(Micros{5'000'000});
  EXPECT_EQ(read_to("n2"), before);
  EXPECT_GT(read_to("n1"), before);
  bed.disk("n2").refuse_saves("");
  ASSERT_TRUE(bed.run_until([&] { return read_to("n2") == read_to("n1"); }));
  bed.crash("n1");
  bed.move(1, "n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n2", 1); }));
  bed.expect_nothing_lost();
}

// Nothing that it holds has moved: the rows that take the room are a seed's.
TEST(StorageNodeTroubles, ANodeWithoutRoomTakesNoSeedAndSavesUntilThereIsRoom) {
  NodeBed bed;
  bed.start("n1");
  bed.bootstrap({"n1"});
  write_round(bed, "first");
  bed.start("n2");
  bed.run_for(Micros{1'000'000});
  bed.disk("n2").refuse_saves("no space left on device");
  bed.disk("n2").fill();
  bed.join(1, "n2");
  bed.run_for(Micros{20'000'000});
  EXPECT_EQ(bed.node("n2").region(RegionId{1}), nullptr);
  bed.disk("n2").refuse_saves("");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
}

// What is left is one node's word.
void take_over(NodeBed& bed, const std::string& from, const std::string& to) {
  for (uint64_t region : {2, 3})
    ASSERT_TRUE(bed.run_until([&] { return bed.status(to, region).has_checkpoint(); })) << region;
  bed.crash(from);
  for (uint64_t region : {2, 3}) {
    bed.move(region, to);
    ASSERT_TRUE(bed.run_until([&] { return bed.owns(to, region); })) << region;
  }
  bed.expect_nothing_lost();
}

// It failed before it was ever saved: nothing but the memory of the process tells of it. The rows are gone by
// the time the node is a member again.
TEST(StorageNodeTroubles, ARegionThatFailedDoesNotOutliveItsMembership) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, "first");
  bed.split(1, 3);
  for (uint64_t child : {2, 3})
    ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", child).has_checkpoint(); })) << child;
  bed.leave(3, "n2");
  bed.run_for(Micros{1'000'000});
  bed.disk("n2").refuse_saves("no space left on device");
  bed.log_troubles.open = LogFailure{LogError::Refused, "no such topic"};
  bed.join(3, "n2");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used"); }));
  bed.leave(3, "n2");
  bed.run_for(Micros{1'000'000});
  bed.disk("n2").refuse_saves("");
  bed.log_troubles = {};
  bed.change_map([](pb::RegionMap& map) { map.mutable_regions()->DeleteSubrange(0, 1); });
  bed.run_for(Micros{40'000'000});
  bed.join(3, "n2");
  take_over(bed, "n1", "n2");
}

// The one child is to be built from the parent, the other one is sent: not before the parent has been read to
// its end, or it would be read over the child's rows.
TEST(StorageNodeTroubles, AParentThatAChildWaitsForIsReadBeforeASeedOfTheOther) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, "first");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 1).has_checkpoint(); }));
  bed.crash("n2");
  bed.split(1, 4);
  write_round(bed, "second");
  bed.leave(2, "n2");
  bed.join(2, "n2");
  bed.log_troubles.open = LogFailure{LogError::Refused, "no such topic"};
  bed.start("n2");
  ASSERT_TRUE(bed.run_until([&] { return has_said(bed, "can not be used"); }));
  bed.log_troubles = {};
  take_over(bed, "n1", "n2");
}

// The other child will never be built from the parent here: nobody has it.
TEST(StorageNodeTroubles, AChildIsSeededThoughTheOtherIsLost) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n1", "n2"});
  write_round(bed, "first");
  bed.split(1, 4);
  ASSERT_TRUE(bed.run_until([&] { return bed.owns("n1", 2) && bed.owns("n1", 3); }));
  bed.crash("n2");
  bed.lose_disk("n2");
  bed.move(3, "n2");
  bed.start("n2");
  ASSERT_TRUE(bed.run_until([&] { return bed.status("n2", 3).lost(); }));
  bed.leave(2, "n2");
  bed.join(2, "n2");
  EXPECT_TRUE(bed.run_until([&] { return bed.status("n2", 2).has_checkpoint(); })) << bed.describe();
}

// Its first map is of before the split: the membership is younger than its disk, which is empty all the same.
TEST(StorageNodeTroubles, AnOwnerThatHasNothingToBeginWithSaysSo) {
  NodeBed bed;
  bed.start("n1");
  bed.start("n2");
  bed.bootstrap({"n2", "n1"});
  write_round(bed, "first");
  const pb::RegionMap before = bed.map();
  bed.split(1, 3);
  const pb::RegionMap newest = bed.map();
  bed.crash("n2");
  bed.lose_disk("n2");
  bed.change_map([&](pb::RegionMap& map) { map = before; });
  bed.start("n2");
  bed.run_for(Micros{1'000'000});
  bed.change_map([&](pb::RegionMap& map) { map = newest; });
  for (uint64_t region : {2, 3})
    EXPECT_TRUE(bed.run_until([&] { return bed.status("n2", region).lost(); })) << region;
}

}  // namespace
}  // namespace tidemark
