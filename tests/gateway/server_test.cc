// A real libpq client against the gateway's sockets.
#include "sql/gateway/server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "tests/gateway/fake_session.h"

namespace tidemark::sql {
namespace {

class GatewayServerTest : public testing::Test {
 protected:
  GatewayServerTest() {
    GatewayOptions options;
    options.listen = Address{"127.0.0.1:0"};
    options.connections_max = 3;
    server = GatewayServer::start(
                 loop,
                 [this](const SessionRequest&) -> Result<std::unique_ptr<Session>, SqlError> {
                   return std::unique_ptr<Session>(std::make_unique<FakeSession>(loop));
                 },
                 options)
                 .value();
  }
  ~GatewayServerTest() override {
    loop.run([&] { server.reset(); });
    loop.stop();
  }

  using Connected = std::unique_ptr<PGconn, decltype(&PQfinish)>;
  using Got = std::unique_ptr<PGresult, decltype(&PQclear)>;

  Connected connect() {
    std::string port = server->address().value.substr(server->address().value.rfind(':') + 1);
    return {PQconnectdb(("host=127.0.0.1 user=me dbname=d port=" + port).c_str()), &PQfinish};
  }
  static Got run(const Connected& connection, const char* text) {
    return {PQexec(connection.get(), text), &PQclear};
  }

  AsioLoop loop{"gateway"};
  std::unique_ptr<GatewayServer> server;
};

TEST_F(GatewayServerTest, LibpqConnectsQueriesAndSeesErrors) {
  Connected connection = connect();
  ASSERT_EQ(PQstatus(connection.get()), CONNECTION_OK) << PQerrorMessage(connection.get());
  EXPECT_EQ(PQserverVersion(connection.get()), 150000);
  Got rows = run(connection, "rows 1000");
  ASSERT_EQ(PQresultStatus(rows.get()), PGRES_TUPLES_OK);
  EXPECT_EQ(PQntuples(rows.get()), 1000);
  EXPECT_STREQ(PQgetvalue(rows.get(), 999, 0), "999");
  Got bad = run(connection, "nonsense");
  EXPECT_STREQ(PQresultErrorField(bad.get(), PG_DIAG_SQLSTATE), "42601");
  EXPECT_STREQ(PQresultErrorField(bad.get(), PG_DIAG_STATEMENT_POSITION), "1");
  EXPECT_EQ(PQntuples(run(connection, "rows 2").get()), 2);
}

TEST_F(GatewayServerTest, LibpqCopiesIn) {
  Connected connection = connect();
  ASSERT_EQ(PQresultStatus(run(connection, "copy").get()), PGRES_COPY_IN);
  std::string line(1000, 'x');
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(PQputCopyData(connection.get(), line.data(), 1000), 1);
  ASSERT_EQ(PQputCopyEnd(connection.get(), nullptr), 1);
  Got done{PQgetResult(connection.get()), &PQclear};
  EXPECT_STREQ(PQcmdStatus(done.get()), "COPY 1000000");
}

TEST_F(GatewayServerTest, LibpqCancelsARunningStatement) {
  Connected connection = connect();
  ASSERT_EQ(PQsendQuery(connection.get(), "wait"), 1);
  PGcancel* cancel = PQgetCancel(connection.get());
  char message[256];
  // The statement may not have begun yet: a cancel that comes too early does nothing, as in PostgreSQL.
  while (PQisBusy(connection.get())) {
    ASSERT_EQ(PQcancel(cancel, message, sizeof message), 1) << message;
    PQconsumeInput(connection.get());
  }
  PQfreeCancel(cancel);
  Got got{PQgetResult(connection.get()), &PQclear};
  EXPECT_STREQ(PQresultErrorField(got.get(), PG_DIAG_SQLSTATE), "57014");
}

TEST_F(GatewayServerTest, TooManyClientsAreToldSo) {
  Connected a = connect(), b = connect(), c = connect();
  ASSERT_EQ(PQstatus(c.get()), CONNECTION_OK);
  Connected d = connect();
  EXPECT_EQ(PQstatus(d.get()), CONNECTION_BAD);
  EXPECT_NE(std::string(PQerrorMessage(d.get())).find("too many clients"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::sql
