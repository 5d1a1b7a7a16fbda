// `tidemark sql` against a real PostgreSQL: what it prints and how it ends.
#include "cli/sql_command.h"

#include <gtest/gtest.h>

#include <libpq-fe.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "tests/servers/postgres.h"

namespace tidemark {
namespace {

struct Ran {
  int exit;
  std::string out;
  std::string err;
};

Ran run(std::vector<std::string> words) {
  words.insert(words.begin(), "sql");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = sql_command(static_cast<int>(argv.size()), argv.data());
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

class SqlCommandTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server = std::make_unique<servers::PostgresServer>();
    std::unique_ptr<PGconn, decltype(&PQfinish)> admin(PQconnectdb(server->connection_string().c_str()),
                                                       &PQfinish);
    PQclear(PQexec(admin.get(), "create role tidemark superuser login"));
    PQclear(PQexec(admin.get(), "create database tidemark owner tidemark"));
  }
  static void TearDownTestSuite() { server.reset(); }

  static Ran sql(std::vector<std::string> words) {
    words.insert(words.begin(), {"--connect", "127.0.0.1:" + std::to_string(server->port())});
    return run(words);
  }

  static std::unique_ptr<servers::PostgresServer> server;
};
std::unique_ptr<servers::PostgresServer> SqlCommandTest::server;

TEST_F(SqlCommandTest, PrintsTablesForPeople) {
  Ran ran = sql({"-c", "select 7 as number, 'text' as words union all select null, 'é'"});
  EXPECT_EQ(ran.exit, kDone);
  EXPECT_EQ(ran.out, " number | words\n--------+-------\n      7 | text\n        | é\n(2 rows)\n");
}

TEST_F(SqlCommandTest, PrintsOneObjectARowForPrograms) {
  Ran ran = sql({"--json", "-c",
                 "select 1 as i, 2.50 as n, 'NaN'::float8 as f, true as b, null as z, E'a\"\\n' as t, "
                 "'{\"k\": 1}'::jsonb as j"});
  EXPECT_EQ(ran.exit, kDone);
  EXPECT_EQ(ran.out,
            "{\"i\": 1, \"n\": 2.50, \"f\": \"NaN\", \"b\": true, \"z\": null, \"t\": \"a\\\"\\n\", \"j\": "
            "{\"k\": 1}}\n");
}

TEST_F(SqlCommandTest, StopsAtTheFirstStatementThatFailsAndSaysWhy) {
  Ran ran = sql({"--json", "-c", "select 1 as a; select 1/0; select 2 as b"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_NE(ran.err.find("division by zero"), std::string::npos);
  EXPECT_EQ(ran.out.find("\"b\""), std::string::npos);
}

TEST_F(SqlCommandTest, RunsAFile) {
  std::string path = testing::TempDir() + "tidemark_sql_command_test.sql";
  std::ofstream(path)
      << "create temp table t (a int);\ninsert into t values (1), (2);\nselect sum(a) from t;\n";
  Ran ran = sql({"-f", path});
  std::remove(path.c_str());
  EXPECT_EQ(ran.exit, kDone);
  EXPECT_EQ(ran.out, "CREATE TABLE\nINSERT 0 2\n sum\n-----\n   3\n(1 row)\n");
}

TEST_F(SqlCommandTest, WrongUsageAndNoServerAreToldApart) {
  EXPECT_EQ(sql({"--nonsense"}).exit, kWrongUsage);
  EXPECT_EQ(sql({"-f", "/nowhere/at/all.sql"}).exit, kFailed);
  Ran nobody = run({"--connect", "127.0.0.1:1", "-c", "select 1"});
  EXPECT_EQ(nobody.exit, kFailed);
  EXPECT_NE(nobody.err.find("127.0.0.1"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
