// Single decisions of splits and merges: which step comes next, and which must not.
#include <gtest/gtest.h>

#include "coordinator/step_list.h"
#include "coordinator/steps.h"
#include "tests/coordinator/small_cluster.h"

namespace tidemark {

namespace {

using Phase = pb::RegionChange;

TEST(RegionChangePhases, OnlyTheLegalMovesAreLegal) {
  const std::set<std::pair<int, int>> legal = {
      {Phase::SPLIT_SEAL, Phase::UNDO},
      {Phase::MERGE_MERGING, Phase::MERGE_SEAL_FIRST},
      {Phase::MERGE_MERGING, Phase::MERGE_SEAL_SECOND},
      {Phase::MERGE_MERGING, Phase::UNDO},
      {Phase::MERGE_SEAL_FIRST, Phase::MERGE_SEAL_SECOND},
      {Phase::MERGE_SEAL_FIRST, Phase::UNDO},
      {Phase::UNDO, Phase::MERGE_SEAL_SECOND},
      {Phase::UNDO, Phase::MERGE_UNMERGE},
  };
  for (int from = Phase::Phase_MIN; from <= Phase::Phase_MAX; ++from)
    for (int to = Phase::Phase_MIN; to <= Phase::Phase_MAX; ++to)
      EXPECT_EQ(may_follow(static_cast<Phase::Phase>(from), static_cast<Phase::Phase>(to)),
                legal.contains({from, to}))
          << from << " -> " << to;
}

// The seal is the commit point: with it a cancelled split still goes forward.
TEST(NextStep, ASealedSplitIsRolledForwardEvenIfItWasToBeUndone) {
  SmallCluster cluster;
  auto& change = *cluster.facts.map.add_changes();
  change.set_id(1);
  change.add_parents(1);
  change.set_phase(Phase::UNDO);
  change.set_version(5);
  cluster.facts.map.set_version(5);
  for (uint32_t i = 0; i < 2; ++i) {
    auto& child = *change.add_children();
    child.set_region(2 + i);
    child.mutable_shards()->set_begin(i * 4);
    child.mutable_shards()->set_end(i * 4 + 4);
  }
  cluster.report("n1").set_fence_version(1);
  EXPECT_FALSE(cluster.next()) << "undone before the fence";
  cluster.report("n2").set_sealed(1);  // Seen by a standby: the owner is busy, or gone.
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, StepKind::ForwardSplit);
  EXPECT_EQ(step->after.map.regions_size(), 3);
  EXPECT_EQ(step->after.map.regions(1).generation(), 1u);
  EXPECT_TRUE(step->after.map.regions(0).sealed());
  cluster.report("n2").set_sealed(0);
  cluster.report("n1").set_fence_version(5);
  EXPECT_EQ(cluster.next()->kind, StepKind::CancelChange);
}

// What a child has in one checkpoint only would go with that disk: its parent can not be read again.
TEST(NextStep, ASealedRegionGoesOnlyWithTwoCheckpointsOfEachChild) {
  SmallCluster cluster;
  pb::RegionEntry& parent = *cluster.facts.map.mutable_regions(0);
  pb::RegionEntry child = parent;
  parent.set_sealed(true);
  cluster.facts.wishes.set_replicas(1);
  for (uint64_t region : {2, 3}) {
    child.set_region(region);
    child.set_generation(1);
    child.clear_parents();
    child.add_parents(1);
    child.mutable_shards()->set_begin(region == 2 ? 0 : 4);
    child.mutable_shards()->set_end(region == 2 ? 4 : 8);
    *cluster.facts.map.add_regions() = child;
    cluster.observed.statuses[region] = cluster.observed.statuses[1];
    cluster.observed.statuses[region]["n1"].set_committed_past_seal(true);
  }
  auto step = [&] {
    return steps::delete_parent(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  ASSERT_TRUE(step());
  EXPECT_EQ(step()->after.map.regions_size(), 2);
  cluster.observed.statuses[3]["n2"].set_has_checkpoint(false);
  EXPECT_FALSE(step()) << "a replica has none yet";
  cluster.facts.map.mutable_regions(2)->mutable_replicas()->RemoveLast();
  EXPECT_FALSE(step()) << "the only replica has one";
  cluster.facts.cluster.set_embedded(true);
  EXPECT_TRUE(step());
}

// Three nodes, and two regions that are to be merged once their views are filled: region 1, on n1 and n2, is
// the second and follows region 2, on n1 and n3.
struct Merging : SmallCluster {
  Merging() {
    observed.nodes["n3"].set_name("n3");
    facts.wishes.add_nodes()->set_name("n3");
    facts.map.set_next_region(3);
    pb::RegionEntry& first = *facts.map.add_regions();
    first = facts.map.regions(0);
    first.set_region(2);
    first.mutable_shards()->set_begin(4);
    first.mutable_replicas(1)->set_node("n3");
    facts.map.mutable_regions(0)->mutable_shards()->set_end(4);
    pb::Operation& merge = *facts.operations.add_running();
    merge.set_id(1);
    merge.set_kind(pb::Operation::MERGE_REGIONS);
    merge.add_regions(2);
    merge.add_regions(1);
    report("n1").add_backfilling(1);
    observed.statuses[2]["n1"] = report("n1");
    report_all();
  }
  pb::RegionChange& add_merge(pb::RegionChange::Phase phase) {
    auto& change = *facts.map.add_changes();
    change.set_id(1);
    change.add_parents(2);
    change.add_parents(1);
    change.add_children()->set_region(3);
    change.set_phase(phase);
    return change;
  }
};

// The second stands still until its log says that the merge is off.
TEST(NextStep, AMergeIsUndoneByAFenceInTheFirstAndThenUnmergeInTheSecond) {
  Merging cluster;
  auto& change = cluster.add_merge(Phase::UNDO);
  change.set_version(5);
  cluster.facts.map.set_version(5);
  auto step = [&] {
    return steps::advance_change(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  cluster.observed.statuses[1]["n1"].set_merging(1);
  cluster.observed.statuses[2]["n1"].set_fence_version(4);
  EXPECT_FALSE(step()) << "a seal may still come";
  cluster.observed.statuses[2]["n1"].set_fence_version(5);
  ASSERT_TRUE(step());
  EXPECT_EQ(step()->kind, StepKind::UnmergeSecond);
  cluster.facts = step()->after;
  EXPECT_FALSE(step());
  cluster.observed.statuses[1]["n1"].add_unmerged(1);
  EXPECT_EQ(step()->kind, StepKind::CancelChange);
}

// Else it would leave the node for being there, follow the first to it, leave it, for ever; and nothing would
// be done about the first.
TEST(NextStep, ARegionFollowsNoneToANodeThatIsLeaving) {
  Merging cluster;
  cluster.facts.wishes.mutable_nodes(0)->set_leaving(true);
  const std::vector<std::string> steps = cluster.take_steps();
  EXPECT_LT(steps.size(), Merging::kForEver) << steps.back();
  for (const pb::RegionEntry& entry : cluster.facts.map.regions()) {
    EXPECT_NE(entry.owner(), "n1") << entry.ShortDebugString();
    EXPECT_FALSE(Situation::replica_on(entry, "n1")) << entry.ShortDebugString();
  }
}

// It follows the first, which has lost its standby, or never had one.
TEST(NextStep, AMergeTakesNoReplicaAwayThatIsNeeded) {
  Merging cluster;
  cluster.facts.map.mutable_regions(1)->mutable_replicas()->RemoveLast();
  const auto step = steps::remove_replica(Situation(cluster.facts, cluster.observed, cluster.settings));
  EXPECT_FALSE(step) << step->what;
  EXPECT_LT(cluster.take_steps().size(), Merging::kForEver);
}

TEST(NextStep, AMergeThatIsCalledOffTakesNoReplicaAway) {
  Merging cluster;
  cluster.facts.operations.mutable_running(0)->set_cancelling(true);
  EXPECT_EQ(cluster.take_steps(), std::vector<std::string>{"end-operations 1"});
}

// The child needs a node that has both, whether those that had them are back with new disks or stay away.
TEST(NextStep, RegionsThatAreMergedBeginWithTheirLogsOnOneNode) {
  for (const bool back : {true, false}) {
    SCOPED_TRACE(back);
    Merging cluster;
    cluster.observed.nodes["n4"].set_name("n4");
    cluster.facts.wishes.add_nodes()->set_name("n4");
    cluster.facts.map.mutable_regions(1)->set_owner("n2");
    cluster.facts.map.mutable_regions(1)->mutable_replicas(1)->set_node("n2");
    cluster.report_all();
    cluster.add_merge(Phase::MERGE_MERGING);
    cluster.observed.now = cluster.settings.replica_absence;
    for (const char* node : {"n1", "n2"}) {
      for (uint64_t region : {1, 2}) {
        cluster.observed.statuses[region][node].set_has_checkpoint(false);
        cluster.observed.statuses[region][node].set_lost(true);
      }
      if (back) continue;
      cluster.observed.nodes.erase(node);
      cluster.observed.nodes_absent_since[node] = Micros{0};
    }
    for (int i = 0; i < 2; ++i) {
      auto step = steps::restart_region(Situation(cluster.facts, cluster.observed, cluster.settings));
      ASSERT_TRUE(step);
      cluster.facts = step->after;
    }
    const std::string owner = cluster.facts.map.regions(0).owner();
    EXPECT_EQ(cluster.facts.map.regions(1).owner(), owner);
    EXPECT_EQ(cluster.observed.nodes.contains("n1"), back);
    cluster.facts.map.mutable_changes(0)->set_phase(Phase::MERGE_SEAL_SECOND);
    cluster.report_all();
    for (uint64_t region : {1, 2}) {
      cluster.observed.statuses[region][owner].set_lost(false);
      cluster.observed.statuses[region][owner].set_sealed(1);
    }
    const auto forward = steps::advance_change(Situation(cluster.facts, cluster.observed, cluster.settings));
    ASSERT_TRUE(forward);
    EXPECT_EQ(forward->after.map.regions(2).owner(), owner);
  }
}

// It is on one of them only: of the other it has nothing to say.
TEST(NextStep, AMergeWaitsForNoWordOfWhoIsNoMember) {
  Merging cluster;
  cluster.facts.map.mutable_regions(0)->mutable_replicas(1)->set_node("n3");
  auto& alone = *cluster.facts.map.mutable_regions(1)->add_replicas();
  alone.set_node("n2");
  alone.set_joined(1);
  cluster.observed.statuses.clear();
  cluster.report_all();
  cluster.add_merge(Phase::MERGE_SEAL_SECOND);
  for (uint64_t region : {1, 2}) cluster.observed.statuses[region]["n1"].set_sealed(1);
  const auto forward = steps::advance_change(Situation(cluster.facts, cluster.observed, cluster.settings));
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->after.map.regions(2).replicas_size(), 2);
}

// The same with both regions on all three nodes, settled: n1 has both, n2 waits for a checkpoint of the
// first, n3 for one of the second.
struct MergingOnThree : Merging {
  MergingOnThree() {
    for (auto& entry : *facts.map.mutable_regions()) {
      auto& replica = *entry.add_replicas();
      replica.set_node(entry.region() == 1 ? "n3" : "n2");
      replica.set_joined(2);
      observed.statuses[entry.region()]["n1"].clear_backfilling();
    }
    report_all();
    observed.statuses[1]["n3"].set_has_checkpoint(false);
    observed.statuses[2]["n2"].set_has_checkpoint(false);
  }
  void lose_sight_of(const std::string& node) {
    for (auto& [region, statuses] : observed.statuses) statuses.erase(node);
  }
  Situation now() const { return {facts, observed, settings}; }
};

// If n1 is lost, n3 has the first and n2 the second; what they have become, nobody could build.
TEST(NextStep, AMergeWaitsUntilItsChildIsAsSafeAsItsParents) {
  MergingOnThree cluster;
  auto begins = [&] { return steps::begin_merge(cluster.now()).has_value(); };
  EXPECT_FALSE(begins());
  cluster.observed.statuses[2]["n2"].set_has_checkpoint(true);
  EXPECT_TRUE(begins());
  cluster.lose_sight_of("n2");
  EXPECT_FALSE(begins()) << "it is about to say what it has";
  cluster.observed.nodes.erase("n2");
  cluster.observed.nodes_absent_since["n2"] = Micros{0};
  EXPECT_FALSE(begins()) << "it is away for a moment";
  cluster.observed.now = cluster.settings.replica_absence;
  EXPECT_TRUE(begins()) << "without n1 the second would be lost anyway";
}

// Once the first is sealed there is no way back.
TEST(NextStep, AMergeTurnsBackIfItsChildWouldNotBeAsSafeAsItsParents) {
  MergingOnThree cluster;
  cluster.add_merge(Phase::MERGE_MERGING);
  auto step = [&] { return steps::advance_change(cluster.now()); };
  EXPECT_FALSE(step());
  cluster.observed.statuses[1]["n1"].set_merging(1);
  ASSERT_TRUE(step());
  EXPECT_EQ(step()->kind, StepKind::UndoChange);
  cluster.observed.statuses[1]["n3"].set_has_checkpoint(true);
  EXPECT_EQ(step()->kind, StepKind::SealFirst);
  cluster.lose_sight_of("n3");
  EXPECT_FALSE(step()) << "it is about to say what it has";
  cluster.observed.nodes.erase("n3");
  EXPECT_EQ(step()->kind, StepKind::UndoChange) << "the second stands still meanwhile";
}

// Nobody sends the checkpoint of a sealed region: a standby that waits for one can not build its children.
TEST(NextStep, ChildrenAreBornOnlyWhereTheirParentIs) {
  SmallCluster cluster;
  cluster.add_split();
  cluster.facts.map.mutable_regions(0)->mutable_replicas(1)->set_joined(4);
  cluster.report("n1").set_sealed(1);
  cluster.observed.statuses[1].erase("n2");
  EXPECT_FALSE(cluster.next()) << "n2 is alive, and has not said what it has";
  cluster.report("n2").set_has_checkpoint(false);
  cluster.report("n2").set_joined(4);
  cluster.observed.statuses[1]["n2"].set_has_checkpoint(false);
  ASSERT_TRUE(cluster.next());
  EXPECT_EQ(cluster.next()->after.map.regions(1).replicas_size(), 1);
  EXPECT_EQ(cluster.next()->after.map.regions(1).owner(), "n1");
  cluster.observed.statuses[1]["n2"].set_has_checkpoint(true);
  EXPECT_EQ(cluster.next()->after.map.regions(1).replicas_size(), 2);
}

// It may have the only copy beside the owner's, and would be sent another over it.
TEST(NextStep, ChildrenAreBornOnAStandbyThatIsAwayAndHasToldNothing) {
  SmallCluster cluster;
  cluster.add_split();
  cluster.facts.map.mutable_regions(0)->mutable_replicas(1)->set_joined(4);
  cluster.report("n1").set_sealed(1);
  cluster.observed.statuses[1].erase("n2");
  cluster.observed.nodes.erase("n2");
  const auto forward = [&] {
    return steps::advance_change(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  ASSERT_TRUE(forward());
  EXPECT_EQ(forward()->after.map.regions(1).replicas_size(), 2);
  EXPECT_EQ(forward()->after.map.regions(1).owner(), "n1");
  cluster.observed.statuses[1]["n1"].set_lost(true);
  EXPECT_FALSE(forward()) << "nobody is known to have it";
}

}  // namespace

}  // namespace tidemark
