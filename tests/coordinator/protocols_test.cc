// Each protocol of the coordinator, and each with the coordinator killed at each of its steps (P2, P3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/coordinator/fake_cluster.h"

namespace tidemark {

namespace {

using Kinds = std::set<StepKind>;

pb::TableDefinition table(uint32_t id, const std::string& name, pb::TableKind kind) {
  pb::TableDefinition out;
  out.set_id(id);
  out.set_name(name);
  out.set_kind(kind);
  if (kind == pb::VIEW) out.add_sources(1);
  return out;
}

const pb::RegionEntry* live_region_with(const ClusterFacts& facts, uint32_t shard) {
  for (const auto& entry : facts.map.regions())
    if (!entry.sealed() && entry.shards().begin() <= shard && shard < entry.shards().end()) return &entry;
  return nullptr;
}

bool ring_has(const FakeCluster& c, const std::string& name) {
  auto ring = c.facts().ring.ring();
  return std::count(ring.members().begin(), ring.members().end(), name) > 0;
}

size_t owned(const FakeCluster& c, const std::string& node) {
  auto map = c.facts().map;
  return static_cast<size_t>(std::count_if(map.regions().begin(), map.regions().end(),
                                           [&](const auto& e) { return e.owner() == node; }));
}

bool holds_nothing(const FakeCluster& c, const std::string& node) {
  auto map = c.facts().map;
  return std::none_of(map.regions().begin(), map.regions().end(),
                      [&](const auto& e) { return Situation::replica_on(e, node) != nullptr; });
}

// One protocol: what begins it, when it has ended well, and the steps that it takes. A step that the
// coordinator takes and the table does not know fails the test, and so does one that it never takes.
struct Protocol {
  const char* name;
  Kinds steps;
  std::function<void(FakeCluster&)> begin;
  std::function<bool(FakeCluster&)> has_ended;
  std::function<void(CoordinatorSettings&)> settings = nullptr;
  std::function<void(FakeCluster&)> prepare = nullptr;
};

// May come with any protocol.
const Kinds kHousekeeping = {StepKind::EndOperations, StepKind::ForgetRings, StepKind::RaiseFloors};

void ask_until_heard(FakeCluster& c, const std::vector<std::string>& words) {
  for (int i = 0; i < 20 && c.ask(words).exit_code() == 99; ++i) {
  }
}

const std::vector<Protocol>& protocols() {
  static const std::vector<Protocol> all = {
      {"Bootstrap",
       {StepKind::BootstrapCluster},
       [](FakeCluster& c) {
         for (const char* name : {"c1", "c2", "c3"}) c.add_coordinator(name);
         for (const char* name : {"n1", "n2", "n3"}) c.add_node(name);
         for (const char* name : {"v1", "v2"}) c.add_view_manager(name);
       },
       [](FakeCluster& c) {
         return c.facts().map.regions_size() == 4 && ring_has(c, "v1") && ring_has(c, "v2");
       },
       nullptr,
       [](FakeCluster&) {}},

      {"AddViewManagerByNodes",  // Seed: add view manager, alternative 2.
       {StepKind::WishViewManager, StepKind::ChangeRing},
       [](FakeCluster& c) { c.add_view_manager("v3"); },
       [](FakeCluster& c) { return ring_has(c, "v3"); }},

      {"AddViewManagerByCoordinator",  // Alternative 1.
       {StepKind::WishViewManager, StepKind::ChangeRing, StepKind::ActivateRing},
       [](FakeCluster& c) { c.add_view_manager("v3"); },
       [](FakeCluster& c) {
         return ring_has(c, "v3") && c.facts().ring.activated() == c.facts().ring.ring().version();
       },
       [](CoordinatorSettings& s) { s.activation = pb::ACTIVATE_BY_COORDINATOR; }},

      {"RemoveViewManager",
       {StepKind::ChangeRing, StepKind::ForgetViewManager},
       [](FakeCluster& c) {
         ask_until_heard(c, {"remove-vm", "v2"});
       },
       [](FakeCluster& c) {
         if (!ring_has(c, "v2") && c.facts().operations.running_size() == 0) c.kill("v2");
         return c.facts().wishes.view_managers_size() == 1;
       }},

      {"CrashOfViewManagerStandbyTakesOver",
       {StepKind::SubstituteViewManager},
       [](FakeCluster& c) { c.kill("v2"); },
       [](FakeCluster& c) {
         auto ring = c.facts().ring;
         return ring.bearers_size() == 1 && ring.bearers(0).process() == "spare" &&
                ring.ring().version() == 1;
       },
       nullptr,
       [](FakeCluster& c) {
         c.start({"n1", "n2", "n3"}, {"v1", "v2"});
         c.add_view_manager("spare", true);
         c.run_for(Micros{500'000});
       }},

      {"CrashOfViewManagerShardsAreSpread",
       {StepKind::NoticeViewManagerDeath, StepKind::ChangeRing},
       [](FakeCluster& c) { c.kill("v2"); },
       [](FakeCluster& c) { return !ring_has(c, "v2"); }},

      {"CrashOfViewManagerIsLaunchedAnew",
       {StepKind::NoticeViewManagerDeath},
       [](FakeCluster& c) {
         c.launched.clear();
         c.kill("v2");
       },
       [](FakeCluster& c) {
         if (!c.launched.empty() && !c.view_managers.at("v2")->is_alive()) c.add_view_manager("v2");
         auto ring = c.facts().ring;
         return c.view_managers.at("v2")->is_alive() && ring.ring().version() == 1 &&
                c.facts().history.operations_size() > 0;
       },
       [](CoordinatorSettings& s) { s.launcher = "start-view-manager"; }},

      {"AddNode",
       {StepKind::WishNode, StepKind::AddReplica, StepKind::MoveRegion, StepKind::RemoveReplica},
       [](FakeCluster& c) { c.add_node("n4"); },
       [](FakeCluster& c) { return owned(c, "n4") >= 1; }},

      {"RemoveNode",
       {StepKind::AddReplica, StepKind::MoveRegion, StepKind::RemoveReplica, StepKind::ForgetNode},
       [](FakeCluster& c) {
         ask_until_heard(c, {"remove-node", "n1"});
       },
       [](FakeCluster& c) {
         if (holds_nothing(c, "n1") && c.facts().operations.running_size() == 0) c.kill("n1");
         return c.facts().wishes.nodes_size() == 2;
       }},

      {"CrashOfNode",
       {StepKind::PromoteStandbys, StepKind::NoticeNodeDeath, StepKind::AddReplica, StepKind::RemoveReplica},
       [](FakeCluster& c) { c.kill("n1"); },
       [](FakeCluster& c) { return holds_nothing(c, "n1"); }},

      {"NodeRejoinsWithAnEmptyDisk",
       {StepKind::PromoteStandbys, StepKind::NoticeNodeDeath, StepKind::RejoinReplica},
       [](FakeCluster& c) {
         c.kill("n1");
         c.lose_disk("n1");
         c.run_for(Micros{2'000'000});
         c.add_node("n1");
       },
       [](FakeCluster& c) {
         auto map = c.facts().map;
         for (const auto& entry : map.regions())
           if (const auto* mine = Situation::replica_on(entry, "n1"))
             if (c.nodes.at("n1")->lost.contains({entry.region(), mine->joined()})) return false;
         return c.nodes.at("n1")->is_alive();
       }},

      {"AllDisksAreLostAndTheLogsAreWhole",
       {StepKind::PromoteStandbys, StepKind::NoticeNodeDeath, StepKind::RestartRegion,
        StepKind::RejoinReplica},
       [](FakeCluster& c) {
         for (const char* node : {"n1", "n2", "n3"}) {
           c.kill(node);
           c.lose_disk(node);
         }
         c.run_for(Micros{2'000'000});
         for (const char* node : {"n1", "n2", "n3"}) c.add_node(node);
       },
       [](FakeCluster& c) {
         auto map = c.facts().map;
         return std::all_of(map.regions().begin(), map.regions().end(),
                            [&](const auto& e) { return c.nodes.at(e.owner())->serves(e.region()); });
       },
       [](CoordinatorSettings& settings) { settings.discard_records_min = UINT64_MAX; }},

      {"MoveRegionToAStandby",
       {StepKind::MoveRegion},
       [](FakeCluster& c) {
         ask_until_heard(c, {"move-region", "1", "n2"});
       },
       [](FakeCluster& c) { return live_region_with(c.facts(), 0)->owner() == "n2"; }},

      {"MoveRegionToANewReplica",
       {StepKind::AddReplica, StepKind::MoveRegion, StepKind::RemoveReplica},
       [](FakeCluster& c) {
         ask_until_heard(c, {"move-region", "1", "n3"});
       },
       [](FakeCluster& c) { return live_region_with(c.facts(), 0)->owner() == "n3"; }},

      {"SplitRegion",
       {StepKind::BeginSplit, StepKind::ForwardSplit, StepKind::DeleteParent},
       [](FakeCluster& c) {
         ask_until_heard(c, {"split-region", "1"});
       },
       [](FakeCluster& c) { return c.facts().map.regions_size() == 5; }},

      {"MergeRegions",
       {StepKind::AddReplica, StepKind::MoveRegion, StepKind::RemoveReplica, StepKind::BeginMerge,
        StepKind::SealFirst, StepKind::SealSecond, StepKind::ForwardMerge, StepKind::DeleteParent},
       [](FakeCluster& c) {
         ask_until_heard(c, {"merge-regions", "2", "1"});
       },
       [](FakeCluster& c) { return c.facts().map.regions_size() == 3; }},

      {"MergeIsUndone",
       {StepKind::AddReplica, StepKind::RemoveReplica, StepKind::BeginMerge, StepKind::UndoChange,
        StepKind::UnmergeSecond, StepKind::CancelChange},
       [](FakeCluster& c) {
         ask_until_heard(c, {"merge-regions", "1", "2"});
         // Called off as soon as the change is in the map.
         c.run_until([&] { return c.facts().map.changes_size() > 0; });
         auto running = c.facts().operations;
         for (const auto& operation : running.running())
           ask_until_heard(c, {"cancel", std::to_string(operation.id())});
       },
       [](FakeCluster& c) {
         auto facts = c.facts();
         return facts.operations.running_size() == 0 && facts.map.changes_size() == 0;
       }},

      {"DiscardLogs",
       {StepKind::RaiseFloors},
       [](FakeCluster& c) { ask_until_heard(c, {"discard-logs"}); },
       [](FakeCluster& c) { return live_region_with(c.facts(), 0)->floor() > 0; }},

      {"CreateView",
       {StepKind::BeginViews, StepKind::FillViews},
       [](FakeCluster& c) {
         pb::CatalogRequest request;
         *request.add_create() = table(1, "t", pb::MANAGED);
         *request.add_create() = table(2, "v", pb::VIEW);
         for (int i = 0; i < 20 && c.facts().catalog.tables_size() == 0; ++i) c.change_catalog(request);
       },
       [](FakeCluster& c) {
         auto catalog = c.facts().catalog;
         return catalog.tables_size() == 2 && catalog.tables(1).begun() == 2 &&
                catalog.tables(1).filled() == 3;
       }},

      {"Rebalance",
       {StepKind::BalanceRing, StepKind::MoveRegion},
       [](FakeCluster& c) { ask_until_heard(c, {"rebalance"}); },
       [](FakeCluster& c) { return c.facts().ring.ring().version() > 1 && owned(c, "n1") == 2; },
       nullptr,
       [](FakeCluster& c) {
         c.start({"n1", "n2", "n3"}, {"v1", "v2"});
         c.ask_and_wait({"move-region", "2", "n1"});
         c.run_until_quiet();
       }},

      {"RebalanceByTheTimer",
       {StepKind::WishRebalance, StepKind::BalanceRing},
       [](FakeCluster&) {},
       [](FakeCluster& c) {
         auto history = c.facts().history;
         for (const auto& operation : history.operations())
           if (operation.kind() == pb::Operation::REBALANCE) return true;
         return false;
       },
       [](CoordinatorSettings& s) { s.rebalance_every = Micros{10'000'000}; }},
  };
  return all;
}

std::unique_ptr<FakeCluster> prepared(const Protocol& protocol) {
  CoordinatorSettings settings = FakeCluster::default_settings();
  if (protocol.settings) protocol.settings(settings);
  auto cluster = std::make_unique<FakeCluster>(settings);
  if (protocol.prepare) {
    protocol.prepare(*cluster);
  } else {
    cluster->start({"n1", "n2", "n3"}, {"v1", "v2"});
  }
  cluster->steps.clear();
  return cluster;
}

std::string names_of(const Kinds& kinds) {
  std::string out;
  for (StepKind kind : kinds) out += std::string(out.empty() ? "" : " ") + to_string(kind);
  return out;
}

bool ends(FakeCluster& cluster, const Protocol& protocol) {
  return cluster.run_until([&] { return protocol.has_ended(cluster); }) && cluster.run_until_quiet() &&
         protocol.has_ended(cluster);
}

class EachProtocol : public testing::TestWithParam<size_t> {};

TEST_P(EachProtocol, EndsByExactlyItsSteps) {
  const Protocol& protocol = protocols()[GetParam()];
  auto cluster = prepared(protocol);
  protocol.begin(*cluster);
  ASSERT_TRUE(ends(*cluster, protocol)) << cluster->why_not_quiet();
  Kinds taken(cluster->steps.begin(), cluster->steps.end());
  for (StepKind kind : protocol.steps)
    EXPECT_TRUE(taken.contains(kind)) << to_string(kind) << " was not taken";
  for (StepKind kind : taken)
    EXPECT_TRUE(protocol.steps.contains(kind) || kHousekeeping.contains(kind))
        << to_string(kind) << " is not in the table of " << protocol.name << ": " << names_of(taken);
}

enum class Moment : uint8_t { BeforeTheWrite, AfterTheWrite };

// Kills the coordinator at the n-th step of this kind. With AfterTheWrite the write has happened, and its
// answer has not come.
void kill_at(FakeCluster& cluster, StepKind kind, int nth, Moment moment, bool& killed) {
  cluster.on_step = [&cluster, &killed, kind, nth, moment, count = 0](FakeCoordinator& by,
                                                                      const Step& step) mutable {
    if (killed || step.kind != kind || ++count != nth) return;
    killed = true;
    if (moment == Moment::BeforeTheWrite) return by.kill();
    cluster.world.post([&cluster, &by] { cluster.world.post([&by] { by.kill(); }); });
  };
}

TEST_P(EachProtocol, EndsWhateverStepTheCoordinatorDiesAt) {
  const Protocol& protocol = protocols()[GetParam()];
  Kinds steps = protocol.steps;
  steps.insert(kHousekeeping.begin(), kHousekeeping.end());
  for (StepKind kind : steps) {
    for (Moment moment : {Moment::BeforeTheWrite, Moment::AfterTheWrite}) {
      for (int nth : {1, 2}) {
        SCOPED_TRACE(std::string(to_string(kind)) + " " + std::to_string(nth) +
                     (moment == Moment::BeforeTheWrite ? " before" : " after"));
        auto cluster = prepared(protocol);
        bool killed = false;
        kill_at(*cluster, kind, nth, moment, killed);
        protocol.begin(*cluster);
        ASSERT_TRUE(ends(*cluster, protocol)) << cluster->why_not_quiet();
        bool must_die = nth == 1 && protocol.steps.contains(kind);
        EXPECT_TRUE(killed || !must_die);
      }
    }
  }
}

TEST(Protocols, TheTableHasEveryStep) {
  Kinds known = kHousekeeping;
  for (const Protocol& protocol : protocols()) known.insert(protocol.steps.begin(), protocol.steps.end());
  for (size_t i = 0; i < kStepKinds; ++i)
    EXPECT_TRUE(known.contains(static_cast<StepKind>(i))) << to_string(static_cast<StepKind>(i));
}

INSTANTIATE_TEST_SUITE_P(Table, EachProtocol, testing::Range(size_t{0}, protocols().size()),
                         [](const auto& param) { return protocols()[param.param].name; });

}  // namespace

}  // namespace tidemark
