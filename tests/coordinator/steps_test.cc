// Single decisions: which step comes next, and which must not.
#include "coordinator/steps.h"

#include <gtest/gtest.h>

#include "coordinator/coordinator.h"
#include "coordinator/step_list.h"
#include "tests/coordinator/small_cluster.h"

namespace tidemark {

namespace {

TEST(NextStep, AQuietClusterNeedsNone) {
  SmallCluster cluster;
  auto step = cluster.next();
  EXPECT_FALSE(step) << to_string(step->kind) << " " << step->what;
}

TEST(NextStep, ALogIsCutToWhatEveryReplicaAndEveryLaneHasLeftBehind) {
  SmallCluster cluster;
  cluster.settings.discard_records_min = 1;
  cluster.report("n1").set_checkpoint(900);
  cluster.report("n1").set_committed_floor(700);
  cluster.report("n2").set_checkpoint(500);
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->after.map.regions(0).floor(), 500u);
  cluster.report("n2").set_checkpoint(800);
  EXPECT_EQ(cluster.next()->after.map.regions(0).floor(), 700u);
  // A checkpoint of another membership does not count, nor one that is lost.
  cluster.report("n2").set_joined(7);
  EXPECT_FALSE(cluster.next());
  cluster.report("n2").set_joined(1);
  cluster.facts.wishes.set_replicas(1);
  auto other = cluster.next();
  EXPECT_TRUE(!other || other->kind != StepKind::RaiseFloors) << "the second one is there for a move only";
  cluster.facts.map.mutable_regions(0)->mutable_replicas()->RemoveLast();
  EXPECT_FALSE(cluster.next()) << "one checkpoint is not enough in a cluster";
  cluster.facts.cluster.set_embedded(true);
  EXPECT_EQ(cluster.next()->after.map.regions(0).floor(), 700u);
}

TEST(NextStep, AViewIsFilledWhenEveryRegionHasCommittedPastItsPages) {
  SmallCluster cluster;
  pb::Catalog& catalog = cluster.facts.catalog;
  catalog.set_version(4);
  for (uint32_t id : {1u, 2u, 3u}) {
    pb::TableDefinition& view = *catalog.add_tables();
    view.set_id(id);
    view.set_kind(id == 2 ? pb::AUXILIARY : pb::VIEW);
    if (id == 2) view.set_view(1);
    view.set_begun(id == 3 ? 4 : 2);
    if (id == 1) view.set_filled(3);
    if (id == 3) view.set_replaces(1);
  }
  cluster.report("n1").set_catalog_version(3);
  EXPECT_FALSE(cluster.next()) << "the region has not heard that the view has begun";
  cluster.report("n1").set_catalog_version(4);
  cluster.report("n1").add_backfilling(3);
  EXPECT_FALSE(cluster.next()) << "its pages are under way";
  cluster.report("n1").clear_backfilling();
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, StepKind::FillViews);
  EXPECT_EQ(step->after.catalog.version(), 5u);
  EXPECT_EQ(step->after.catalog.tables(2).filled(), 5u);
  // The one that it replaces goes in the same version, with what belongs to it.
  EXPECT_EQ(step->after.catalog.tables(0).dropped(), 5u);
  EXPECT_EQ(step->after.catalog.tables(1).dropped(), 5u);
  EXPECT_EQ(step->after.catalog.tables(2).dropped(), 0u);
  cluster.facts = step->after;
  EXPECT_FALSE(cluster.next());
}

// One process, two identities: its queues would be cut by one and read by the other.
TEST(NextStep, AProcessBearsOneIdentity) {
  SmallCluster cluster;
  cluster.facts.wishes.add_view_managers()->set_name("v2");
  *cluster.facts.ring.mutable_ring() =
      plan_ring(cluster.settings.placement, {8}, {}, {{"v1", 1}, {"v2", 1}}).value();
  pb::ProcessFact& process = cluster.observed.view_managers["v2"];
  process.set_name("v2");
  cluster.observed.view_managers.erase("v1");
  // v2 was away, a process that is no more took its identity over, and v2 then took over that of v1.
  auto bear = [&](const std::string& identity, const std::string& by) {
    pb::RingFact::Bearer& bearer = *cluster.facts.ring.add_bearers();
    bearer.set_identity(identity);
    bearer.set_process(by);
  };
  bear("v2", "gone");
  bear("v1", "v2");
  const Situation now(cluster.facts, cluster.observed, cluster.settings);
  EXPECT_TRUE(now.is_identity_alive("v1"));
  EXPECT_FALSE(now.is_identity_alive("v2"));
  for (int i = 0; i < 10; ++i) {
    auto step = cluster.next();
    if (!step) break;
    cluster.facts = step->after;
    const bool both = bearer_of(cluster.facts.ring, cluster.observed.view_managers, "v1") ==
                      bearer_of(cluster.facts.ring, cluster.observed.view_managers, "v2");
    EXPECT_FALSE(both) << step->what;
  }
  EXPECT_FALSE(cluster.next()) << "it comes to rest";

  // Who is to work under its own name gives up the other.
  pb::Operation& add = *cluster.facts.operations.add_running();
  add.set_kind(pb::Operation::ADD_VIEW_MANAGER);
  add.set_member("v2");
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, StepKind::SubstituteViewManager);
  EXPECT_EQ(identity_of(step->after.ring, "v2"), "");
}

