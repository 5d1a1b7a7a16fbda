// Views as sessions see them: filled, fresh when asked for, replaced, and equal to their queries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/session_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string rows_from(int begin, int end) {
  std::string out;
  for (int i = begin; i < end; ++i) {
    const std::string id = std::to_string(i), group = std::to_string(i % 7);
    out += (i > begin ? ", (" : "(") + id + ", " + group + ", " + id + ")";
  }
  return out;
}

TEST_F(SqlSession, ReadsWaitForTheSessionsOwnWritesThroughViewsOverViews) {
  must("create table t (id int primary key, grp int, val int)");
  must("create table names (grp int primary key, name text)");
  must("create materialized view counts as select grp, count(*) as n, max(val) as top from t group by grp");
  must(
      "create materialized view named as select c.grp, n.name, c.n from counts c join names n on c.grp = "
      "n.grp");
  must("create materialized view histogram as select n, count(*) as groups from named group by n");
  must("select * from histogram");
  must("set tidemark.wait = on");
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(i);
    must("insert into t values (" + id + ", 1, " + id + ")");
    EXPECT_THAT(run("select n, top from counts where grp = 1").rows,
                ElementsAre(std::to_string(i + 1) + "|" + id));
    if (i == 0) must("insert into names values (1, 'one')");
    EXPECT_THAT(run("select * from histogram").rows, ElementsAre(std::to_string(i + 1) + "|1"));
  }
  must("delete from names where grp = 1");
  EXPECT_THAT(run("select * from histogram").rows, ::testing::IsEmpty());
}

// A region's lanes are of several view managers, and those that a write does not concern have to commit past
// it all the same: what is passed on along views over views is the last change of the region.
TEST(SqlSessionOnOneRegion, ReadsWaitForOwnWritesAlsoWhereMostViewManagersHaveNothingToDo) {
  SimClusterOptions options;
  options.coordinator.regions = 1;
  options.view_managers = 3;
  SimCluster cluster(options);
  SqlProcess process(cluster, "sql");
  ASSERT_TRUE(cluster.run_until([&] { return process.service().ready(); }));
  auto client = process.connect();
  ASSERT_EQ(client
                ->run("create table t (id int primary key, grp int); create table names (grp int primary "
                      "key, name text); create materialized view named as select t.id, n.name from t join "
                      "names n on t.grp = n.grp; create materialized view counts as select name, count(*) "
                      "as n from named group by name; select * from counts")
                .state(),
            "00000");
  cluster.run_for(Micros{2'000'000});
  const std::string ask = "set tidemark.wait = on; insert into t values (1, 1); select * from counts";
  EXPECT_EQ(client->run("insert into names values (1, 'one')").state(), "00000");
  SqlOutcome read = client->run(ask);
  EXPECT_THAT(read.rows, ElementsAre("one|1")) << read.text();
}

TEST_F(SqlSession, WritesWaitWhileTheyAreHeldAndNoLonger) {
  must("create table t (id int primary key)");
  must("create materialized view v as select count(*) as n from t");
  must("insert into t values (1)");
  auto writer = process_.connect();
  EXPECT_THAT(run("select tidemark_hold_writes('10 seconds')").rows, ElementsAre("t"));
  writer->begin("insert into t values (2)");
  cluster_.run_for(Micros{5'000'000});
  EXPECT_FALSE(writer->is_over());
  EXPECT_TRUE(becomes("select n from v", {"1"}));  // All but clients' writes goes on.
  EXPECT_THAT(run("select tidemark_release_writes()").rows, ElementsAre("t"));
  cluster_.run_for(Micros{1'000'000});
  EXPECT_TRUE(writer->is_over());
  EXPECT_EQ(writer->finish().tag, "INSERT 0 1");

  must("select tidemark_hold_writes('2000 milliseconds')");  // Whoever asked may be gone: it ends by itself.
  writer->begin("insert into t values (3)");
  cluster_.run_for(Micros{1'500'000});
  EXPECT_FALSE(writer->is_over());
  cluster_.run_for(Micros{1'500'000});
  EXPECT_TRUE(writer->is_over());
  EXPECT_EQ(writer->finish().tag, "INSERT 0 1");

  EXPECT_EQ(run("select tidemark_hold_writes('21 seconds')").state(), "22023");
  EXPECT_EQ(run("select tidemark_hold_writes('soon')").state(), "22023");
}

