#include "tests/servers/postgres.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

namespace tidemark::servers {
namespace {

// The first field of the first row of `sql`'s result, or the error.
std::string ask(const PostgresServer& postgres, const std::string& sql) {
  PGconn* connection = PQconnectdb(postgres.connection_string().c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  std::string answer =
      PQresultStatus(result) == PGRES_TUPLES_OK ? PQgetvalue(result, 0, 0) : PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
  return answer;
}

TEST(PostgresServer, AnswersAndRemembersAcrossStopKillAndRestart) {
  PostgresServer postgres;
  EXPECT_EQ(ask(postgres, "CREATE TABLE t AS SELECT 42 AS x; CHECKPOINT; SELECT x FROM t"), "42");
  postgres.server().stop();
  EXPECT_FALSE(postgres.server().running());
  postgres.server().start();
  EXPECT_EQ(ask(postgres, "SELECT x FROM t"), "42");
  postgres.server().restart();
  EXPECT_EQ(ask(postgres, "SELECT x FROM t"), "42");
}

TEST(PostgresServer, TwoAtOnceDoNotMeet) {
  PostgresServer one;
  PostgresServer two;
  EXPECT_NE(one.port(), two.port());
  ask(one, "CREATE TABLE only_here (x int)");
  EXPECT_EQ(ask(two, "SELECT count(*) FROM pg_tables WHERE tablename = 'only_here'"), "0");
}

}  // namespace
}  // namespace tidemark::servers
