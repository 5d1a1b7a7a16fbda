// What psql, psycopg, JDBC and Grafana ask PostgreSQL's catalog, asked of ours: the same answers, for tables
// and views of the same names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "tests/sql/oracle.h"
#include "tests/sql/run_query.h"
#include "tests/sql/system_world.h"

namespace tidemark::sql {
namespace {

using testing::Answer;
using testing::Oracle;
using testing::SystemWorld;

// "-- name: [sorted] rows [except column]" or "-- name: runs", then the statement.
struct ClientQuery {
  std::string name, sql;
  bool compare = true;
  bool sorted = false;
  int except = 0;  // A column that differs, as the number of a table does; 0: none.
};

std::vector<ClientQuery> read_queries() {
  std::vector<ClientQuery> out;
  std::ifstream file(CLIENT_QUERIES);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    const std::string how = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (line.starts_with("-- ") && (how.starts_with("rows") || how == "runs" || how.starts_with("sorted"))) {
      ClientQuery& query = out.emplace_back();
      query.name = line.substr(3, colon - 3);
      query.compare = how != "runs";
      query.sorted = how.starts_with("sorted");
      if (const size_t except = how.find("except "); except != std::string::npos) {
        query.except = std::atoi(how.c_str() + except + 7);
      }
    } else if (!out.empty()) {
      out.back().sql += line + "\n";
    }
  }
  return out;
}

Answer run(const std::string& sql, SystemWorld& world) {
  ExecutionSettings settings;
  settings.user = world.state().user;
  settings.database = world.state().database;
  return testing::run_query(sql, world, world.source(), settings);
}

// {orders}: the number of the table in the catalog that is asked.
template <typename Ask>
std::string with_numbers(std::string sql, const Ask& ask) {
  for (const std::string table : {"orders_pkey", "orders", "items", "totals", "pg_class"}) {
    const std::string mark = "{" + table + "}";
    if (sql.find(mark) == std::string::npos) continue;
    const Answer answer = ask("SELECT oid FROM pg_catalog.pg_class WHERE relname = '" + table + "'");
    EXPECT_EQ(answer.rows.size(), 1u) << table << answer.message;
    if (answer.rows.empty()) return sql;
    for (size_t at = sql.find(mark); at != std::string::npos; at = sql.find(mark)) {
      sql.replace(at, mark.size(), answer.rows[0][0]);
    }
  }
  return sql;
}

void drop_column(int column, Answer& answer) {
  if (column == 0) return;
  for (std::vector<std::string>& row : answer.rows) row.at(column - 1) = "";
}

std::string shown(const Answer& answer) {
  if (!answer.ok()) return answer.sqlstate + " " + answer.message;
  std::string out;
  for (const auto& row : answer.rows) {
    for (const std::string& field : row) out += field + " | ";
    out += "\n";
  }
  return out;
}

const std::vector<std::string> kStatements = {
    "create table orders (id bigint primary key, customer text not null, amount numeric(10,2), "
    "note varchar(20), placed timestamptz)",
    "create table items (order_id bigint, line integer, sku text, qty integer not null default 1, "
    "primary key (order_id, line))",
    "create materialized view totals as select customer, sum(amount) as total, count(*) as n from orders "
    "group by customer",
};

class ClientQueries : public ::testing::Test {
 protected:
  ClientQueries() {
    for (const std::string& statement : kStatements) {
      oracle.run(statement);
      world.create(statement);
    }
    const Answer who = oracle.ask("SELECT current_user, current_database()");
    world.state().user = who.rows[0][0];
    world.state().database = who.rows[0][1];
    world.state().settings = {{"search_path", "\"$user\", public", ""},
                              {"max_index_keys", "32", ""},
                              {"server_version_num", oracle.ask("SHOW server_version_num").rows[0][0], ""}};
    world.refresh();
  }

  Oracle oracle;
  SystemWorld world;
};

TEST_F(ClientQueries, AnswersAsPostgresDoes) {
  int compared = 0, asked = 0;
  for (const ClientQuery& query : read_queries()) {
    SCOPED_TRACE(query.name);
    const auto ask_theirs = [&](const std::string& sql) { return oracle.ask(sql); };
    const auto ask_ours = [&](const std::string& sql) { return run(sql, world); };
    Answer theirs = ask_theirs(with_numbers(query.sql, ask_theirs));
    Answer ours = ask_ours(with_numbers(query.sql, ask_ours));
    ++asked;
    if (!ours.ok() || !theirs.ok()) {
      ADD_FAILURE() << "ours: " << shown(ours) << "\ntheirs: " << shown(theirs) << query.sql;
      continue;
    }
    EXPECT_EQ(ours.types.size(), theirs.types.size()) << query.sql;
    if (!query.compare) continue;
    ++compared;
    drop_column(query.except, ours);
    drop_column(query.except, theirs);
    if (query.sorted) {
      std::sort(ours.rows.begin(), ours.rows.end());
      std::sort(theirs.rows.begin(), theirs.rows.end());
    }
    EXPECT_EQ(shown(ours), shown(theirs)) << query.sql;
  }
  std::printf("%d asked, %d of them with the same rows\n", asked, compared);
  EXPECT_GT(asked, 50);
}

}  // namespace
}  // namespace tidemark::sql
