#include "tests/servers/postgres.h"

#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tidemark::servers {
namespace {

constexpr const char* kPrograms = "/usr/lib/postgresql/15/bin";

}  // namespace

PostgresServer::PostgresServer() : directory_("postgres") {
  const std::filesystem::path programs = kPrograms;
  if (!std::filesystem::exists(programs / "initdb"))
    throw ServerError("PostgreSQL is not installed: deploy/setup");
  const User user = unprivileged_user();
  // The user writes here; the logs, opened before it is assumed, lie above.
  const std::filesystem::path home = directory_.path() / "home";
  const std::filesystem::path data = home / "data";
  std::filesystem::create_directories(home);
  if (geteuid() == 0 && chown(home.c_str(), user.uid, user.gid) != 0) {
    throw ServerError(home.string() + ": " + std::strerror(errno));
  }
  run_to_end(
      {.argv = {(programs / "initdb").string(), "--pgdata", data.string(), "--username", "postgres", "--auth",
                "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"},
       .log = directory_.path() / "initdb.log",
       .working_directory = home,
       .user = user});
  const Command command{
      .argv = {(programs / "postgres").string(), "-D", data.string(), "-p", std::to_string(port_.number()),
               "-k", home.string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c",
               "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "shared_buffers=16MB", "-c",
               "timezone=UTC"},
      .log = directory_.path() / "postgres.log",
      .working_directory = home,
      .user = user};
  server_ = std::make_unique<Server>("postgres", command, [this] { return answers(); });
  server_->set_stop_signal(SIGINT);  // "Fast": does not wait for clients to leave.
  server_->start();
}

std::string PostgresServer::connection_string() const {
  return "host=127.0.0.1 port=" + std::to_string(port_.number()) +
         " user=postgres dbname=postgres connect_timeout=2";
}

bool PostgresServer::answers() const {
  PGconn* connection = PQconnectdb(connection_string().c_str());
  bool answered = false;
  if (PQstatus(connection) == CONNECTION_OK) {
    PGresult* result = PQexec(connection, "SELECT 1");
    answered = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
  }
  PQfinish(connection);
  return answered;
}

}  // namespace tidemark::servers
