// What comes from outside and is wrong: a clear word, nothing lost, memory bounded, and the process lives.
#include "tests/cluster/crash_test.h"
#include "tests/cluster/embedded_process.h"
#include "tests/cluster/flood.h"
#include "tests/cluster/tidemark_cluster.h"

namespace tidemark::crash {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

class BadInput : public testing::Test {
 protected:
  EmbeddedProcess up_{{.view_managers = 1, .regions = 2}};
  Random random_{from_environment("TIDEMARK_CRASH_SEED", 1)};

  void SetUp() override { up_.process().start(); }
};

TEST_F(BadInput, ARowThatIsTooLargeIsRefusedAndTheNextOneIsNot) {
  SqlClient client(up_.gateways(), 1);
  client.ask_until_done("create table t (id bigint primary key, words text)");
  const SqlAnswer refused = client.ask("insert into t values (1, '" + std::string(200'000, 'x') + "')");
  EXPECT_EQ(refused.fate, Fate::NotDone);
  EXPECT_NE(refused.sqlstate, "");
  EXPECT_NE(refused.message.find("large"), std::string::npos) << refused.message;
  EXPECT_TRUE(client.ask("insert into t values (1, '" + std::string(100'000, 'x') + "')").ok());
  EXPECT_EQ(client.ask("select length(words) from t").rows.at(0).at(0), "100000");
}

TEST_F(BadInput, AStatementThatIsTooLargeIsRefusedAndTheNextOneIsNot) {
  SqlClient client(up_.gateways(), 1);
  client.ask_until_done("create table t (id bigint primary key, words text)");
  for (const size_t size : {size_t{2} << 20, size_t{80} << 20}) {
    const SqlAnswer refused = client.ask("insert into t values (1, '" + std::string(size, 'x') + "')");
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(refused.message, "");
  }
  EXPECT_TRUE(client.ask_until_done("insert into t values (2, '') on conflict (id) do nothing").ok());
  EXPECT_EQ(client.ask_until_done("select count(*) from t").rows.at(0).at(0), "1");
}

TEST_F(BadInput, AFloodOfRubbishCostsNeitherMemoryNorWrites) {
  Load load(up_.gateways(), {.workload = {.writers = 1}});
  load.create();
  load.start();
  wait_for_writes(load, 100);
  const uint64_t before = up_.process().memory_peak();
  for (uint16_t port : {up_.sql_port(), up_.admin_port()}) EXPECT_GT(flood(port, 1500, random_), 100u);
  wait_for_writes(load, 100);
  ASSERT_TRUE(up_.process().running()) << up_.process().said();
  EXPECT_LT(up_.process().memory_peak(), before + 200 * kMegabyte);
  EXPECT_TRUE(up_.admin({"status"}).ok());
  expect_nothing_wrong(load, "a flood");
}

uint16_t port_of(const std::string& address) {
  return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

size_t count_lines_with(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
  return out;
}

TEST(BadInputToACluster, AFloodOfRubbishAtANodesOwnPortIsToldAndCostsNeitherMemoryNorWrites) {
  TM_REQUIRE_KAFKA();
  constexpr size_t kConnections = 1500;
  Random random(from_environment("TIDEMARK_CRASH_SEED", 1));
  TidemarkCluster cluster({});
  Load load(cluster.gateways(), {.workload = {.writers = 1}});
  load.create();
  load.start();
  wait_for_writes(load, 50);
  for (Member* node : cluster.nodes()) {
    const uint64_t before = node->process().memory_peak();
    EXPECT_GT(flood(port_of(node->address()), kConnections, random, rubbish_for_node), kConnections / 2);
    wait_for_writes(load, 50);
    ASSERT_TRUE(node->process().running()) << node->process().said();
    EXPECT_LT(node->process().memory_peak(), before + 200 * kMegabyte);
    // Why, in one line for many.
    servers::wait_until("the node tells how many connections it closed",
                        [&] { return node->process().said().find("; the last of ") != std::string::npos; });
    EXPECT_LT(count_lines_with(node->process().said(), "closed a connection with"), kConnections / 5);
  }
  EXPECT_TRUE(cluster.admin({"status"}).ok());
  expect_nothing_wrong(load, "a flood");
}

}  // namespace
}  // namespace tidemark::crash