// Seed 264: v4 was to be added again, and the process that had taken its name over never came back.
TEST(NextStep, WhoIsAddedGetsItsNameBackFromOneThatIsGone) {
  SmallCluster cluster;
  cluster.observed.view_managers["v9"].set_name("v9");
  auto* wish = cluster.facts.wishes.add_view_managers();
  wish->set_name("v9");
  wish->set_weight(1);
  pb::RingFact::Bearer& bearer = *cluster.facts.ring.add_bearers();
  bearer.set_identity("v9");
  bearer.set_process("v8");
  pb::Operation& add = *cluster.facts.operations.add_running();
  add.set_kind(pb::Operation::ADD_VIEW_MANAGER);
  add.set_member("v9");
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, StepKind::SubstituteViewManager);
  EXPECT_NE(bearer_of(step->after.ring, cluster.observed.view_managers, "v9"), nullptr);
}

TEST(NextStep, OnlyAStandbyThatCanOpenTheRegionIsPromoted) {
  SmallCluster cluster;
  cluster.observed.nodes.erase("n1");
  cluster.facts.map.mutable_regions(0)->set_floor(100);
  cluster.report("n2").set_has_checkpoint(false);
  auto kinds = [&] {
    auto step = cluster.next();
    return step ? to_string(step->kind) : "none";
  };
  EXPECT_STREQ(kinds(), "notice-node-death");
  cluster.report("n2").set_has_checkpoint(true);
  EXPECT_STREQ(kinds(), "promote-standbys");
  EXPECT_EQ(cluster.next()->after.map.regions(0).owner(), "n2");
  EXPECT_EQ(cluster.next()->after.map.version(), 2u);
  cluster.report("n2").set_lost(true);
  EXPECT_STREQ(kinds(), "notice-node-death");
}

TEST(NextStep, AReplicaOnANodeThatIsAwayForAMomentStays) {
  SmallCluster cluster;
  cluster.observed.nodes.erase("n2");
  cluster.observed.now = Micros{1'000'000};
  cluster.observed.nodes_absent_since["n2"] = Micros{0};
  for (auto step = cluster.next(); step; step = cluster.next()) {
    EXPECT_NE(step->kind, StepKind::RemoveReplica) << step->what;
    cluster.facts = step->after;
  }
  EXPECT_EQ(cluster.facts.map.regions(0).replicas_size(), 2);
}

// Both disks are new. What was acknowledged is in the log.
TEST(NextStep, AnOwnerThatLostTheRegionBeginsWithTheLogIfItIsWhole) {
  SmallCluster cluster;
  for (const char* node : {"n1", "n2"}) {
    cluster.report(node).set_has_checkpoint(false);
    cluster.observed.statuses[1][node].set_lost(true);
  }
  auto rejoined = [&] {
    std::set<std::string> out;
    for (auto step = cluster.next(); step; step = cluster.next()) {
      const bool owner = step->what == "region 1 on n1";
      EXPECT_EQ(step->kind, owner ? StepKind::RestartRegion : StepKind::RejoinReplica);
      cluster.facts = step->after;
      for (const pb::Replica& replica : cluster.facts.map.regions(0).replicas())
        if (replica.joined() == cluster.facts.map.version()) out.insert(replica.node());
    }
    return out;
  };
  const ClusterFacts before = cluster.facts;
  EXPECT_EQ(rejoined(), (std::set<std::string>{"n1", "n2"}));
  cluster.facts = before;
  const pb::RegionStatus told = cluster.observed.statuses[1]["n2"];
  cluster.observed.statuses[1].erase("n2");
  cluster.facts.map.mutable_regions(0)->mutable_replicas(1)->set_joined(3);
  EXPECT_FALSE(cluster.next()) << "n2 may have it, and has not spoken yet";
  cluster.facts = before;
  cluster.observed.statuses[1]["n2"] = told;
  cluster.facts.map.mutable_regions(0)->set_floor(5);
  EXPECT_EQ(rejoined(), (std::set<std::string>{"n2"}));
  cluster.facts = before;
  cluster.add_split();
  EXPECT_EQ(rejoined(), (std::set<std::string>{"n1"})) << "a split waits for its owner";
}

