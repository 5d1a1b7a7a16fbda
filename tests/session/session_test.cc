// Statements through a session, on a whole simulated cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/frame.h"
#include "proto/messages.pb.h"
#include "tests/session/session_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(SqlSession, AViewFollowsItsTable) {
  must("create table orders (id bigint primary key, customer text not null, amount numeric(10,2))");
  EXPECT_EQ(run("insert into orders values (1, 'ann', 10), (2, 'bob', 5.5), (3, 'ann', 1.25)").tag,
            "INSERT 0 3");
  EXPECT_THAT(run("select customer, amount from orders where id = 2").rows, ElementsAre("bob|5.50"));
  EXPECT_THAT(run("select id from orders order by id").rows, ElementsAre("1", "2", "3"));

  EXPECT_EQ(run("create materialized view totals as select customer, count(*) as n, sum(amount) as total "
                "from orders group by customer")
                .tag,
            "CREATE MATERIALIZED VIEW");
  EXPECT_THAT(run("select * from totals order by customer").rows, ElementsAre("ann|2|11.25", "bob|1|5.50"));
  must("insert into orders values (4, 'cid', 7)");
  EXPECT_TRUE(becomes("select * from totals", {"ann|2|11.25", "bob|1|5.50", "cid|1|7.00"}));
  EXPECT_THAT(run("select total from totals where customer = 'ann'").rows, ElementsAre("11.25"));
}

// ---- writes

TEST_F(SqlSession, InsertFillsInDefaultsAndRefusesWhatMustNotBe) {
  must("create table t (a int, b int, c text not null default 'x', d int default 7, primary key (a, b))");
  EXPECT_EQ(run("insert into t (a, b) values (1, 1), (1, 2)").tag, "INSERT 0 2");
  EXPECT_THAT(run("select * from t where a = 1").sorted(), ElementsAre("1|1|x|7", "1|2|x|7"));
  SqlOutcome twice = run("insert into t values (1, 1, 'y', 0)");
  EXPECT_EQ(twice.state(), "23505");
  EXPECT_THAT(twice.error->message, HasSubstr("\"t_pkey\""));
  EXPECT_EQ(run("insert into t values (1, 3, null, 0)").state(), "23502");
  EXPECT_EQ(run("insert into t values (1, 3, 'a', 1/0)").state(), "22012");
  EXPECT_EQ(run("insert into nothing values (1)").state(), "42P01");
  EXPECT_THAT(run("insert into t values (5, 5, 'z', 1) returning d + 1, c").rows, ElementsAre("2|z"));
}

TEST_F(SqlSession, ConflictsDoNothingOrUpdate) {
  must("create table t (k text primary key, n int not null, note text)");
  must("insert into t values ('a', 1, 'first')");
  EXPECT_EQ(run("insert into t values ('a', 5), ('b', 6) on conflict do nothing").tag, "INSERT 0 1");
  EXPECT_THAT(run("insert into t values ('a', 5), ('c', 6) on conflict (k) do nothing returning k").rows,
              ElementsAre("c"));
  SqlOutcome updated =
      run("insert into t as o values ('a', 10), ('d', 20) on conflict (k) do update set n = o.n + excluded.n "
          "returning k, n, note");
  EXPECT_EQ(updated.tag, "INSERT 0 2") << updated.text();
  EXPECT_THAT(updated.rows, ElementsAre("a|11|first", "d|20|"));
  EXPECT_EQ(run("insert into t values ('a', 1) on conflict (k) do update set n = 0 where t.n > 100").tag,
            "INSERT 0 0");
  EXPECT_EQ(run("insert into t values ('z', 1), ('z', 2) on conflict (k) do update set n = 0").state(),
            "21000");
  EXPECT_EQ(run("insert into t values ('a', 1) on conflict (k) do update set n = null").state(), "23502");
  EXPECT_THAT(run("select k, n from t").sorted(), ElementsAre("a|11", "b|6", "c|6", "d|20"));
}

