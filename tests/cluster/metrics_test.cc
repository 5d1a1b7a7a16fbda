// What a process tells Prometheus: a real one scrapes it, and the documentation says all that it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/cluster/embedded_process.h"
#include "tests/servers/prometheus.h"

namespace tidemark::crash {
namespace {

using servers::HeldPort;
using servers::PrometheusServer;

// Names and types of Tidemark's own metrics, as /metrics shows them.
std::map<std::string, std::string> served(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, kind, name, type;
    words >> hash >> kind >> name >> type;
    if (hash == "#" && kind == "TYPE" && name.starts_with("tidemark_")) out[name] = type;
  }
  return out;
}

// The same, as the rows "| `name` | type | ..." of the page say.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> out;
  std::ifstream lines(TM_METRICS_PAGE);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string bar, name, between, type;
    words >> bar >> name >> between >> type;
    if (bar == "|" && name.starts_with("`tidemark_")) out[name.substr(1, name.size() - 2)] = type;
  }
  return out;
}

class ScrapedProcess : public testing::Test {
 protected:
  ScrapedProcess() : up_({.nodes = 2, .settings = {"--metrics.listen", port_.address()}}) {
    up_.process().start();
    SqlClient client(up_.gateways(), 1);
    client.ask_until_done("create table t (id bigint primary key, v bigint)");
    client.ask_until_done("create materialized view sums as select v, count(*) as n from t group by v");
    for (int i = 0; i < 20; ++i)
      client.ask_until_done("insert into t values (" + std::to_string(i) + ", 7) on conflict do nothing");
    client.ask("select nonsense from t");
  }

  HeldPort port_;
  EmbeddedProcess up_;
};

TEST_F(ScrapedProcess, IsFoundByPrometheus) {
  PrometheusServer prometheus({port_.address()});
  auto becomes = [&](const std::string& expression, const std::function<bool(double)>& holds) {
    servers::wait_until("Prometheus finds " + expression, [&] {
      std::optional<double> value = prometheus.query(expression);
      return value && holds(*value);
    });
  };
  becomes("up", [](double value) { return value == 1; });
  becomes("tidemark_node_writes_total{outcome=\"done\"}", [](double value) { return value >= 20; });
  becomes("tidemark_node_records_total", [](double value) { return value >= 20; });
  becomes("tidemark_node_append_seconds_count", [](double value) { return value >= 20; });
  becomes("tidemark_node_effect_batches_logged_total", [](double value) { return value >= 1; });
  becomes("tidemark_node_regions{state=\"owned\"}", [](double value) { return value == 4; });
  becomes("tidemark_node_regions{state=\"standby\"}", [](double value) { return value == 4; });
  becomes("tidemark_node_row_cache_rows", [](double value) { return value >= 20; });
  becomes("tidemark_node_lag_records", [](double value) { return value == 0; });
  becomes("tidemark_view_manager_changes_total", [](double value) { return value >= 20; });
  becomes("tidemark_view_manager_lanes", [](double value) { return value == 16384; });
  becomes("tidemark_coordinator_elected", [](double value) { return value == 1; });
  becomes("tidemark_coordinator_steps_total{kind=\"fill-views\"}", [](double value) { return value == 1; });
  becomes("tidemark_sql_statements_total{outcome=\"done\"}", [](double value) { return value >= 22; });
  becomes("tidemark_sql_statements_total{outcome=\"failed\"}", [](double value) { return value >= 1; });
  becomes("tidemark_view_lag_records{view=\"sums\"} == 0", [](double value) { return value == 0; });
}

TEST_F(ScrapedProcess, ServesWhatTheDocumentationSays) {
  std::map<std::string, std::string> found;
  servers::wait_until("the view is told of", [&] {
    found = served(servers::get_http(port_.number(), "/metrics"));
    return found.contains("tidemark_view_lag_seconds");
  });
  EXPECT_EQ(found, documented());
}

}  // namespace
}  // namespace tidemark::crash