// The log has all of it, and the machine is gone.
TEST(NextStep, AnotherBeginsWithTheLogIfTheOwnerStaysAway) {
  SmallCluster cluster;
  cluster.observed.nodes.erase("n1");
  cluster.observed.statuses[1].erase("n1");
  cluster.observed.statuses[1]["n2"].set_has_checkpoint(false);
  cluster.observed.statuses[1]["n2"].set_lost(true);
  cluster.observed.now = cluster.settings.replica_absence;
  auto step = [&] {
    return steps::restart_region(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  cluster.observed.nodes_absent_since["n1"] = Micros{1};
  EXPECT_FALSE(step()) << "it may come back";
  cluster.observed.nodes_absent_since["n1"] = Micros{0};
  ASSERT_TRUE(step());
  EXPECT_EQ(step()->after.map.regions(0).owner(), "n2");
  EXPECT_EQ(step()->after.map.regions(0).replicas(1).joined(), 2u);
  EXPECT_EQ(step()->after.map.regions(0).born(), 2u) << "it may have to make the log";
  cluster.observed.nodes.erase("n2");
  cluster.observed.nodes_absent_since["n2"] = Micros{0};
  EXPECT_FALSE(step());
  cluster.observed.nodes["n3"].set_name("n3");
  cluster.facts.wishes.add_nodes()->set_name("n3");
  ASSERT_TRUE(step());
  EXPECT_EQ(step()->after.map.regions(0).owner(), "n3");
}

// Its disk is full, say.
TEST(NextStep, ANodeThatTakesNoSeedsHoldsNobodyUp) {
  SmallCluster cluster;
  cluster.settings.seeds_at_once = 1;
  cluster.facts.map.mutable_regions(0)->mutable_replicas(1)->set_joined(2);  // n2 waits for its seed.
  cluster.facts.wishes.mutable_nodes(1)->set_leaving(true);
  cluster.observed.nodes["n3"].set_name("n3");
  cluster.facts.wishes.add_nodes()->set_name("n3");
  const auto step = steps::add_replica(Situation(cluster.facts, cluster.observed, cluster.settings));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->what, "region 1 on n3");
}

TEST(NextStep, ASeedThatNobodyCanSendHoldsNobodyUp) {
  SmallCluster cluster;
  cluster.settings.seeds_at_once = 1;
  pb::RegionEntry& orphan = *cluster.facts.map.add_regions() = cluster.facts.map.regions(0);
  orphan.set_region(2);
  orphan.set_owner("gone");
  orphan.mutable_replicas(1)->set_joined(2);  // n2 waits for its seed.
  cluster.facts.map.mutable_regions(0)->mutable_replicas()->RemoveLast();
  const auto step = steps::add_replica(Situation(cluster.facts, cluster.observed, cluster.settings));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->what, "region 1 on n2");
}