TEST_F(SqlSession, AViewOverExistingRowsIsReadWhenItIsFilled) {
  must("create table t (id int primary key, grp int, val int)");
  must("insert into t values " + rows_from(0, 2000));
  auto writer = process_.connect();
  for (int round = 0; round < 5; ++round) {
    const std::string name = "v" + std::to_string(round);
    const int begin = 2000 + round * 100;
    writer->begin("insert into t values " + rows_from(begin, begin + 100));  // While it is filled.
    must("create materialized view " + name +
         " as select grp, count(*) as n, sum(val) as s from t group by grp");
    SqlOutcome read = run("select sum(n) from " + name);
    ASSERT_EQ(writer->finish().tag, "INSERT 0 100");
    ASSERT_EQ(read.rows.size(), 1u) << read.text();
    EXPECT_GE(std::stoi(read.rows[0]), begin);  // All that was there before is in it.
    SqlOutcome right = run("select grp, count(*), sum(val) from t group by grp");
    EXPECT_TRUE(becomes("select grp, n, s from " + name, right.sorted()));
  }
  must("set tidemark.backfill = fail");
  client_->begin("create materialized view late as select grp from t; select * from late");
  EXPECT_EQ(client_->finish().state(), "55000");
  must("set tidemark.backfill = read");
  must("select * from late");
}

// Of a view over a join all rows are there at its first read, though both are filled at the same time.
TEST_F(SqlSession, AViewOverAViewIsReadWhenAllHasComeThrough) {
  must("create table t (id int primary key, grp int, val int)");
  must("create table names (grp int primary key, name text)");
  must("insert into t values " + rows_from(0, 300));
  must("insert into names values (0, 'a'), (1, 'b'), (2, 'c'), (3, 'd'), (4, 'e'), (5, 'f'), (6, 'g')");
  for (int round = 0; round < 10; ++round) {
    const std::string n = std::to_string(round);
    must("create materialized view named" + n +
         " as select t.id, n.name from t join names n on t.grp = n.grp");
    must("create materialized view counts" + n + " as select name, count(*) as n from named" + n +
         " group by name");
    EXPECT_THAT(run("select sum(n), count(*) from counts" + n).rows, ElementsAre("300|7")) << n;
  }
}

TEST_F(SqlSession, NumericsOfAScaleKeepTheirDecimalsInKeysAndExtremes) {
  must("create table t (id int primary key, grp int, price numeric(10,2))");
  must("create materialized view extremes as select grp, min(price), max(price) from t group by grp");
  must("create materialized view prices as select price, count(*) from t group by price");
  must("insert into t values (1, 1, 12.5), (2, 1, 120), (3, 1, 12.50)");
  must("set tidemark.wait = on");
  EXPECT_THAT(run("select * from extremes").rows, ElementsAre("1|12.50|120.00"));
  EXPECT_THAT(run("select * from prices order by 1").rows, ElementsAre("12.50|2", "120.00|1"));
  EXPECT_THAT(run("select * from prices where price = 120").rows, ElementsAre("120.00|1"));
}

TEST_F(SqlSession, RowsThatCanNotBeComputedAreReported) {
  must("create table t (id int primary key, a int, b int)");
  must("create materialized view v as select id, a / b as q from t");
  must("create materialized view w as select count(*) as n from v");
  must("insert into t values (1, 10, 5)");
  EXPECT_TRUE(becomes("select id, q from v", {"1|2"}));
  must("set tidemark.wait = on");
  must("insert into t values (2, 1, 0)");
  SqlOutcome failed = run("select * from v");
  EXPECT_EQ(failed.state(), "22012") << failed.text();
  EXPECT_THAT(failed.error->detail, HasSubstr("materialized view \"v\""));
  EXPECT_EQ(run("select * from w").state(), "22012");
  must("set tidemark.errors = ignore");
  EXPECT_THAT(run("select id, q from v").rows, ElementsAre("1|2"));
  must("set tidemark.errors = report");
  must("update t set b = 1 where id = 2");
  EXPECT_THAT(run("select id, q from v").sorted(), ElementsAre("1|2", "2|1"));
}

TEST_F(SqlSession, AViewIsReplacedOnceTheNewOneIsFilled) {
  must("create table t (id int primary key, grp int, val int)");
  must("insert into t values " + rows_from(0, 500));
  must("create or replace materialized view v as select grp, count(*) as n from t group by grp");
  EXPECT_EQ(run("select * from v").rows.size(), 7u);
  must("create or replace materialized view v as select id, val * 2 as twice from t where val < 3");
  EXPECT_TRUE(becomes("select twice from v", {"0", "2", "4"}));
  must("insert into t values (1000, 0, 1)");
  EXPECT_TRUE(becomes("select twice from v", {"0", "2", "2", "4"}));
  must("create materialized view over as select count(*) as n from v");
  EXPECT_EQ(run("create or replace materialized view v as select id from t").state(), "2BP01");
  EXPECT_EQ(run("create or replace materialized view t as select id from v").state(), "42809");
  must("drop materialized view v cascade");
  EXPECT_EQ(run("select * from v").state(), "42P01");
}

