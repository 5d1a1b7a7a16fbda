// Whole clusters under faults: every view converges to what its query says, and nothing acknowledged is lost.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sql/types/text_format.h"
#include "tests/simulation/sim_cluster.h"
#include "tests/view_manager/flow_world.h"

namespace tidemark {
namespace {

// Two tables and views of several kinds over them, all three stages deep.
void make_tables(FlowWorld& world) {
  for (const char* name : {"a", "b"})
    world.create_table(name, {{"id", "bigint"}, {"grp", "bigint"}, {"val", "bigint"}});
  for (const char* view : {
           "counts as select grp, count(*) as n, sum(val) as total from a group by grp",
           "histogram as select n, count(*) as groups from counts group by n",
           "large as select id, val * 2 as twice from a where val > 15",
           "extremes as select grp, min(val) as low, max(val) as high from b group by grp",
           "pairs as select a.id as a_id, b.id as b_id, a.val + b.val as val from a join b on a.grp = b.grp",
           "pair_sums as select a_id, sum(val) as total from pairs group by a_id",
       }) {
    ASSERT_EQ(world.create_view("create materialized view " + std::string(view)), "");
  }
}

using StoredRows = std::map<std::string, std::string>;

class ClusterRun {
 public:
  explicit ClusterRun(SimClusterOptions options) : cluster_(std::move(options)), random_(99) {}

  SimCluster& cluster() { return cluster_; }

  void set_up() {
    ASSERT_NO_FATAL_FAILURE(make_tables(tables_));
    ASSERT_TRUE(cluster_.run_until([&] { return cluster_.serving(); }));
    // One statement at a time, as operators do: a view with its auxiliary tables.
    for (const pb::TableDefinition& statement : tables_.catalog().tables()) {
      if (statement.kind() == pb::AUXILIARY) continue;
      std::vector<pb::TableDefinition> wanted;
      for (pb::TableDefinition table : tables_.catalog().tables()) {
        if (table.id() != statement.id() && table.view() != statement.id()) continue;
        table.clear_created();
        table.clear_begun();
        wanted.push_back(table);
      }
      version_ = cluster_.create_tables(wanted);
      ASSERT_NE(version_.value, 0u) << statement.name();
    }
  }

  // One write, not waited for. What becomes of it is remembered.
  void write() {
    const pb::TableDefinition& table = *tables_.find(random_.chance(0.5) ? "a" : "b");
    const sql::TableCodec& codec = tables_.store().codec(TableId{table.id()});
    sql::Value values[] = {sql::Value::bigint(random_.between(0, 19)),
                           sql::Value::bigint(random_.between(0, 4)),
                           sql::Value::bigint(random_.between(0, 30))};
    sql::EncodedRow row;
    codec.encode(values, row);
    Operation operation;
    operation.kind = random_.chance(0.25) ? OperationKind::Delete : OperationKind::Put;
    operation.table = TableId{table.id()};
    operation.hash = row.hash;
    operation.key = row.key;
    operation.row = row.row;
    WriteBatch batch;
    batch.add(operation);
    ++in_flight_;
    cluster_.client().write(std::move(batch), version_, Atomicity::Whole, [this](auto outcome) {
      --in_flight_;
      ++(outcome.ok() ? acknowledged_ : failed_);
    });
  }

  StoredRows read(const pb::TableDefinition& table) {
    StoredRows out;
    std::optional<ScanPosition> at = ScanPosition{};
    while (at) {
      ScanSpec spec;
      spec.table = TableId{table.id()};
      std::optional<Result<RowPage, ClientFailure>> page;
      cluster_.client().scan(spec, *at, [&](auto got) { page = std::move(got); });
      cluster_.run_until([&] { return page.has_value(); });
      if (!page || !page->ok()) {
        ADD_FAILURE() << "no page of " << table.name();
        return out;
      }
      StoredRow row;
      for (RowReader reader((*page)->rows); reader.next(row);) out[std::string(row.key)] = row.row;
      at = (*page)->next;
    }
    return out;
  }