TEST_F(SqlSession, UpdateAndDeleteChangeARowByItsKey) {
  must("create table t (k int primary key, n int not null, s text)");
  must("insert into t values (1, 10, 'a'), (2, 20, 'b')");
  EXPECT_EQ(run("update t set n = n + 1 where k = 1").tag, "UPDATE 1");
  EXPECT_EQ(run("update t set n = 0 where k = 1 and s = 'other'").tag, "UPDATE 0");
  EXPECT_EQ(run("update t set n = 0 where k = 9").tag, "UPDATE 0");
  EXPECT_EQ(run("update t set n = null where k = 1").state(), "23502");
  EXPECT_THAT(run("update t set n = n * 2, s = s || s where k = 1 returning *").rows, ElementsAre("1|22|aa"));
  EXPECT_THAT(run("delete from t where k = 2 and n = 20 returning s").rows, ElementsAre("b"));
  EXPECT_EQ(run("delete from t where k = 2").tag, "DELETE 0");
  EXPECT_THAT(run("select * from t").rows, ElementsAre("1|22|aa"));
}

TEST_F(SqlSession, WhatCanNotBeReturnedIsNotWritten) {
  must("create table t (k int primary key, n int not null)");
  must("insert into t values (1, 1), (2, 0)");
  EXPECT_EQ(run("update t set n = 0 where k = 1 returning 1 / n").state(), "22012");
  EXPECT_EQ(run("delete from t where k = 2 returning 1 / n").state(), "22012");
  EXPECT_EQ(run("insert into t values (3, 1), (4, 0) returning 1 / n").state(), "22012");
  EXPECT_EQ(run("insert into t values (3, 0) on conflict do nothing returning 1 / n").state(), "22012");
  EXPECT_EQ(run("insert into t values (1, 7) on conflict (k) do update set n = 0 returning 1 / n").state(),
            "22012");
  EXPECT_THAT(run("select * from t").sorted(), ElementsAre("1|1", "2|0"));
  // Nothing is returned of what is there already.
  SqlOutcome some =
      run("insert into t values (2, 0), (3, 1), (3, 0) on conflict do nothing returning k, 1 / n");
  EXPECT_EQ(some.tag, "INSERT 0 1") << some.text();
  EXPECT_THAT(some.rows, ElementsAre("3|1"));
  EXPECT_EQ(run("begin; insert into t values (5, 1); insert into t values (6, 0) returning 1 / n").state(),
            "22012");
  must("rollback");
  EXPECT_THAT(run("select * from t").sorted(), ElementsAre("1|1", "2|0", "3|1"));
}

TEST_F(SqlSession, CountersOfManySessionsLoseNothing) {
  must("create table t (k int primary key, n int not null)");
  must("insert into t values (1, 0)");
  std::vector<std::unique_ptr<SqlClient>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(process_.connect());
  for (int round = 0; round < 4; ++round) {
    for (auto& client : clients) {
      client->begin(round % 2 ? "update t set n = n + 1 where k = 1"
                              : "insert into t values (1, 0) on conflict (k) do update set n = t.n + 1");
    }
    for (auto& client : clients) EXPECT_EQ(client->finish().state(), "00000");
  }
  EXPECT_THAT(run("select n from t").rows, ElementsAre("20"));
}

TEST_F(SqlSession, InsertOfAQueryWritesManyRowsInChunks) {
  must("create table numbers (n int primary key)");
  std::string values;
  for (int i = 0; i < 60; ++i) values += (i ? ",(" : "(") + std::to_string(i) + ")";
  must("insert into numbers values " + values);
  must("create table pairs (a int, b int, primary key (a, b))");
  EXPECT_EQ(run("insert into pairs select x.n, y.n from numbers x cross join numbers y").tag,
            "INSERT 0 3600");
  EXPECT_THAT(run("select count(*), count(distinct a), max(b) from pairs").rows, ElementsAre("3600|60|59"));
  EXPECT_EQ(run("insert into pairs select x.n, y.n from numbers x cross join numbers y").state(), "23505");
}

// Else it would read rows that it has just written, and perhaps never end.
TEST_F(SqlSession, AQueryOfTheTableThatItIsInsertedIntoSeesNoneOfItsRows) {
  must("create table t (n int primary key)");
  must("create materialized view v as select n from t where n >= 0");
  std::string values;
  for (int i = 0; i < 3000; ++i) values += (i ? ",(" : "(") + std::to_string(i) + ")";
  must("insert into t values " + values);
  EXPECT_EQ(run("insert into t select n + 3000 from t").tag, "INSERT 0 3000");
  EXPECT_EQ(run("insert into t select n + 6000 from (select n from t where n < 3000) s").tag,
            "INSERT 0 3000");
  EXPECT_EQ(run("insert into t select n - 9000 from t where n <= (select max(n) from t)").tag,
            "INSERT 0 9000");
  EXPECT_THAT(run("select count(*), min(n), max(n) from t").rows, ElementsAre("18000|-9000|8999"));
  must("set tidemark.wait = on");
  EXPECT_EQ(run("insert into t select n + 9000 from v").tag, "INSERT 0 9000");
  EXPECT_THAT(run("select count(*), max(n) from t").rows, ElementsAre("27000|17999"));
}

