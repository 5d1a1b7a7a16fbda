// Statements through a session, on a whole simulated cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/sql_bed.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SqlSession : public ::testing::Test {
 protected:
  SqlSession() : cluster_(SimClusterOptions{}), process_(cluster_, "sql") {
    EXPECT_TRUE(cluster_.run_until([&] { return process_.service().ready(); }));
    client_ = process_.connect();
  }

  SqlOutcome run(const std::string& text) { return client_->run(text); }
  void must(const std::string& text) {
    SqlOutcome outcome = run(text);
    ASSERT_EQ(outcome.state(), "00000") << text << "\n" << outcome.text();
  }
  // Until a view has what it should: effects take a moment.
  testing::AssertionResult becomes(const std::string& query, const std::vector<std::string>& rows) {
    SqlOutcome last;
    for (int i = 0; i < 100; ++i) {
      last = run(query);
      if (last.sorted() == rows) return testing::AssertionSuccess();
      cluster_.run_for(Micros{50'000});
    }
    return testing::AssertionFailure() << query << " gives " << last.text();
  }

  SimCluster cluster_;
  SqlProcess process_;
  std::unique_ptr<SqlClient> client_;
};

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

}  // namespace
}  // namespace tidemark
