// Random histories: everything may die, pause, lose its session or its disk, and operators ask for anything,
// all at once. Then the faults end, and everything must end, too (P2, P3).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/coordinator/fake_cluster.h"

namespace tidemark {

namespace {

// What must hold of every version of the facts.
void check_facts(const ClusterFacts& facts, const ClusterFacts& before) {
  std::map<uint32_t, uint32_t> covered;
  std::set<uint64_t> ids;
  for (const auto& entry : facts.map.regions()) {
    ASSERT_TRUE(ids.insert(entry.region()).second) << "two regions " << entry.region();
    ASSERT_LT(entry.region(), facts.map.next_region());
    std::set<std::string> nodes;
    for (const auto& replica : entry.replicas()) {
      ASSERT_TRUE(nodes.insert(replica.node()).second) << entry.ShortDebugString();
      ASSERT_LE(replica.joined(), facts.map.version());
    }
    ASSERT_TRUE(nodes.contains(entry.owner())) << "the owner is no replica: " << entry.ShortDebugString();
    if (!entry.sealed()) covered[entry.shards().begin()] = entry.shards().end();
  }
  uint32_t at = 0;
  for (const auto& [begin, end] : covered) {
    ASSERT_EQ(begin, at) << "a shard in no region, or in two";
    at = end;
  }
  ASSERT_EQ(at, facts.cluster.shards());
  at = 0;
  for (const auto& slice : facts.ring.ring().slices()) {
    ASSERT_EQ(slice.shards().begin(), at);
    ASSERT_LT(slice.member(), static_cast<uint32_t>(facts.ring.ring().members_size()));
    at = slice.shards().end();
  }
  ASSERT_EQ(at, facts.cluster.shards());
  std::set<uint64_t> parents;
  for (const auto& change : facts.map.changes())
    for (uint64_t parent : change.parents())
      ASSERT_TRUE(parents.insert(parent).second) << "two changes of region " << parent;
  if (before.cluster.cluster() == 0) return;
  ASSERT_GE(facts.map.version(), before.map.version());
  bool same_map = facts.map.SerializeAsString() == before.map.SerializeAsString();
  ASSERT_EQ(facts.map.version() == before.map.version(), same_map) << "a change of the map without a version";
  ASSERT_GE(facts.ring.ring().version(), before.ring.ring().version());
}

class History {
 public:
  explicit History(uint64_t seed) : random_(seed), cluster_(settings(), faults()) {
    cluster_.random = Random(seed ^ 0x5eed);
    cluster_.on_step = [this](FakeCoordinator&, const Step& step) {
      // What is in coordination is what counts: a zombie decides too, and writes nothing.
      ClusterFacts now = cluster_.facts();
      if (now.cluster.cluster() != 0) check_facts(now, last_);
      last_ = now;
      check_facts(step.after, {});
      check_logs(step);
      ASSERT_LT(++steps_, kStepsMax) << "steps that undo each other: " << to_string(step.kind);
      if (std::getenv("TIDEMARK_TRACE"))
        std::fprintf(stderr, "%8ld %s: %s\n", static_cast<long>(cluster_.world.now().value),
                     to_string(step.kind), step.what.c_str());
    };
  }