// ---- COPY

TEST_F(SqlSession, CopyTakesTextAndCsv) {
  must("create table t (id int primary key, name text, n int default 3)");
  client_->give_copy_data("1\tann\n2\t\\N\n3\tb\\tc\n", 3);
  SqlOutcome copied = run("copy t (id, name) from stdin");
  EXPECT_EQ(copied.tag, "COPY 3") << copied.text();
  client_->give_copy_data("id,name,n\n4,\"x, \"\"y\"\"\",5\n5,,\n");
  EXPECT_EQ(run("copy t from stdin with (format csv, header)").tag, "COPY 2");
  EXPECT_THAT(run("select * from t").sorted(),
              ElementsAre("1|ann|3", "2||3", "3|b\tc|3", "4|x, \"y\"|5", "5||"));

  client_->give_copy_data("6\tnot a number\n");
  EXPECT_EQ(run("copy t (id, n) from stdin").state(), "22P02");
  client_->give_copy_data("1\tagain\n");
  EXPECT_EQ(run("copy t (id, name) from stdin").state(), "23505");
}

TEST_F(SqlSession, CopyOfManyRowsGoesInBatches) {
  must("create table t (id int primary key, name text)");
  std::string data;
  for (int i = 0; i < 20'000; ++i) data += std::to_string(i) + "\trow " + std::to_string(i) + "\n";
  client_->give_copy_data(data, 8192);
  SqlOutcome copied = run("copy t from stdin");
  EXPECT_EQ(copied.tag, "COPY 20000") << copied.text();
  EXPECT_THAT(run("select count(*), min(id), max(id) from t").rows, ElementsAre("20000|0|19999"));
  EXPECT_THAT(run("select name from t where id = 12345").rows, ElementsAre("row 12345"));
}

// Not all of its rows are made and sent at once.
TEST_F(SqlSession, CopyOfOneLargeMessageWaitsForRoomAmidIt) {
  must("create table t (id int primary key, name text)");
  std::string data;
  for (int i = 0; i < 30'000; ++i) data += std::to_string(i) + "\ta name of thirty characters, one\n";
  client_->give_copy_data(data, data.size());
  size_t requests = 0, unanswered_most = 0, answers = 0;
  cluster_.world().network.set_tap([&](const Address&, const Address&, const pb::Message& message) {
    requests += message.has_write() ? 1 : 0;
    answers += message.has_written() ? 1 : 0;
    unanswered_most = std::max(unanswered_most, requests - std::min(requests, answers));
  });
  SqlOutcome copied = run("copy t from stdin");
  EXPECT_EQ(copied.tag, "COPY 30000") << copied.text();
  EXPECT_GT(requests, 60u);
  EXPECT_LT(unanswered_most, requests / 2);
}

// A plain read may be answered by a node that was replaced without knowing it.
TEST_F(SqlSession, ThatNoRowIsToBeChangedIsToldByAnOwnerWhoHasProvedIt) {
  must("create table t (id int primary key, n int)");
  size_t proofs = 0;
  cluster_.world().network.set_tap([&](const Address&, const Address&, const pb::Message& message) {
    proofs += message.has_written() ? 1 : 0;
  });
  EXPECT_EQ(run("delete from t where id = 1").tag, "DELETE 0");
  EXPECT_EQ(proofs, 1u);
  EXPECT_EQ(run("update t set n = 2 where id = 1 returning n").tag, "UPDATE 0");
  EXPECT_EQ(proofs, 2u);
  must("insert into t values (1, 1)");
  EXPECT_EQ(run("update t set n = 2 where id = 1").tag, "UPDATE 1");
  proofs = 0;
  EXPECT_EQ(run("update t set n = 3 where id = 1 and n = 1").tag, "UPDATE 0");
  EXPECT_EQ(proofs, 1u);
  EXPECT_EQ(run("delete from t where id = 1 and n = 1").tag, "DELETE 0");
  EXPECT_EQ(proofs, 2u);
  EXPECT_THAT(run("select n from t").rows, ElementsAre("2"));
}

// ---- reads

TEST_F(SqlSession, ReadsByKeyByPrefixAndAll) {
  must("create table t (a text, b int, c int, primary key (a, b))");
  must("insert into t values ('x', 1, 10), ('x', 2, 20), ('y', 1, 30), ('z', 5, 40)");
  EXPECT_THAT(run("select c from t where a = 'x' and b = 2").rows, ElementsAre("20"));
  EXPECT_THAT(run("select b from t where a = 'x'").rows, ElementsAre("1", "2"));
  EXPECT_THAT(run("select a, sum(c) from t group by a order by a").rows, ElementsAre("x|30", "y|30", "z|40"));
  EXPECT_THAT(run("select l.a, r.b from t l join t r on l.b = r.b and l.a < r.a").rows, ElementsAre("x|1"));
  EXPECT_THAT(run("select c from t order by c desc limit 2").rows, ElementsAre("40", "30"));
  EXPECT_THAT(run("select 1 + 1, 'a' || 'b'").rows, ElementsAre("2|ab"));
  EXPECT_EQ(run("select 1 / (b - 1) from t where a = 'x'").state(), "22012");
  EXPECT_EQ(run("select nothing from t").state(), "42703");
  EXPECT_THAT(run("select a from t where a = null").rows, IsEmpty());
}

// ---- prepared statements

// No message holds what these statements are about, so that it must not be sent anywhere.
class SqlSessionSizes : public SqlSession {
 protected:
  SqlSessionSizes() {
    cluster_.world().network.set_tap([this](const Address&, const Address&, const pb::Message& message) {
      longest_ = std::max(longest_, message.ByteSizeLong());
    });
  }
  ~SqlSessionSizes() override {
    cluster_.world().network.set_tap({});
    EXPECT_LT(longest_, kFrameBytesMax);
  }

  const std::string huge_ = "repeat('x', 9000000)";
  size_t longest_ = 0;
};

TEST_F(SqlSessionSizes, ARowThatIsTooLargeIsRefusedAndNotSent) {
  must("create table t (k text primary key, v text)");
  must("insert into t values ('a', 'b')");
  for (const std::string& statement :
       {"insert into t values ('c', " + huge_ + ")", "insert into t values (" + huge_ + ", 'c')",
        "insert into t values ('a', " + huge_ + ") on conflict do nothing",
        "insert into t values ('a', 'c') on conflict (k) do update set v = " + huge_,
        "update t set v = " + huge_ + " where k = 'a'"}) {
    SqlOutcome outcome = run(statement);
    EXPECT_EQ(outcome.state(), "54000") << statement << "\n" << outcome.text();
    EXPECT_NE(outcome.text().find("limit of 131072 bytes"), std::string::npos) << outcome.text();
  }
  EXPECT_EQ(run("insert into t values ('d', repeat('x', 131072))").state(), "54000");
  must("insert into t values ('d', repeat('x', 131000))");
  EXPECT_EQ(run("select k, length(v) from t").sorted(), (std::vector<std::string>{"a|1", "d|131000"}));
}

TEST_F(SqlSessionSizes, AKeyThatIsLongerThanAnyRowFindsNothing) {
  must("create table t (k text primary key, v text)");
  must("create table pairs (k text, n text, primary key (k, n))");
  must("create materialized view w as select v, count(*) as n from t group by v");
  must("insert into t values ('a', 'b')");
  for (const std::string& where :
       {"t where k = " + huge_, "pairs where k = " + huge_, "w where v = " + huge_}) {
    SqlOutcome outcome = run("select * from " + where);
    EXPECT_EQ(outcome.state(), "00000") << where << "\n" << outcome.text();
    EXPECT_TRUE(outcome.sorted().empty()) << where;
  }
  must("update t set v = 'c' where k = " + huge_);
  must("delete from t where k = " + huge_);
  EXPECT_EQ(run("select * from t").sorted(), std::vector<std::string>{"a|b"});
}

TEST_F(SqlSession, PreparedStatementsKnowTheirTypesAndFollowTheCatalog) {
  must("create table t (id bigint primary key, name text)");
  must("insert into t values (1, 'one'), (2, 'two')");
  auto select = client_->session().prepare("select name, id + $2 as more from t where id = $1", {});
  ASSERT_TRUE(select.ok());
  EXPECT_THAT((*select)->parameters(), ElementsAre(sql::TypeKind::BigInt, sql::TypeKind::BigInt));
  EXPECT_EQ((*select)->columns()[1].name, "more");
  EXPECT_THAT(client_->run_prepared(*select, {"2", "40"}).rows, ElementsAre("two|42"));
  EXPECT_THAT(client_->run_prepared(*select, {std::nullopt, "40"}).rows, IsEmpty());

  must("create table other (id int primary key)");  // Bound anew, the same.
  EXPECT_THAT(client_->run_prepared(*select, {"1", "1"}).rows, ElementsAre("one|2"));
  must("drop table t; create table t (id bigint primary key, name int)");
  EXPECT_EQ(client_->run_prepared(*select, {"1", "1"}).state(), "0A000");
  must("drop table t");
  EXPECT_EQ(client_->run_prepared(*select, {"1", "1"}).state(), "42P01");

  EXPECT_EQ(client_->session().prepare("select $1", {}).ok(), true);
  EXPECT_EQ(client_->session().prepare("select 1; select 2", {}).error().state, "42601");
  auto nothing = client_->session().prepare("", {});
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(client_->run_prepared(*nothing, {}).tag, "");
}

// ---- catalog

TEST_F(SqlSession, TablesAreMadeAndDropped) {
  must("create table t (id int primary key)");
  EXPECT_EQ(run("create table t (id int primary key)").state(), "42P07");
  SqlOutcome skipped = run("create table if not exists t (other text primary key)");
  EXPECT_EQ(skipped.tag, "CREATE TABLE");
  EXPECT_THAT(skipped.notices, ElementsAre(HasSubstr("already exists, skipping")));
  EXPECT_EQ(run("create table nokey (id int)").state(), "42P16");
  EXPECT_EQ(run("create table other.t (id int primary key)").state(), "0A000");
  must("create materialized view v as select count(*) as n from t");
  must("create materialized view w as select n + 1 as m from v");
  SqlOutcome refused = run("drop table t");
  EXPECT_EQ(refused.state(), "2BP01");
  EXPECT_THAT(refused.error->detail, HasSubstr("materialized view w depends on"));
  EXPECT_EQ(run("drop table v").state(), "42809");
  SqlOutcome cascade = run("drop table t cascade");
  EXPECT_EQ(cascade.tag, "DROP TABLE") << cascade.text();
  EXPECT_EQ(cascade.notices.size(), 2u);
  EXPECT_EQ(run("select * from w").state(), "42P01");
  EXPECT_EQ(run("drop table t").state(), "42P01");
  EXPECT_EQ(run("drop table if exists t").tag, "DROP TABLE");
  must("create table t (id text primary key)");
  must("insert into t values ('again')");
  EXPECT_THAT(run("select * from t").rows, ElementsAre("again"));
}

TEST_F(SqlSession, SessionsOfSeveralProcessesChangeTheCatalogAtOnce) {
  SqlProcess second(cluster_, "sql2");
  ASSERT_TRUE(cluster_.run_until([&] { return second.service().ready(); }));
  auto other = second.connect();
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i);
    client_->begin("create table a" + number + " (id int primary key)");
    other->begin("create table b" + number + " (id int primary key)");
    SqlOutcome one = client_->finish(), two = other->finish();
    EXPECT_EQ(one.state() + two.state(), "0000000000") << one.text() << two.text();
  }
  client_->begin("create table same (id int primary key)");
  other->begin("create table same (id text primary key)");
  std::vector<std::string> states{client_->finish().state(), other->finish().state()};
  EXPECT_THAT(states, ::testing::UnorderedElementsAre("00000", "42P07"));
}

