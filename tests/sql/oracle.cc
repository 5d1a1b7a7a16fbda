#include "tests/sql/oracle.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <cstdlib>

#include "sql/types/sql_type.h"
#include "tests/servers/postgres.h"

namespace tidemark::sql::testing {
namespace {

int g_rounds = 0;
uint64_t g_seed = 0;

std::string name_of_oid(Oid oid) {
  const auto kind = type_of_oid(oid);
  return kind ? std::string(type_name(*kind)) : "oid " + std::to_string(oid);
}

}  // namespace

struct Oracle::State {
  servers::PostgresServer server;
  PGconn* connection = nullptr;
};

Oracle::Oracle() : state_(std::make_unique<State>()) {
  state_->connection = PQconnectdb(state_->server.connection_string().c_str());
  run("CREATE DATABASE oracle TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
  PQfinish(state_->connection);
  state_->connection = PQconnectdb((state_->server.connection_string() + " dbname=oracle").c_str());
  run("SET timezone TO 'UTC'");
  run("SET client_encoding TO 'UTF8'");
}

Oracle::~Oracle() {
  PQfinish(state_->connection);
}

Answer Oracle::ask(const std::string& sql) {
  Answer out;
  PGresult* result = PQexec(state_->connection, sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    out.sqlstate = state != nullptr ? state : "?????";
    out.message = PQresultErrorMessage(result);
  }
  for (int column = 0; column < PQnfields(result); ++column)
    out.types.push_back(name_of_oid(PQftype(result, column)));
  for (int row = 0; row < PQntuples(result); ++row) {
    std::vector<std::string>& fields = out.rows.emplace_back();
    for (int column = 0; column < PQnfields(result); ++column) {
      fields.emplace_back(PQgetisnull(result, row, column) != 0 ? "\\N" : PQgetvalue(result, row, column));
    }
  }
  PQclear(result);
  return out;
}

void Oracle::run(const std::string& sql) {
  const Answer answer = ask(sql);
  ASSERT_TRUE(answer.ok()) << sql << ": " << answer.message;
}

std::string Answer::shown() const {
  if (!ok()) return sqlstate + " " + message;
  std::string out;
  for (const std::string& type : types) out += type + " ";
  for (const auto& row : rows) {
    out += "(";
    for (const std::string& field : row) out += field + ";";
    out += ")";
  }
  return out;
}

OracleRun oracle_run(int rounds, uint64_t seed) {
  return {g_rounds > 0 ? g_rounds : rounds, g_seed > 0 ? g_seed : seed};
}

void take_oracle_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--rounds=")) g_rounds = std::atoi(argument.c_str() + 9);
    if (argument.starts_with("--seed=")) g_seed = std::strtoull(argument.c_str() + 7, nullptr, 10);
  }
}

std::string quote(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out.push_back('\'');
    out.push_back(c);
  }
  return out + "'";
}

}  // namespace tidemark::sql::testing
