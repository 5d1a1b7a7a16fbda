// A session on a simulated cluster without faults.
#pragma once

#include <gtest/gtest.h>

#include "tests/session/sql_bed.h"

namespace tidemark {

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

}  // namespace tidemark