// ---- transactions

TEST_F(SqlSession, ATransactionIsWrittenWholeAtItsEnd) {
  must("create table t (a text, b int, n int, primary key (a, b))");
  must("insert into t values ('x', 1, 1), ('x', 2, 2)");
  auto other = process_.connect();
  must("begin");
  EXPECT_EQ(client_->session().transaction_status(), sql::TransactionStatus::InTransaction);
  EXPECT_EQ(run("insert into t values ('x', 3, 3)").tag, "INSERT 0 1");
  EXPECT_EQ(run("update t set n = n + 10 where a = 'x' and b = 1").tag, "UPDATE 1");
  EXPECT_EQ(run("update t set n = n + 10 where a = 'x' and b = 3 returning n").rows,
            std::vector<std::string>{"13"});
  EXPECT_EQ(run("delete from t where a = 'x' and b = 2").tag, "DELETE 1");
  EXPECT_EQ(run("update t set n = 0 where a = 'x' and b = 2").tag, "UPDATE 0");
  EXPECT_THAT(other->run("select b, n from t").sorted(), ElementsAre("1|1", "2|2"));
  EXPECT_EQ(run("commit").tag, "COMMIT");
  EXPECT_THAT(other->run("select b, n from t").sorted(), ElementsAre("1|11", "3|13"));
  EXPECT_EQ(client_->session().transaction_status(), sql::TransactionStatus::Idle);
}