TEST_F(SqlSession, ViewsTellHowFarBehindTheyAreAndWhichLane) {
  must("create table t (id int primary key, grp int)");
  must("create table other (id int primary key)");
  must("create materialized view v as select grp, count(*) as n from t group by grp");
  must("create materialized view w as select count(*) as n from v");
  must("create materialized view aside as select count(*) as n from other");
  must("select * from w");
  must("select * from aside");
  const std::string lag =
      "select name, lag_records > 0, lag_ms > 100, lag_region is not null, lag_lane between 0 and 15 "
      "from tidemark.views";
  EXPECT_TRUE(becomes(lag, {"aside|f|f|f|", "v|f|f|f|", "w|f|f|f|"}));

  for (int i = 0; i < cluster_.view_manager_count(); ++i) cluster_.view_manager(i).pause();
  must("insert into t values (1, 1), (2, 1), (3, 2)");
  EXPECT_TRUE(becomes(lag, {"aside|f|f|f|", "v|t|t|t|t", "w|t|t|t|t"}));
  for (int i = 0; i < cluster_.view_manager_count(); ++i) cluster_.view_manager(i).resume();
  EXPECT_TRUE(becomes(lag, {"aside|f|f|f|", "v|f|f|f|", "w|f|f|f|"}));
}

TEST_F(SqlSession, AViewThatIsBeingFilledTellsHowFarItIs) {
  must("create table t (id int primary key, grp int, val int)");
  must("insert into t values " + rows_from(0, 2000));
  for (int i = 0; i < cluster_.view_manager_count(); ++i) cluster_.view_manager(i).pause();
  must("create materialized view v as select grp, count(*) as n from t group by grp");
  const std::string progress =
      "select name, state, backfill_percent between 0 and 100, backfill_rows_per_second >= 0 "
      "from tidemark.views";
  EXPECT_TRUE(becomes(progress, {"v|filling|t|t"}));
  for (int i = 0; i < cluster_.view_manager_count(); ++i) cluster_.view_manager(i).resume();
  EXPECT_TRUE(becomes(progress, {"v|ready||"}));
}

TEST_F(SqlSession, ABackfillIsPausedSlowedAndResumed) {
  must("create table t (id int primary key, grp int, val int)");
  must("insert into t values " + rows_from(0, 2000));
  must(
      "create materialized view v with (backfill_rows_per_second = 0) as select grp, count(*) as n, "
      "sum(val) as s from t group by grp");
  const std::string shown =
      "select state, backfill_percent = 0, backfill_rows_per_second_max, backfill_seconds_left is null "
      "from tidemark.views where name = 'v'";
  EXPECT_TRUE(becomes(shown, {"paused|t|0|t"}));
  must("insert into t values " + rows_from(2000, 2100));
  cluster_.run_for(Micros{60'000'000});
  EXPECT_TRUE(becomes(shown, {"paused|t|0|t"}));
  must("create materialized view other as select count(*) as n from t");
  EXPECT_THAT(run("select n from other").rows, ElementsAre("2100")) << "it holds up no other";

  EXPECT_EQ(run("alter materialized view v set (backfill_rows_per_second = 100)").tag,
            "ALTER MATERIALIZED VIEW");
  cluster_.run_for(Micros{10'000'000});
  const std::string tenth =
      "select state, backfill_percent between 25 and 75, backfill_rows_per_second_max, "
      "backfill_seconds_left between 5 and 20 from tidemark.views where name = 'v'";
  EXPECT_TRUE(becomes(tenth, {"filling|t|100|t"}));
  must("insert into t values " + rows_from(2100, 2200));
  must("alter materialized view v reset (backfill_rows_per_second)");
  EXPECT_TRUE(
      becomes("select state, backfill_rows_per_second_max from tidemark.views where name = 'v'", {"ready|"}));
  EXPECT_TRUE(becomes("select * from v", run("select grp, count(*), sum(val) from t group by grp").sorted()));
  EXPECT_THAT(run("alter materialized view v set (backfill_rows_per_second = 0)").notices,
              ElementsAre(HasSubstr("is filled already")));
}

