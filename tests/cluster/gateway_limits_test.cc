// What clients ask too much of: deep and huge statements, results larger than memory, read slowly or not at
// all. A real process, through libpq.
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "tests/cluster/embedded_process.h"

namespace tidemark::crash {
namespace {

using Connected = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Got = std::unique_ptr<PGresult, decltype(&PQclear)>;

constexpr uint64_t kMegabyte = 1 << 20;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

class GatewayLimits : public testing::Test {
 protected:
  void SetUp() override { up_.process().start(); }

  Connected connect() const {
    const std::string where = "host=127.0.0.1 user=me port=" + std::to_string(up_.sql_port());
    Connected out{PQconnectdb(where.c_str()), &PQfinish};
    EXPECT_EQ(PQstatus(out.get()), CONNECTION_OK) << PQerrorMessage(out.get());
    return out;
  }
  static Got next(const Connected& client) { return {PQgetResult(client.get()), &PQclear}; }
  static std::string state_of(const Got& got) {
    const char* state = PQresultErrorField(got.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? "00000" : state;
  }
  static std::string one(const Connected& client, const std::string& sql) {
    const Got got{PQexec(client.get(), sql.c_str()), &PQclear};
    return PQntuples(got.get()) == 1 ? PQgetvalue(got.get(), 0, 0) : PQresultErrorMessage(got.get());
  }

  // So many turns of the server's loop that a statement which does not wait would have given its rows.
  void let_it_work() const {
    const Connected other = connect();
    for (int i = 0; i < 1500; ++i) ASSERT_EQ(one(other, "select 1"), "1");
  }

  EmbeddedProcess up_{{.view_managers = 1, .regions = 2, .settings = {"--sql.query_memory", "64MiB"}}};
};

TEST_F(GatewayLimits, DeepAndHugeStatementsAreRefusedAndTheConnectionServesOn) {
  const Connected client = connect();
  constexpr int kTimes = 30'000;
  for (const std::string& sql :
       {"select " + repeated("(", kTimes) + "1" + repeated(")", kTimes),
        "select " + repeated("- ", kTimes) + "1", "select " + repeated("not ", kTimes) + "true",
        "select 1" + repeated(" + 1", kTimes), "select 1" + repeated("::int", kTimes),
        "select 1" + repeated(" union all select 1", kTimes),
        "select " + repeated("case when true then ", kTimes) + "1" + repeated(" end", kTimes),
        "select * from " + repeated("(select * from ", kTimes) + "t" + repeated(") x", kTimes),
        "select '" + std::string(2 * kMegabyte, 'x') + "'"}) {
    const Got simple{PQexec(client.get(), sql.c_str()), &PQclear};
    EXPECT_TRUE(state_of(simple) == "54001" || state_of(simple) == "54000")
        << state_of(simple) << sql.substr(0, 40);
    const Got extended{PQexecParams(client.get(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1),
                       &PQclear};
    EXPECT_EQ(state_of(extended), state_of(simple)) << sql.substr(0, 40);
    EXPECT_EQ(one(client, "select 1"), "1");
  }
  ASSERT_TRUE(up_.process().running()) << up_.process().said();
}

TEST_F(GatewayLimits, ValuesThatAreTooLargeTogetherAreRefused) {
  const Connected client = connect();
  const std::string large = "repeat('x', 16000000)";
  const Got wide{PQexec(client.get(), ("select " + large + repeated(", " + large, 1000)).c_str()), &PQclear};
  EXPECT_EQ(state_of(wide), "53200");
  const Got sorted{
      PQexec(client.get(), ("select n, " + large + " from generate_series(1, 1000) n order by 2, 1").c_str()),
      &PQclear};
  EXPECT_EQ(state_of(sorted), "53200");
  const Got array{
      PQexec(client.get(), ("select array(select " + large + " from generate_series(1, 1000))").c_str()),
      &PQclear};
  EXPECT_EQ(state_of(array), "54000");
  EXPECT_EQ(one(client, "select 1"), "1");
  EXPECT_LT(up_.process().memory_peak(), 1000 * kMegabyte);
}

constexpr int kRows = 400'000;
const std::string kManyRows = "select n, repeat('x', 1000) from generate_series(1, 400000) n";  // 400 MB.

TEST_F(GatewayLimits, AResultLargerThanTheServersMemoryIsReadByASlowClient) {
  const Connected slow = connect();
  const uint64_t before = up_.process().memory_peak();
  ASSERT_EQ(PQsendQuery(slow.get(), kManyRows.c_str()), 1);
  ASSERT_EQ(PQsetSingleRowMode(slow.get()), 1);
  let_it_work();
  int rows = 0;
  for (Got got = next(slow); got; got = next(slow)) {
    if (PQresultStatus(got.get()) != PGRES_SINGLE_TUPLE) {
      EXPECT_STREQ(PQcmdStatus(got.get()), "SELECT 400000") << PQresultErrorMessage(got.get());
      continue;
    }
    ASSERT_EQ(PQgetvalue(got.get(), 0, 0), std::to_string(++rows));
    ASSERT_EQ(PQgetlength(got.get(), 0, 1), 1000);
  }
  EXPECT_EQ(rows, kRows);
  EXPECT_LT(up_.process().memory_peak(), before + 100 * kMegabyte);
}

TEST_F(GatewayLimits, AStreamIsCancelledAmidItsRowsAndItsClientMayVanish) {
  const uint64_t before = up_.process().memory_peak();
  for (int i = 0; i < 20; ++i) {
    Connected slow = connect();
    ASSERT_EQ(PQsendQuery(slow.get(), kManyRows.c_str()), 1);
    ASSERT_EQ(PQsetSingleRowMode(slow.get()), 1);
    ASSERT_EQ(PQresultStatus(next(slow).get()), PGRES_SINGLE_TUPLE);
    if (i % 2 == 0) continue;  // It is gone.
    PGcancel* cancel = PQgetCancel(slow.get());
    char message[256];
    ASSERT_EQ(PQcancel(cancel, message, sizeof message), 1) << message;
    PQfreeCancel(cancel);
    std::string end;
    for (Got got = next(slow); got; got = next(slow)) end = state_of(got);
    EXPECT_EQ(end, "57014");
    EXPECT_EQ(one(slow, "select 1"), "1");
  }
  let_it_work();
  EXPECT_LT(up_.process().memory_peak(), before + 100 * kMegabyte);
}

}  // namespace
}  // namespace tidemark::crash