TEST_F(SqlSession, ATransactionIsDroppedWhenItFails) {
  must("create table t (id int primary key, n int)");
  must("begin; insert into t values (1, 1)");
  EXPECT_EQ(run("select 1/0").state(), "22012");
  EXPECT_EQ(client_->session().transaction_status(), sql::TransactionStatus::Failed);
  EXPECT_EQ(run("select 1").state(), "25P02");
  EXPECT_EQ(run("commit").tag, "ROLLBACK");
  must("begin; insert into t values (1, 1); rollback");
  EXPECT_THAT(run("select * from t").rows, IsEmpty());
  must("begin; insert into t values (1, 1)");
  EXPECT_EQ(run("select * from t").state(), "0A000");  // Its own writes.
  must("rollback");
  must("begin; insert into t values (1, 1)");
  EXPECT_EQ(run("inser into t values (2, 2)").state(), "42601");
  EXPECT_EQ(run("commit").tag, "ROLLBACK");
  EXPECT_THAT(run("select * from t").rows, IsEmpty());
  must("begin read only");
  EXPECT_EQ(run("insert into t values (1, 1)").state(), "25006");
  must("rollback");
  EXPECT_THAT(run("commit").notices, ElementsAre(HasSubstr("no transaction in progress")));
}

// Also if it deletes it again.
TEST_F(SqlSession, ATransactionThatInsertsARowThatIsThereIsRefused) {
  must("create table t (id int primary key, n int)");
  must("insert into t values (1, 1)");
  must("begin; insert into t values (1, 2); delete from t where id = 1");
  EXPECT_EQ(run("commit").state(), "23505");
  must("begin; insert into t values (1, 2); delete from t where id = 1; insert into t values (1, 3)");
  EXPECT_EQ(run("commit").state(), "23505");
  EXPECT_THAT(run("select * from t").rows, ElementsAre("1|1"));
  must("begin; insert into t values (2, 2); delete from t where id = 2");
  EXPECT_EQ(run("update t set n = 0 where id = 2").tag, "UPDATE 0");
  EXPECT_EQ(run("commit").tag, "COMMIT");
  EXPECT_THAT(run("select * from t").rows, ElementsAre("1|1"));
}