TEST_F(SqlSession, APausedViewIsReplacedAndDropped) {
  must("create table t (id int primary key, grp int, val int)");
  must("insert into t values " + rows_from(0, 500));
  must("create materialized view v as select count(*) as n from t");
  must("select * from v");
  const std::string paused = "create or replace materialized view v with (backfill_rows_per_second = 0) as ";
  must(paused + "select grp from t");
  const std::string shown =
      "select state, backfill_percent, backfill_rows_per_second_max from tidemark.views where name = 'v'";
  EXPECT_TRUE(becomes(shown, {"ready|0|0"})) << "of the one beside it";
  must(paused + "select id, val from t where val < 2");
  EXPECT_TRUE(becomes(shown, {"ready|0|0"}));
  EXPECT_THAT(run("select n from v").rows, ElementsAre("500"));
  must("alter materialized view v reset (backfill_rows_per_second)");
  EXPECT_TRUE(becomes(shown, {"ready||"}));
  EXPECT_THAT(run("select val from v").sorted(), ElementsAre("0", "1"));

  must("create materialized view w with (backfill_rows_per_second = 0) as select grp from t");
  must(paused + "select grp from t");
  must("drop materialized view v, w");
  EXPECT_THAT(run("select name from tidemark.views").rows, ::testing::IsEmpty());
  must("create materialized view w as select count(*) as n from t");
  EXPECT_THAT(run("select n from w").rows, ElementsAre("500"));
}

TEST_F(SqlSession, ARateIsANumberOfRowsAndOfAView) {
  must("create table t (id int primary key)");
  must("create materialized view v as select count(*) as n from t");
  for (const char* wrong : {"-1", "1.5", "1000000001", "'fast'", "true"}) {
    const std::string option = std::string("(backfill_rows_per_second = ") + wrong + ")";
    EXPECT_EQ(run("alter materialized view v set " + option).state(), "22023") << wrong;
    EXPECT_EQ(run("create materialized view w with " + option + " as select id from t").state(), "22023");
  }
  EXPECT_EQ(run("alter materialized view v set (fillfactor = 70)").state(), "22023");
  EXPECT_EQ(run("alter materialized view v reset (fillfactor)").state(), "22023");
  EXPECT_EQ(run("alter materialized view t set (backfill_rows_per_second = 1)").state(), "42809");
  EXPECT_EQ(run("alter materialized view x set (backfill_rows_per_second = 1)").state(), "42P01");
  EXPECT_THAT(run("alter materialized view if exists x set (backfill_rows_per_second = 1)").notices,
              ElementsAre(HasSubstr("does not exist, skipping")));
  EXPECT_EQ(run("alter materialized view v set tablespace fast").state(), "0A000");
  EXPECT_EQ(run("alter table t set (backfill_rows_per_second = 1)").state(), "0A000");
}

// Views of several kinds, read by SQL, are what their queries give at the same time.
class RandomViews : public SqlSession {
 protected:
  struct View {
    std::string name, query;
  };

  void create(const std::string& name, const std::string& query) {
    must("create materialized view " + name + " as " + query);
    views_.push_back({name, query});
  }

  std::string random_statement(Random& random) {
    const std::string id = std::to_string(random.between(0, 40));
    const std::string table = random.chance(0.6) ? "a" : "b";
    const std::string grp = random.chance(0.1) ? "null" : std::to_string(random.between(0, 5));
    const std::string val = random.chance(0.1) ? "null" : std::to_string(random.between(-20, 20));
    switch (random.below(4)) {
      case 0: return "delete from " + table + " where id = " + id;
      case 1:
        return "update " + table + " set val = coalesce(val, 0) + 1, grp = " + grp + " where id = " + id;
      default:
        return "insert into " + table + " values (" + id + ", " + grp + ", " + val +
               ") on conflict (id) do update set grp = excluded.grp, val = excluded.val";
    }
  }

  std::vector<View> views_;
};

TEST_F(RandomViews, AreWhatTheirQueriesGive) {
  for (const char* table : {"a", "b"}) {
    must(std::string("create table ") + table + " (id int primary key, grp int, val int)");
  }
  Random random(7);
  for (int i = 0; i < 60; ++i) must(random_statement(random));
  create("sums", "select grp, count(*) as n, sum(val) as s, avg(val) as m from a group by grp");
  create("extremes",
         "select grp, min(val) as lo, max(val) as hi, count(distinct val) as d from b group by grp");
  create("pairs", "select a.id as x, b.id as y, a.val + b.val as v from a join b on a.grp = b.grp");
  create("outer_pairs", "select a.id as x, b.id as y, b.val as v from a left join b on a.grp = b.grp");
  create("many", "select grp, n from sums where n > 2");
  create("by_n", "select n, count(*) as groups, sum(grp) as g from many group by n");
  create("either_one", "select id, val from a where val > 0 union all select id, grp from b where grp = 1");
  must("set tidemark.wait = on");
  for (int round = 0; round < 25; ++round) {
    for (int i = 0; i < 10; ++i) must(random_statement(random));
    for (const View& view : views_) {
      SqlOutcome have = run("select * from " + view.name);
      SqlOutcome want = run(view.query);
      ASSERT_EQ(have.state(), "00000") << have.text();
      ASSERT_EQ(have.sorted(), want.sorted()) << view.name << " in round " << round;
    }
  }
}

}  // namespace
}  // namespace tidemark
