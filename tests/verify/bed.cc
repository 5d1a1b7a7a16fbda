#include "tests/verify/bed.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "tests/servers/postgres.h"

namespace tidemark::verify::testing {

struct Bed::State {
  servers::PostgresServer server;
};

namespace {

PGconn* handle(void* connection) {
  return static_cast<PGconn*>(connection);
}

}  // namespace

Bed::Bed() : state_(std::make_shared<State>()) {
  PGconn* admin = PQconnectdb(state_->server.connection_string().c_str());
  PQclear(PQexec(admin, "create role tidemark superuser login"));
  PQclear(PQexec(admin, "create database tidemark owner tidemark"));
  PQfinish(admin);
  connect();
}

Bed::Bed(std::shared_ptr<State> shared) : state_(std::move(shared)) {
  connect();
}

Bed::~Bed() {
  PQfinish(handle(connection_));
}

void Bed::connect() {
  const std::string port = std::to_string(state_->server.port());
  const std::string where =
      "host=127.0.0.1 user=tidemark dbname=tidemark options='-c client_min_messages=error' port=" + port;
  connection_ = PQconnectdb(where.c_str());
}

std::string Bed::address() const {
  return "127.0.0.1:" + std::to_string(state_->server.port());
}

std::unique_ptr<Bed> Bed::another() const {
  return std::unique_ptr<Bed>(new Bed(state_));
}

void Bed::run(const std::string& sql) {
  ask(sql);
}

std::vector<std::vector<std::string>> Bed::ask(const std::string& sql) {
  std::unique_ptr<PGresult, decltype(&PQclear)> answer(PQexec(handle(connection_), sql.c_str()), &PQclear);
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    ADD_FAILURE() << sql << ": " << PQresultErrorMessage(answer.get());
  }
  std::vector<std::vector<std::string>> out;
  for (int row = 0; row < PQntuples(answer.get()); ++row) {
    out.emplace_back();
    for (int column = 0; column < PQnfields(answer.get()); ++column) {
      const bool null = PQgetisnull(answer.get(), row, column);
      out.back().push_back(null ? "\\N" : PQgetvalue(answer.get(), row, column));
    }
  }
  return out;
}

VerifyReport Bed::verify(VerifyOptions options) {
  options.directory = ::testing::TempDir();
  const auto server = Server::connect(address());
  if (!server.ok()) {
    ADD_FAILURE() << server.error().message;
    return {};
  }
  auto report = verify::verify(**server, options);
  if (!report.ok()) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return *std::move(report);
}

}  // namespace tidemark::verify::testing