TEST_F(SqlSession, ATransactionOverSeveralRegionsIsRefused) {
  must("create table t (id int primary key)");
  must("begin");
  std::string values;
  for (int i = 0; i < 50; ++i) values += (i ? ",(" : "(") + std::to_string(i) + ")";
  must("insert into t values " + values);
  SqlOutcome refused = run("commit");
  EXPECT_EQ(refused.state(), "0A000");
  EXPECT_THAT(refused.error->hint, HasSubstr("one distribution key"));
  EXPECT_EQ(client_->session().transaction_status(), sql::TransactionStatus::Idle);
  EXPECT_THAT(run("select * from t").rows, IsEmpty());
}

TEST_F(SqlSession, ATransactionThatLostARaceIsRefused) {
  must("create table t (id int primary key, n int)");
  must("insert into t values (1, 1)");
  auto other = process_.connect();
  must("begin; update t set n = n + 1 where id = 1");
  ASSERT_EQ(other->run("update t set n = 100 where id = 1").tag, "UPDATE 1");
  EXPECT_EQ(run("commit").state(), "40001");
  must("begin; insert into t values (2, 1)");
  ASSERT_EQ(other->run("insert into t values (2, 2)").tag, "INSERT 0 1");
  EXPECT_EQ(run("commit").state(), "23505");
  EXPECT_THAT(run("select * from t").sorted(), ElementsAre("1|100", "2|2"));
}

// ---- system tables

