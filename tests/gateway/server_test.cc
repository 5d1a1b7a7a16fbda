// A real libpq client against the gateway's sockets.
#include "sql/gateway/server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/gateway/fake_session.h"

namespace tidemark::sql {
namespace {

class GatewayServerTest : public testing::Test {
 protected:
  GatewayServerTest() {
    options.listen = Address{"127.0.0.1:0"};
    options.connections_max = 3;
    options.refused_max = 2;
    server = GatewayServer::start(loop, make_session(), options).value();
  }
  ~GatewayServerTest() override {
    loop.run([&] { server.reset(); });
    loop.stop();
  }

  using Connected = std::unique_ptr<PGconn, decltype(&PQfinish)>;
  using Got = std::unique_ptr<PGresult, decltype(&PQclear)>;

  SessionFactory make_session() {
    return [this](const SessionRequest&) -> Result<std::unique_ptr<Session>, SqlError> {
      auto session = std::make_unique<FakeSession>(loop);
      last_session = session.get();
      return std::unique_ptr<Session>(std::move(session));
    };
  }

  std::string port() const { return server->address().value.substr(server->address().value.rfind(':') + 1); }
  Connected connect() {
    return {PQconnectdb(("host=127.0.0.1 user=me dbname=d port=" + port()).c_str()), &PQfinish};
  }
  static Got run(const Connected& connection, const char* text) {
    return {PQexec(connection.get(), text), &PQclear};
  }

  static Got next(const Connected& connection) { return {PQgetResult(connection.get()), &PQclear}; }
  int connect_socket() const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::stoi(port())));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int out = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(out, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return out;
  }

  // How many rows the session of the last connection has given, once it waits for its client.
  int rows_given_when_still() {
    bool waits = false;
    int given = 0;
    while (!waits) {
      loop.run([&] {
        waits = last_session->is_waiting();
        given = last_session->rows_given();
      });
    }
    return given;
  }

  GatewayOptions options;
  FakeSession* last_session = nullptr;
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

class CountedSession : public FakeSession {
 public:
  CountedSession(Scheduler& scheduler, int& count) : FakeSession(scheduler), count_(count) { ++count_; }
  ~CountedSession() override { --count_; }

 private:
  int& count_;
};

// A running statement uses what its session was made from, which is destroyed after the server.
TEST_F(GatewayServerTest, SessionsAreGoneWhenTheServerIs) {
  int sessions = 0;
  auto make = [&](const SessionRequest&) -> Result<std::unique_ptr<Session>, SqlError> {
    return std::unique_ptr<Session>(std::make_unique<CountedSession>(loop, sessions));
  };
  loop.run([&] { server.reset(); });
  server = GatewayServer::start(loop, make, options).value();
  Connected waits = connect(), gives = connect(), leaves = connect();
  ASSERT_EQ(PQsendQuery(waits.get(), "wait"), 1);
  ASSERT_EQ(PQsendQuery(gives.get(), "rows 1000000"), 1);
  leaves.reset();
  loop.run([&] {
    EXPECT_GE(sessions, 2);
    server.reset();
    EXPECT_EQ(sessions, 0);
  });
  EXPECT_EQ(PQresultStatus(next(waits).get()), PGRES_FATAL_ERROR);
}

// 20 MB of rows: far more than sockets and the gateway hold.
constexpr int kManyRows = 1'000'000;

TEST_F(GatewayServerTest, AResultLargerThanAnyBufferComesRowByRow) {
  Connected connection = connect();
  ASSERT_EQ(PQsendQuery(connection.get(), ("rows " + std::to_string(kManyRows)).c_str()), 1);
  ASSERT_EQ(PQsetSingleRowMode(connection.get()), 1);
  int rows = 0;
  for (Got got = next(connection); got; got = next(connection)) {
    if (PQresultStatus(got.get()) != PGRES_SINGLE_TUPLE) continue;
    ASSERT_EQ(PQgetvalue(got.get(), 0, 0), std::to_string(rows));
    ++rows;
  }
  EXPECT_EQ(rows, kManyRows);
}

TEST_F(GatewayServerTest, AClientThatReadsNothingHoldsUpItsStatementAlone) {
  Connected slow = connect();
  ASSERT_EQ(PQsendQuery(slow.get(), ("rows " + std::to_string(kManyRows)).c_str()), 1);
  const int given = rows_given_when_still();
  EXPECT_GT(given, 0);
  EXPECT_LT(given, kManyRows);
  EXPECT_EQ(PQntuples(run(connect(), "rows 1000").get()), 1000);
  Got got = next(slow);  // It reads after all.
  EXPECT_EQ(PQntuples(got.get()), kManyRows);
}

TEST_F(GatewayServerTest, AStreamIsCancelledAndItsClientMayVanish) {
  Connected slow = connect();
  ASSERT_EQ(PQsendQuery(slow.get(), ("rows " + std::to_string(kManyRows)).c_str()), 1);
  rows_given_when_still();
  PGcancel* cancel = PQgetCancel(slow.get());
  char message[256];
  ASSERT_EQ(PQcancel(cancel, message, sizeof message), 1) << message;
  PQfreeCancel(cancel);
  Got got = next(slow);
  EXPECT_STREQ(PQresultErrorField(got.get(), PG_DIAG_SQLSTATE), "57014");
  while (next(slow)) continue;
  ASSERT_EQ(PQsendQuery(slow.get(), ("rows " + std::to_string(kManyRows)).c_str()), 1);
  rows_given_when_still();
  slow.reset();
  for (size_t left = 1; left > 0;) loop.run([&] { left = server->connection_count(); });
  EXPECT_EQ(PQntuples(run(connect(), "rows 3").get()), 3);
}

TEST_F(GatewayServerTest, AClientThatSaysNothingIsSentAway) {
  loop.run([&] {
    server.reset();
    options.startup_timeout = Micros{1'000};
    server = GatewayServer::start(loop, make_session(), options).value();
  });
  const int silent = connect_socket();
  char byte;
  EXPECT_EQ(::recv(silent, &byte, 1, 0), 0);
  ::close(silent);
}

TEST_F(GatewayServerTest, TooManyClientsAreToldSo) {
  Connected a = connect(), b = connect(), c = connect();
  ASSERT_EQ(PQstatus(c.get()), CONNECTION_OK);
  Connected d = connect();
  EXPECT_EQ(PQstatus(d.get()), CONNECTION_BAD);
  EXPECT_NE(std::string(PQerrorMessage(d.get())).find("too many clients"), std::string::npos);
}

// Not even those who say nothing, and wait to be sent away, take more descriptors than there may be.
TEST_F(GatewayServerTest, ClientsFarBeyondTheMostAreClosedAtOnce) {
  std::vector<int> silent;
  for (int i = 0; i < 5; ++i) silent.push_back(connect_socket());
  const int beyond = connect_socket();
  char byte;
  EXPECT_EQ(::recv(beyond, &byte, 1, 0), 0);
  size_t count = 0;
  loop.run([&] { count = server->connection_count(); });
  EXPECT_EQ(count, 5u);
  for (int socket : silent) ::close(socket);
  ::close(beyond);
}

}  // namespace
}  // namespace tidemark::sql