  // Every view is what it would be had the base rows been written just now, one by one, without lanes or
  // messages; and that is what its query says. Gives the first that is not.
  std::string difference() {
    FlowWorld wanted;
    make_tables(wanted);
    for (const char* name : {"a", "b"}) copy_rows(*tables_.find(name), wanted);
    if (std::string wrong = wanted.check(); !wrong.empty()) return "the reference: " + wrong;
    for (const pb::TableDefinition& table : tables_.catalog().tables()) {
      if (table.kind() != pb::VIEW) continue;
      StoredRows have = read(table);
      const StoredRows& should = wanted.store().rows(TableId{table.id()});
      if (have != should) {
        return table.name() + " has " + std::to_string(have.size()) + " rows, " +
               std::to_string(should.size()) + " are right";
      }
    }
    return "";
  }

  bool converges() {
    std::string last;
    for (int round = 0; round < 200; ++round) {
      cluster_.run_for(Micros{500'000});
      if (in_flight_ == 0 && (last = difference()).empty()) return true;
    }
    ADD_FAILURE() << last << "; writes in flight: " << in_flight_ << "\n" << describe();
    return false;
  }

  // For people: what every view manager waits for.
  std::string describe() {
    std::string out;
    for (const std::string& failure : cluster_.plan_failures()) out += "not planned: " + failure + "\n";
    for (int i = 0; i < cluster_.view_manager_count(); ++i) {
      ViewManager* role = cluster_.view_manager_role(i);
      out += cluster_.view_manager(i).name() + ":\n";
      if (role && role->core()) out += role->core()->describe() + "\n";
    }
    std::string status;
    cluster_.admin({"status"}, &status);
    out += status;
    return out;
  }

  uint64_t acknowledged() const { return acknowledged_; }
  Random& random() { return random_; }

 private:
  void copy_rows(const pb::TableDefinition& table, FlowWorld& to) {
    const sql::TableCodec& codec = tables_.store().codec(TableId{table.id()});
    for (const auto& [key, row] : read(table)) {
      sql::Arena arena;
      std::vector<sql::Value> values;
      ASSERT_TRUE(codec.decode(key, row, arena, values).ok());
      std::vector<std::string> texts;
      for (const sql::Value& value : values) texts.push_back(sql::to_text(value));
      to.upsert(table.name(), texts);
    }
  }

  FlowWorld tables_;
  SimCluster cluster_;
  Random random_;
  CatalogVersion version_;
  uint64_t in_flight_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t failed_ = 0;
};

TEST(SimulatedCluster, WritesReachTheirViews) {
  ClusterRun run(SimClusterOptions{});
  run.set_up();
  for (int i = 0; i < 200; ++i) {
    run.write();
    run.cluster().run_for(Micros{1'000});
  }
  EXPECT_TRUE(run.converges());
  EXPECT_EQ(run.acknowledged(), 200u);
}

int seeds() {
  const char* text = std::getenv("TIDEMARK_SIM_SEEDS");
  return text ? std::max(1, std::atoi(text)) : 20;
}

// Kills, pauses and wakes processes at random; never all nodes at once for long.
class Nemesis {
 public:
  Nemesis(SimCluster& cluster, Random random) : cluster_(cluster), random_(random) {}

  void act() {
    for (SimProcess* process : cluster_.processes()) {
      if (!process->running()) {
        if (random_.chance(0.1)) process->start();
      } else if (process->paused()) {
        if (random_.chance(0.1)) process->resume();
      } else if (random_.chance(0.01)) {
        ++faults;
        process->crash();
      } else if (random_.chance(0.005)) {
        ++faults;
        process->pause(random_.chance(0.5) ? SimProcess::Pause::SessionLost : SimProcess::Pause::SessionKept);
      }
    }
  }

  void mend() {
    cluster_.world().end_faults();
    for (SimProcess* process : cluster_.processes()) {
      if (!process->running()) process->start();
      if (process->paused()) process->resume();
    }
  }

  int faults = 0;

 private:
  SimCluster& cluster_;
  Random random_;
};

// A safety phase with faults, then one in which all must converge.
void survive(const SimClusterOptions& options) {
  SCOPED_TRACE("seed " + std::to_string(options.seed));
  ClusterRun run(options);
  ASSERT_NO_FATAL_FAILURE(run.set_up());
  Nemesis nemesis(run.cluster(), run.cluster().world().random.fork());
  for (int i = 0; i < 400; ++i) {
    run.write();
    run.cluster().run_for(Micros{20'000});
    nemesis.act();
  }
  nemesis.mend();
  ASSERT_TRUE(run.converges());
  EXPECT_GT(nemesis.faults, 0);
}

TEST(SimulatedWorld, ASessionThatExpiredIsBegunAnew) {
  SimWorld world(1, {});
  ProcessScheduler loop(world.scheduler);
  SimSession session(world, loop, world.random.fork());
  auto run = [&] { world.scheduler.run_until(Micros{world.scheduler.now().value + 1'000'000}); };
  run();
  const SessionNumber first = session.session();
  ASSERT_NE(first.value, 0u);
  world.coordination.expire(first);
  run();
  EXPECT_GT(session.session().value, first.value);
}

TEST(SimulatedCluster, ViewsConvergeThroughCrashesAndPauses) {
  for (int seed = 1; seed <= seeds(); ++seed) {
    SimClusterOptions options;
    options.seed = static_cast<uint64_t>(seed);
    ASSERT_NO_FATAL_FAILURE(survive(options));
  }
}

TEST(SimulatedCluster, ViewsConvergeThroughLostMessagesAndABadLog) {
  for (int seed = 1; seed <= seeds(); ++seed) {
    SimClusterOptions options;
    options.seed = static_cast<uint64_t>(seed);
    options.faults.network.loss = 0.002;
    options.faults.network.slow = 0.01;
    options.faults.logs.late = options.faults.logs.unknown = options.faults.logs.no_offset = 0.002;
    options.faults.logs.duplicate = options.faults.logs.duplicate_reported = options.faults.logs.lost = 0.002;
    options.faults.coordination.delay_max = options.faults.coordination.watch_delay_max = Micros{20'000};
    options.faults.coordination.lose_request = options.faults.coordination.lose_reply = 0.002;
    options.faults.coordination.reconnect_delay_max = Micros{50'000};
    ASSERT_NO_FATAL_FAILURE(survive(options));
  }
}

TEST(SimulatedCluster, ViewManagersComeAndGoWhileUpdatesFlow) {
  for (int seed = 1; seed <= std::max(1, seeds() / 4); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimClusterOptions options;
    options.seed = static_cast<uint64_t>(seed);
    options.coordinator.activation = seed % 2 ? pb::ACTIVATE_BY_NODE : pb::ACTIVATE_BY_COORDINATOR;
    ClusterRun run(options);
    ASSERT_NO_FATAL_FAILURE(run.set_up());
    auto write_for_a_while = [&] {
      for (int i = 0; i < 150; ++i) {
        run.write();
        run.cluster().run_for(Micros{5'000});
      }
    };
    write_for_a_while();
    std::string said;
    run.cluster().add_view_manager();
    ASSERT_TRUE(run.cluster().admin({"add-vm", "v2"}, &said)) << said;
    write_for_a_while();
    ASSERT_TRUE(run.cluster().admin({"remove-vm", "v0"}, &said)) << said;
    write_for_a_while();
    ASSERT_TRUE(run.converges());
    // Both changes have ended: the lanes of the one that left are with the others.
    ViewManager* left = run.cluster().view_manager_role(0);
    EXPECT_TRUE(!left->core() || left->core()->queue_count() == 0);
    EXPECT_GT(run.cluster().view_manager_role(2)->core()->queue_count(), 0u);
  }
}

}  // namespace
}  // namespace tidemark