TEST_F(SqlSession, SystemTablesTellOfTheCatalogAndTheCluster) {
  must("create table t (id int primary key, name text not null)");
  must("create materialized view v as select name, count(*) as n from t group by name");
  must("select * from v");
  EXPECT_THAT(run("select relname, relkind from pg_class where relname in ('t', 'v') order by 1").rows,
              ElementsAre("t|r", "v|m"));
  EXPECT_THAT(
      run("select column_name from information_schema.columns where table_name = 't' order by 1").rows,
      ElementsAre("id", "name"));
  EXPECT_THAT(run("select name, state from tidemark.views").rows, ElementsAre("v|ready"));
  EXPECT_THAT(run("select count(*) from tidemark.nodes").rows, ElementsAre("3"));
  EXPECT_EQ(run("insert into pg_class values (1)").state(), "42809");
  EXPECT_EQ(run("create materialized view w as select relname from pg_class").state(), "0A000");
}

// ---- the rest

TEST_F(SqlSession, SettingsAreShownSetAndReset) {
  EXPECT_THAT(run("show tidemark.wait").rows, ElementsAre("off"));
  must("set tidemark.wait = on");
  EXPECT_THAT(run("show tidemark.wait").rows, ElementsAre("on"));
  must("reset all");
  EXPECT_THAT(run("show tidemark.wait").rows, ElementsAre("off"));
  must("set extra_float_digits = 3; set application_name = 'psql'; set client_encoding to 'UTF8'");
  must("set time zone 'UTC'; set search_path to public");
  EXPECT_EQ(run("set tidemark.backfill = never").state(), "22023");
  EXPECT_EQ(run("set server_version = '1'").state(), "55P02");
  EXPECT_EQ(run("set tidemark.nothing = 1").state(), "42704");
  EXPECT_EQ(run("set time zone 'Europe/Berlin'").state(), "0A000");
  EXPECT_EQ(run("show nothing").state(), "42704");
  EXPECT_GT(run("show all").rows.size(), 20u);
  EXPECT_EQ(run("discard all").tag, "DISCARD ALL");
}

TEST_F(SqlSession, ChangesOfSettingsAreTold) {
  EXPECT_THAT(run("set application_name = 'a'").settings, ElementsAre("application_name=a"));
  EXPECT_THAT(run("set time zone 'gmt'").settings, ElementsAre("TimeZone=UTC"));
  EXPECT_THAT(run("reset application_name").settings, ElementsAre("application_name=tests"));
  EXPECT_THAT(run("discard all").settings, testing::Contains("TimeZone=UTC"));
}

TEST_F(SqlSession, SettingsOfTheStartupAreWhatResetGoesBackTo) {
  auto start = [&](std::vector<sql::StartupSetting> settings) {
    return process_.service().make_session({"tester", "tidemark", "tests", std::move(settings)});
  };
  auto session =
      start({{"TimeZone", "Europe/Berlin"}, {"extra_float_digits", "2"}, {"tidemark.wait", "1", true}});
  ASSERT_TRUE(session.ok());
  client_ = std::make_unique<SqlClient>(cluster_, std::move(*session));
  must("set tidemark.wait = off; reset tidemark.wait");
  EXPECT_THAT(run("show tidemark.wait").rows, ElementsAre("on"));
  EXPECT_THAT(run("show timezone").rows, ElementsAre("UTC"));
  EXPECT_THAT(run("show extra_float_digits").rows, ElementsAre("2"));
  EXPECT_EQ(start({{"tidemark.nothing", "1", true}}).error().state, "42704");
}

TEST_F(SqlSession, ExplainShowsOperatorsPlacesAndCosts) {
  must("create table orders (id int primary key, customer text, amount int)");
  EXPECT_THAT(run("explain select * from orders where id = 3").text(), HasSubstr("one row of one region"));
  EXPECT_THAT(run("explain select * from orders").text(), HasSubstr("all regions"));
  const std::string view =
      run("explain create materialized view v as select customer, max(amount) as m from orders "
          "where amount > 5 group by customer")
          .text();
  EXPECT_THAT(view, HasSubstr("View v: counts and sums per group"));
  EXPECT_THAT(view, HasSubstr("the hash of (customer)"));
  EXPECT_THAT(view, HasSubstr("Keeps auxiliary table 1: values with their counts"));
  EXPECT_THAT(view, HasSubstr("A change of orders costs 2 effects"));
  EXPECT_EQ(run("select * from v").state(), "42P01");
  EXPECT_THAT(run("explain analyze select * from orders").text(), HasSubstr("Gave 0 rows"));
  EXPECT_THAT(run("explain (format json) select 1").rows.at(0), HasSubstr("[{\"Plan\": ["));
}

