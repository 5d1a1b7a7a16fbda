// A whole cluster in one process: over real sockets, on real files.
#include "server/embedded_cluster.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <future>

#include "server/embedded_surroundings.h"
#include "tests/wal/temporary_directory.h"

namespace tidemark {
namespace {

class Database {
 public:
  explicit Database(const Address& address) {
    size_t colon = address.value.rfind(':');
    std::string text = "host=" + address.value.substr(0, colon) + " port=" + address.value.substr(colon + 1) +
                       " user=tidemark dbname=tidemark";
    connection_.reset(PQconnectdb(text.c_str()));
    EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK) << PQerrorMessage(connection_.get());
  }

  // The first column of the rows, or the error.
  std::string run(const std::string& statement) {
    std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), statement.c_str()),
                                                         &PQclear);
    ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return PQresultErrorMessage(result.get());
    std::string out;
    for (int row = 0; row < PQntuples(result.get()); ++row)
      out += (row > 0 ? " " : "") + std::string(PQgetvalue(result.get(), row, 0));
    return out;
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_{nullptr, &PQfinish};
};

class EmbeddedClusterTest : public testing::Test {
 protected:
  EmbeddedClusterOptions options() const {
    EmbeddedClusterOptions out;
    out.directory = directory_.path().string();
    out.sql_listen = out.admin_listen = Address{"127.0.0.1:0"};
    out.coordinator.shards = 64;
    out.coordinator.regions = 2;
    out.on_fatal = [](const std::string& reason) {
      std::fprintf(stderr, "%s\n", reason.c_str());
      std::abort();
    };
    return out;
  }

  // Serves when it returns.
  static std::unique_ptr<EmbeddedCluster> start(EmbeddedClusterOptions options) {
    std::promise<void> ready;
    options.on_ready = [&] { ready.set_value(); };
    auto cluster = EmbeddedCluster::start(std::move(options));
    if (!cluster.ok()) {
      ADD_FAILURE() << cluster.error().message;
      return nullptr;
    }
    ready.get_future().wait();
    return std::move(*cluster);
  }

  TemporaryDirectory directory_;
};

TEST_F(EmbeddedClusterTest, AViewFollowsItsTableAndBothOutliveARestart) {
  {
    auto cluster = start(options());
    Database database(cluster->sql_address());
    EXPECT_EQ(database.run("create table t (id bigint primary key, v bigint)"), "");
    EXPECT_EQ(database.run("create materialized view sums as select v, count(*) as n from t group by v"), "");
    EXPECT_EQ(database.run("insert into t values (1, 7), (2, 7), (3, 8)"), "");
    EXPECT_EQ(database.run("set tidemark.wait = on"), "");
    EXPECT_EQ(database.run("update t set v = 8 where id = 1"), "");
    EXPECT_EQ(database.run("select n from sums order by v"), "1 2");
    cluster->stop();
  }
  {
    auto cluster = start(options());  // Not stopped: as if killed.
    EXPECT_EQ(Database(cluster->sql_address()).run("delete from t where id = 3"), "");
  }
  auto cluster = start(options());
  Database database(cluster->sql_address());
  EXPECT_EQ(database.run("set tidemark.wait = on"), "");
  EXPECT_EQ(database.run("insert into t values (4, 9)"), "");
  EXPECT_EQ(database.run("select v from sums order by v"), "7 8 9");
  EXPECT_EQ(database.run("select count(*) from t"), "3");
  cluster->stop();
}

TEST_F(EmbeddedClusterTest, ADirectoryHasOneProcessAtATime) {
  auto cluster = start(options());
  auto second = EmbeddedCluster::start(options());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(directory_.path().string()), std::string::npos)
      << second.error().message;
  cluster->stop();
}

TEST_F(EmbeddedClusterTest, AnAddressThatIsTakenIsNamed) {
  auto cluster = start(options());
  TemporaryDirectory other;
  EmbeddedClusterOptions wanted = options();
  wanted.directory = other.path().string();
  wanted.sql_listen = cluster->sql_address();
  auto second = EmbeddedCluster::start(wanted);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find(cluster->sql_address().value), std::string::npos)
      << second.error().message;
  cluster->stop();
}

// As when a view manager is killed: its session ends, and then its loop.
TEST_F(EmbeddedClusterTest, ALoopMayEndWithItsSession) {
  auto surroundings = EmbeddedSurroundings::open(directory_.path().string(), Logger());
  ASSERT_TRUE(surroundings.ok()) << surroundings.error().message;
  for (int round = 0; round < 200; ++round) {
    AsioLoop loop("short");
    std::promise<void> connected;
    std::unique_ptr<Coordination> session;
    loop.run([&] {
      session = (*surroundings)->coordination(loop);
      session->exists("/somewhere", nullptr, [&](auto) { connected.set_value(); });
    });
    connected.get_future().wait();
    loop.stop();
    session.reset();
  }
}

}  // namespace
}  // namespace tidemark