TEST(NextStep, AReplicaIsRemovedOnlyWhenThoseThatStayHaveCheckpoints) {
  SmallCluster cluster;
  cluster.observed.nodes["n3"].set_name("n3");
  cluster.facts.wishes.add_nodes()->set_name("n3");
  cluster.facts.wishes.mutable_nodes(1)->set_leaving(true);
  pb::Replica& replica = *cluster.facts.map.mutable_regions(0)->add_replicas();
  replica.set_node("n3");
  replica.set_joined(1);
  cluster.report("n3").set_has_checkpoint(false);
  auto step = [&] {
    return steps::remove_replica(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  EXPECT_FALSE(step());
  cluster.report("n3").set_has_checkpoint(true);
  ASSERT_TRUE(step());
  EXPECT_FALSE(Situation::replica_on(step()->after.map.regions(0), "n2"));
}

// Seed 344 of regions: n3 had lost its disk, and nobody had heard of it.
TEST(NextStep, OneOfTwoThatAreThereDoesNotLeaveWhileAnotherIsAway) {
  SmallCluster cluster;
  cluster.facts.wishes.add_nodes()->set_name("n3");
  cluster.facts.wishes.mutable_nodes(1)->set_leaving(true);
  cluster.observed.nodes_absent_since["n3"] = Micros{0};
  cluster.observed.now = cluster.settings.replica_absence;
  auto step = [&] {
    return steps::remove_replica(Situation(cluster.facts, cluster.observed, cluster.settings));
  };
  EXPECT_FALSE(step()) << "what n1 has told may be the last that is heard of it";
  cluster.facts.wishes.mutable_nodes(2)->set_leaving(true);
  ASSERT_TRUE(step()) << "no two are to stay";
  EXPECT_FALSE(Situation::replica_on(step()->after.map.regions(0), "n2"));
}

// Nobody waits for a process: what it was to have or to do is given to others, or has failed.
TEST(NextStep, AnOperationEndsThoughItsMemberNeverReturns) {
  struct Case {
    pb::Operation::Kind kind;
    pb::Operation::Outcome outcome;
    bool in_ring = false;
  };
  using Operation = pb::Operation;
  const Case cases[] = {
      {Operation::REMOVE_VIEW_MANAGER, Operation::DONE, true},
      {Operation::REMOVE_VIEW_MANAGER, Operation::DONE, false},
      {Operation::RECOVER_VIEW_MANAGER, Operation::DONE, true},
      {Operation::RECOVER_VIEW_MANAGER, Operation::DONE, false},
      {Operation::ADD_VIEW_MANAGER, Operation::RUNNING, false},  // Waits for it; cancel ends that.
      {Operation::ADD_NODE, Operation::FAILED},
      {Operation::REMOVE_NODE, Operation::DONE},
      {Operation::RECOVER_NODE, Operation::DONE},
      {Operation::MOVE_REGION, Operation::FAILED},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(Operation::Kind_Name(one.kind));
    SmallCluster cluster;
    cluster.observed.now = Micros{3'600'000'000};
    const bool is_removed = one.kind == Operation::REMOVE_NODE || one.kind == Operation::REMOVE_VIEW_MANAGER;
    auto& node = *cluster.facts.wishes.add_nodes();
    node.set_name("n3");
    node.set_leaving(is_removed);
    cluster.observed.nodes_absent_since["n3"] = Micros{0};
    pb::Replica& seeded = *cluster.facts.map.mutable_regions(0)->add_replicas();
    seeded.set_node("n3");
    seeded.set_joined(2);
    auto& view_manager = *cluster.facts.wishes.add_view_managers();
    view_manager.set_name("v2");
    view_manager.set_leaving(is_removed);
    cluster.observed.view_managers_absent_since["v2"] = Micros{0};
    if (one.in_ring)
      *cluster.facts.ring.mutable_ring() =
          plan_ring(cluster.settings.placement, {8}, {}, {{"v1", 1}, {"v2", 1}}).value();
    Operation& operation = *cluster.facts.operations.add_running();
    operation.set_id(77);
    operation.set_kind(one.kind);
    const bool is_of_node = one.kind == Operation::ADD_NODE || one.kind == Operation::REMOVE_NODE ||
                            one.kind == Operation::RECOVER_NODE || one.kind == Operation::MOVE_REGION;
    operation.set_member(is_of_node ? "n3" : "v2");
    operation.set_outcome(Operation::RUNNING);
    if (one.kind == Operation::MOVE_REGION) operation.add_regions(1);
    EXPECT_LT(cluster.take_steps().size(), SmallCluster::kForEver);
    const Situation then(cluster.facts, cluster.observed, cluster.settings);
    ASSERT_TRUE(then.operation(77));
    EXPECT_EQ(then.operation(77)->outcome(), one.outcome) << then.operation(77)->ShortDebugString();
  }
}

// For as long as its replicas are kept, it may come back.
TEST(NextStep, ANodeThatIsAwayForAMomentIsWaitedFor) {
  SmallCluster cluster;
  cluster.observed.now = Micros{cluster.settings.replica_absence.value - 1};
  cluster.facts.wishes.add_nodes()->set_name("n3");
  cluster.observed.nodes_absent_since["n3"] = Micros{0};
  for (auto kind : {pb::Operation::ADD_NODE, pb::Operation::MOVE_REGION}) {
    pb::Operation& operation = *cluster.facts.operations.add_running();
    operation.set_kind(kind);
    operation.set_member("n3");
    operation.add_regions(1);
  }
  EXPECT_FALSE(cluster.next());
  cluster.observed.now = cluster.settings.replica_absence;
  EXPECT_TRUE(cluster.next());
}

TEST(NextStep, AClockThatWasAheadPutsNoRebalancingOff) {
  SmallCluster cluster;
  cluster.settings.rebalance_every = Micros{1'000'000};
  cluster.observed.wall_micros = 50'000'000;
  auto add_ended = [&](int64_t at_micros) {
    pb::Operation& operation = *cluster.facts.history.add_operations();
    operation.set_kind(pb::Operation::REBALANCE);
    operation.set_ended_at_micros(at_micros);
  };
  add_ended(900'000'000);
  ASSERT_TRUE(cluster.next());
  EXPECT_EQ(cluster.next()->kind, StepKind::WishRebalance);
  add_ended(49'500'000);
  EXPECT_FALSE(cluster.next()) << "one has ended a moment ago";
}

// Who waits for the ring that is active must find it.
TEST(NextStep, ARingIsActiveBeforeTheOneBeforeItIsForgotten) {
  SmallCluster cluster;
  pb::RingFact& fact = cluster.facts.ring;
  fact.set_policy(pb::ACTIVATE_BY_COORDINATOR);
  fact.set_activated(1);
  for (uint64_t version : {1, 2}) {
    *fact.add_previous() = fact.ring();
    fact.mutable_previous(fact.previous_size() - 1)->set_version(version);
  }
  fact.mutable_ring()->set_version(3);
  cluster.report("n1").set_ring_version(3);
  cluster.report("n1").set_ring_acknowledged(2);
  ASSERT_TRUE(cluster.next());
  EXPECT_EQ(cluster.next()->kind, StepKind::ActivateRing);
  cluster.facts = cluster.next()->after;
  EXPECT_EQ(fact.activated(), 2u);
  ASSERT_TRUE(cluster.next());
  EXPECT_EQ(cluster.next()->kind, StepKind::ForgetRings);
}

TEST(NextStep, AViewBeginsOnlyWhenEveryRegionKnowsIt) {
  SmallCluster cluster;
  cluster.facts.catalog.set_version(4);
  auto& view = *cluster.facts.catalog.add_tables();
  view.set_kind(pb::VIEW);
  view.set_created(4);
  cluster.report("n1").set_catalog_version(3);
  EXPECT_FALSE(cluster.next());
  cluster.report("n1").set_catalog_version(4);
  auto step = cluster.next();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->after.catalog.version(), 5u);
  EXPECT_EQ(step->after.catalog.tables(0).begun(), 5u);
}

// A version is a record in each log, and a record has a bound.
TEST(NextStep, AVersionBeginsNoMoreViewsThanARecordHasRoomFor) {
  SmallCluster cluster;
  pb::Catalog& catalog = cluster.facts.catalog;
  catalog.set_version(1);
  for (uint32_t id = 1; id <= 40; ++id) {
    pb::TableDefinition& table = *catalog.add_tables();
    table.set_id(id);
    table.set_kind(id % 2 == 0 ? pb::AUXILIARY : pb::VIEW);
    if (id % 2 == 0) table.set_view(id - 1);
    table.set_sql(std::string(90'000, 'x'));
    table.set_created(1);
  }
  cluster.report("n1").set_catalog_version(1);
  cluster.report("n1").add_backfilling(1);
  uint64_t begun = 0;
  for (auto step = cluster.next(); step && step->kind == StepKind::BeginViews; step = cluster.next()) {
    cluster.facts = step->after;
    size_t bytes = 0;
    for (const auto& table : cluster.facts.catalog.tables()) {
      if (table.begun() != cluster.facts.catalog.version()) continue;
      bytes += table.ByteSizeLong();
      ++begun;
    }
    EXPECT_LE(bytes, 500'000u);
    EXPECT_GT(bytes, 0u);
  }
  EXPECT_EQ(begun, 40u);
  for (int i = 0; i < 40; i += 2) {  // In order, each with what belongs to it.
    EXPECT_EQ(cluster.facts.catalog.tables(i).begun(), cluster.facts.catalog.tables(i + 1).begun());
    if (i > 0) {
      EXPECT_GE(cluster.facts.catalog.tables(i).begun(), cluster.facts.catalog.tables(i - 1).begun());
    }
  }
}

TEST(NextStep, AVersionDropsNoMoreReplacedViewsThanARecordHasRoomFor) {
  SmallCluster cluster;
  pb::Catalog& catalog = cluster.facts.catalog;
  catalog.set_version(2);
  auto add = [&](uint32_t id, pb::TableKind kind) -> pb::TableDefinition& {
    pb::TableDefinition& table = *catalog.add_tables();
    table.set_id(id);
    table.set_kind(kind);
    table.set_begun(2);
    return table;
  };
  for (uint32_t old = 1; old <= 100; ++old) {
    add(old, pb::VIEW).set_filled(2);
    for (uint32_t i = 0; i < 100; ++i) add(1000 + old * 100 + i, pb::AUXILIARY).set_view(old);
    add(500 + old, pb::VIEW).set_replaces(old);
  }
  cluster.report("n1").set_catalog_version(2);
  size_t dropped = 0, versions = 0;
  for (auto step = cluster.next(); step; step = cluster.next()) {
    ASSERT_EQ(step->kind, StepKind::FillViews);
    cluster.facts = step->after;
    const auto& tables = cluster.facts.catalog.tables();
    const auto now = std::count_if(tables.begin(), tables.end(), [&](const auto& table) {
      return table.dropped() == cluster.facts.catalog.version();
    });
    EXPECT_LE(now, 8'000);
    dropped += static_cast<size_t>(now);
    ++versions;
  }
  EXPECT_EQ(dropped, 10'100u);
  EXPECT_EQ(versions, 2u);
}

// Its disk may be another.
TEST(Coordinator, WhatANodeToldBeforeItsRestartDoesNotCount) {
  SmallCluster cluster;
  Coordinator coordinator(cluster.settings, 1);
  auto tell = [&](CoordinatorNews news) {
    while (true) {
      CoordinatorCommands out;
      coordinator.step(news, {}, out);
      if (!out.write) return;
      news = news::Written{out.write->after};
    }
  };
  auto counts = [&] { return coordinator.situation().has_checkpoint(cluster.facts.map.regions(0), "n2"); };
  tell(news::Elected{});
  tell(news::FactsRead{cluster.facts});
  tell(news::ViewManagersAlive{cluster.observed.view_managers});
  tell(news::NodesAlive{cluster.observed.nodes});
  tell(news::StatusesReported{{cluster.report("n1"), cluster.report("n2")}});
  tell(news::NodesAlive{cluster.observed.nodes});
  EXPECT_TRUE(counts());
  Members without = cluster.observed.nodes;
  without.erase("n2");
  tell(news::NodesAlive{without});
  EXPECT_TRUE(counts()) << "it may come back with its disk";
  cluster.observed.nodes["n2"].set_boot(7);
  tell(news::NodesAlive{cluster.observed.nodes});
  EXPECT_FALSE(counts());
  tell(news::StatusesReported{{cluster.report("n2")}});
  EXPECT_TRUE(counts());
}

TEST(RingPlanner, MovesAreExactlyTheDifference) {
  auto one = plan_ring("slicing-coalescing", {64}, {}, {{"a", 1}}).value();
  auto two = plan_ring("slicing-coalescing", {64}, one, {{"a", 1}, {"b", 3}}).value();
  EXPECT_EQ(two.version(), 2u);
  EXPECT_EQ(shards_of(two, "b"), 48u);
  uint32_t moved = 0;
  for (const RingMove& move : ring_moves(one, two)) {
    EXPECT_EQ(move.from, "a");
    EXPECT_EQ(move.to, "b");
    moved += move.shards.size();
  }
  EXPECT_EQ(moved, 48u);
  EXPECT_TRUE(ring_moves(two, two).empty());
  EXPECT_FALSE(plan_ring("nonsense", {64}, {}, {{"a", 1}}).ok());
}

// Jump hash can not lose a member in the middle: its shards must not stay with the dead.
TEST(RingPlanner, AStrategyThatCanNotDoTheChangeGivesWay) {
  std::vector<RingMember> three = {{"a", 1}, {"b", 1}, {"c", 1}};
  auto ring = plan_ring("jump", {64}, {}, three).value();
  auto without = plan_ring("jump", {64}, ring, {{"b", 1}, {"c", 1}});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(shards_of(*without, "a"), 0u);
}

}  // namespace

}  // namespace tidemark