TEST_F(SqlSession, AStatementIsCancelled) {
  must("create table t (id int primary key)");
  must("insert into t values (1)");
  client_->begin("select * from t");
  client_->session().cancel();
  EXPECT_EQ(client_->finish().state(), "57014");
  EXPECT_THAT(run("select * from t").rows, ElementsAre("1"));
  client_->session().cancel();  // Nothing runs.
  EXPECT_THAT(run("select * from t").rows, ElementsAre("1"));

  for (int i = 0; i < 3; ++i) cluster_.node(i).pause(SimProcess::Pause::SessionKept);
  must("set statement_timeout = '2s'");
  EXPECT_EQ(run("insert into t values (2)").state(), "57014");
  for (int i = 0; i < 3; ++i) cluster_.node(i).resume();
}

// 2,500 rows are several pages and batches.
class SqlSessionStream : public SqlSession {
 protected:
  SqlSessionStream() {
    must(
        "create table big (k int primary key, t text); "
        "insert into big select n, repeat('x', 100) from generate_series(1, 2500) n");
  }
  // Runs until the statement waits with so many rows given.
  void wait_for_pause() {
    ASSERT_TRUE(cluster_.run_until([&] { return client_->is_paused() || client_->is_over(); }));
    ASSERT_TRUE(client_->is_paused());
  }
};

TEST_F(SqlSessionStream, ASelectWaitsWhereverItsRowsAreNotTaken) {
  for (const char* query : {"select k, t from big", "select k, t from big order by k",
                            "select n, repeat('x', 100) from generate_series(1, 2500) n"}) {
    client_->take_rows(7);
    client_->begin(query);
    for (size_t pieces = 0; pieces < 3; ++pieces) {
      wait_for_pause();
      cluster_.run_for(Micros{1'000'000});
      ASSERT_TRUE(client_->is_paused());
      client_->take_more(333);
    }
    wait_for_pause();
    client_->take_more(10'000);
    const SqlOutcome outcome = client_->finish();
    EXPECT_EQ(outcome.tag, "SELECT 2500") << query;
    std::vector<std::string> rows = outcome.sorted();
    EXPECT_EQ(std::unique(rows.begin(), rows.end()) - rows.begin(), 2500) << query;
  }
}

TEST_F(SqlSessionStream, ASelectThatWaitsIsCancelledAndDropped) {
  client_->take_rows(1200);
  client_->begin("select * from big");
  wait_for_pause();
  client_->session().cancel();
  EXPECT_EQ(client_->finish().state(), "57014");
  client_ = process_.connect();
  client_->take_rows(1200);
  client_->begin("select * from big");
  wait_for_pause();
  client_.reset();  // The client is gone amid its rows.
  cluster_.run_for(Micros{1'000'000});
  client_ = process_.connect();
  EXPECT_EQ(run("select count(*) from big").rows, (std::vector<std::string>{"2500"}));
}

TEST_F(SqlSessionStream, ATimeoutDoesNotCountTheTimeOfTheClient) {
  must("set statement_timeout = 5000");
  client_->take_rows(10);
  client_->begin("select * from big");
  wait_for_pause();
  cluster_.run_for(Micros{60'000'000});
  ASSERT_TRUE(client_->is_paused());
  client_->take_more(10'000);
  EXPECT_EQ(client_->finish().tag, "SELECT 2500");
}

TEST_F(SqlSession, AnUnknownOutcomeIsToldAsSuch) {
  must("create table t (id int primary key)");
  for (int i = 0; i < 50; ++i) must("insert into t values (" + std::to_string(i) + ")");  // In all regions.
  for (int i = 0; i < 3; ++i) cluster_.node(i).pause(SimProcess::Pause::SessionKept);
  SqlOutcome unknown = run("insert into t values (100)");
  EXPECT_EQ(unknown.state(), "08007");
  EXPECT_THAT(unknown.error->message, HasSubstr("not known"));
  EXPECT_EQ(run("select * from t").state(), "57P03");
  for (int i = 0; i < 3; ++i) cluster_.node(i).resume();
}

}  // namespace
}  // namespace tidemark
