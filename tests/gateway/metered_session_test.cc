// Every statement is counted once, by what came of it.
#include "sql/gateway/metered_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process/prometheus_metrics.h"
#include "tests/gateway/fake_session.h"
#include "tests/simulation/virtual_scheduler.h"

namespace tidemark::sql {
namespace {

using testing::HasSubstr;

struct NoSink : ResultSink {
  Wanted row(std::span<const Value>) override { return Wanted::More; }
  void paused() override {}
  bool forget(std::string_view) override { return false; }
  void setting(std::string_view, std::string_view) override {}
  void copy_in(size_t) override {}
  void notice(const SqlError&) override {}
};

TEST(MeteredSession, StatementsAreCountedByTheirOutcomeAndTimed) {
  VirtualScheduler scheduler;
  PrometheusMetrics served;
  GatewayMetrics metrics(served);
  auto session = metered(std::make_unique<FakeSession>(scheduler), scheduler, metrics);
  NoSink sink;
  int ended = 0;
  auto execute = [&](const char* text) {
    auto statement = session->prepare(text, {});
    ASSERT_TRUE(statement.ok());
    session->execute(*statement, {}, sink, [&](auto) { ++ended; });
  };
  execute("rows 3");
  scheduler.run_until(Micros{1'000'000});
  execute("fail");
  scheduler.run_until(Micros{2'000'000});
  execute("wait");
  scheduler.run_until(Micros{5'000'000});
  session->cancel();
  scheduler.run_until(Micros{6'000'000});
  EXPECT_EQ(ended, 3);
  EXPECT_FALSE(session->prepare("nonsense", {}).ok());
  metrics.set_connections(2);

  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_statements_total{outcome=\"done\"} 1"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_statements_total{outcome=\"failed\"} 2"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_statements_total{outcome=\"cancelled\"} 1"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_statement_seconds_count 4"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_statement_seconds_bucket{le=\"2.5\"} 3"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_sql_connections 2"));
}

}  // namespace
}  // namespace tidemark::sql