  void run() {
    cluster_.start({"n1", "n2", "n3", "n4"}, {"v1", "v2", "v3"});
    uint64_t actions = 5 + random_.below(30);
    for (uint64_t i = 0; i < actions && !testing::Test::HasFatalFailure(); ++i) {
      act();
      cluster_.run_for(Micros{random_.between(0, random_.chance(.3) ? 2'000'000 : 60'000)});
    }
    heal();
    cluster_.run_for(Micros{5'000'000});  // Until everyone has registered again.
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_TRUE(cluster_.run_until_quiet()) << cluster_.why_not_quiet();
    check_end();
  }

  // The same seed must end the same.
  std::string digest() const {
    ClusterFacts facts = cluster_.facts();
    return facts.map.ShortDebugString() + facts.ring.ShortDebugString() + facts.history.ShortDebugString() +
           std::to_string(steps_);
  }

 private:
  CoordinatorSettings settings() {
    CoordinatorSettings out = FakeCluster::default_settings();
    out.shards = 32;
    out.regions = static_cast<uint32_t>(random_.between(1, 4));
    out.replicas = static_cast<uint32_t>(random_.between(1, 3));
    out.activation = random_.chance(.5) ? pb::ACTIVATE_BY_NODE : pb::ACTIVATE_BY_COORDINATOR;
    out.discard_records_min = static_cast<uint64_t>(random_.between(1, 4000));
    out.replica_absence = Micros{random_.between(500'000, 5'000'000)};
    return out;
  }
  CoordinationFaults faults() {
    CoordinationFaults out = FakeCluster::quick();
    out.delay_max = Micros{random_.between(0, 3'000)};
    out.watch_delay_max = Micros{random_.between(0, 50'000)};
    if (random_.chance(.5)) {
      out.lose_request = out.lose_reply = .03;
      out.reconnect_delay_max = Micros{300'000};
    }
    return out;
  }

  template <typename Map>
  std::string any(const Map& map) {
    auto at = map.begin();
    std::advance(at, static_cast<long>(random_.below(map.size())));
    return at->first;
  }

  void act() {
    switch (random_.below(10)) {
      case 0: return cluster_.kill(any(cluster_.coordinators));
      case 1: return cluster_.kill(any(cluster_.view_managers));
      case 2: return kill_node();
      case 3: return revive();
      case 4: return expire();
      case 5: return pause();
      case 6:
        return cluster_.add_view_manager_if_new("v" + std::to_string(random_.between(4, 5)),
                                                random_.chance(.5));
      case 7: return lose_disk();
      default: return ask();
    }
  }

  void kill_node() { cluster_.kill(any(cluster_.nodes)); }

  void revive() {
    for (auto& [name, process] : std::map(names(cluster_.coordinators)))
      if (!process && random_.chance(.5)) cluster_.add_coordinator(name);
    for (auto& [name, process] : names(cluster_.nodes))
      if (!process && random_.chance(.5)) cluster_.add_node(name);
    for (auto& [name, process] : names(cluster_.view_managers))
      if (!process && random_.chance(.5)) cluster_.add_view_manager(name);
  }
  template <typename Map>
  std::map<std::string, bool> names(const Map& map) {
    std::map<std::string, bool> out;
    for (const auto& [name, process] : map) out[name] = process->is_alive();
    return out;
  }

  void expire() {
    auto& victim = *cluster_.coordinators.at(any(cluster_.coordinators));
    if (victim.is_alive()) cluster_.tree.expire(victim.session().session());
    auto& node = *cluster_.nodes.at(any(cluster_.nodes));
    if (node.is_alive() && random_.chance(.3)) cluster_.tree.expire(node.session().session());
  }

  // A zombie: its session goes while it sleeps, and it wakes up believing that it is still elected.
  void pause() {
    FakeCoordinator* victim = cluster_.elected();
    if (!victim) return;
    victim->pause();
    if (random_.chance(.7)) cluster_.tree.expire(victim->session().session());
    cluster_.run_for(Micros{random_.between(0, 1'000'000)});
    victim->resume();
  }

  // Only where another replica of each of its regions has a checkpoint.
  void lose_disk() {
    std::string name = any(cluster_.nodes);
    if (has_lost_a_disk_ || cluster_.settings.replicas < 2) return;
    pb::RegionMap map = cluster_.facts().map;
    for (const auto& entry : map.regions()) {
      if (!Situation::replica_on(entry, name)) continue;
      bool safe = false;
      for (const auto& replica : entry.replicas()) {
        const auto& checkpoints = cluster_.logs[entry.region()].checkpoints;
        auto mine = checkpoints.find(replica.node());
        safe |=
            replica.node() != name && mine != checkpoints.end() && mine->second.joined == replica.joined();
      }
      if (!safe) return;
    }
    has_lost_a_disk_ = true;
    cluster_.kill(name);
    cluster_.lose_disk(name);
  }

  void ask() {
    ClusterFacts facts = cluster_.facts();
    auto region = [&] {
      return std::to_string(random_.between(1, static_cast<int64_t>(facts.map.next_region())));
    };
    auto node = [&] { return "n" + std::to_string(random_.between(1, 4)); };
    auto vm = [&] { return "v" + std::to_string(random_.between(1, 5)); };
    switch (random_.below(12)) {
      case 0: cluster_.ask({"split-region", region()}); break;
      case 1: cluster_.ask({"merge-regions", region(), region()}); break;
      case 2: cluster_.ask({"move-region", region(), node()}); break;
      case 3: cluster_.ask({"remove-vm", vm()}); break;
      case 4: cluster_.ask({"add-vm", vm()}); break;
      case 5: cluster_.ask({"remove-node", node()}); break;
      case 6: cluster_.ask({"add-node", node()}); break;
      case 7: cluster_.ask({"discard-logs"}); break;
      case 8: cluster_.ask({"rebalance"}); break;
      case 9: cluster_.ask({"recover-vm", vm()}); break;
      case 10: merge_neighbours(facts); break;
      case 11:
        for (const auto& operation : facts.operations.running())
          cluster_.ask({"cancel", std::to_string(operation.id())});
        break;
    }
  }

  void merge_neighbours(const ClusterFacts& facts) {
    for (const auto& a : facts.map.regions())
      for (const auto& b : facts.map.regions())
        if (!a.sealed() && !b.sealed() && a.shards().end() == b.shards().begin()) {
          bool turned = random_.chance(.5);
          cluster_.ask({"merge-regions", std::to_string((turned ? b : a).region()),
                        std::to_string((turned ? a : b).region())});
          return;
        }
  }

  void heal() {
    cluster_.tree.end_faults();
    cluster_.run_for(Micros{3'000'000});
    for (auto& [name, alive] : names(cluster_.coordinators))
      if (!alive) cluster_.add_coordinator(name);
    for (auto& [name, alive] : names(cluster_.nodes))
      if (!alive) cluster_.add_node(name);
    for (auto& [name, alive] : names(cluster_.view_managers))
      if (!alive) cluster_.add_view_manager(name);
    // What waits for a member that nobody will ever start is called off.
    ClusterFacts facts = cluster_.facts();
    for (const auto& wish : facts.wishes.view_managers())
      if (!cluster_.view_managers.contains(wish.name())) cluster_.add_view_manager(wish.name());
  }

  // No log is discarded early: nothing is cut, and no parent deleted, that a replica still needs.
  void check_logs(const Step& step) {
    for (const auto& entry : step.after.map.regions()) {
      if (entry.sealed() || !cluster_.logs.contains(entry.region())) continue;
      const FakeLog& log = cluster_.logs[entry.region()];
      bool buildable = entry.floor() == 0;
      for (const auto& replica : entry.replicas()) {
        auto mine = log.checkpoints.find(replica.node());
        bool has = mine != log.checkpoints.end() && mine->second.joined == replica.joined();
        ASSERT_TRUE(!has || mine->second.offset >= entry.floor()) << "cut what a replica needs";
        buildable |= has;
      }
      ASSERT_TRUE(buildable) << to_string(step.kind) << " " << step.what << ": nobody can build "
                             << entry.ShortDebugString();
    }
  }

  void check_end() {
    ClusterFacts facts = cluster_.facts();
    check_facts(facts, {});
    for (const auto& entry : facts.map.regions()) {
      if (entry.sealed()) continue;
      size_t staying = 0;
      for (const auto& wish : facts.wishes.nodes()) staying += !wish.leaving();
      size_t wanted = std::min<size_t>(facts.wishes.replicas(), staying);
      EXPECT_EQ(static_cast<size_t>(entry.replicas_size()), wanted) << entry.ShortDebugString();
    }
    for (const auto& wish : facts.wishes.view_managers()) {
      const auto& members = facts.ring.ring().members();
      EXPECT_EQ(!wish.leaving(), std::count(members.begin(), members.end(), wish.name()) > 0) << wish.name();
    }
  }

  static constexpr size_t kStepsMax = 2000;
  Random random_;
  FakeCluster cluster_;
  ClusterFacts last_;
  size_t steps_ = 0;
  bool has_lost_a_disk_ = false;
};

uint64_t seeds() {
  const char* asked = std::getenv("TIDEMARK_SEEDS");
  return asked ? std::strtoull(asked, nullptr, 10) : 60;
}

TEST(CoordinatorSimulation, EveryHistoryEndsWithEverythingWantedAndNothingLost) {
  const char* first = std::getenv("TIDEMARK_SEED");
  uint64_t begin = first ? std::strtoull(first, nullptr, 10) : 1;
  for (uint64_t seed = begin; seed < begin + (first ? 1 : seeds()); ++seed) {
    SCOPED_TRACE("TIDEMARK_SEED=" + std::to_string(seed));
    History history(seed);
    history.run();
    if (HasFailure()) return;
  }
}

TEST(CoordinatorSimulation, TheSameSeedEndsTheSame) {
  for (uint64_t seed : {3, 14, 15}) {
    History once(seed);
    once.run();
    History again(seed);
    again.run();
    EXPECT_EQ(once.digest(), again.digest()) << seed;
  }
}

}  // namespace

}  // namespace tidemark
