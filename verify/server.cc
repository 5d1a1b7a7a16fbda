#include "verify/server.h"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "verify/try.h"

namespace tidemark::verify {

namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

std::string name_quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string field(const ServerRow& row, size_t place) {
  return row[place] ? std::string(*row[place]) : std::string();
}

}  // namespace

struct Server::Connection {
  PGconn* handle = nullptr;
  std::string sqlstate;  // Of the last statement that failed.
  ~Connection() { PQfinish(handle); }
};

Server::Server(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::connect(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "7432" : address.substr(colon + 1);
  const char* names[] = {"host", "port", "user", "dbname", "application_name", "connect_timeout", nullptr};
  const char* values[] = {host.c_str(),      port.c_str(), "tidemark", "tidemark",
                          "tidemark verify", "10",         nullptr};
  auto connection = std::make_unique<Connection>();
  connection->handle = PQconnectdbParams(names, values, 0);
  if (PQstatus(connection->handle) != CONNECTION_OK) {
    return Error{without_newline(PQerrorMessage(connection->handle))};
  }
  std::unique_ptr<Server> server(new Server(std::move(connection)));
  // How values are printed. A server that knows no such setting prints so anyway.
  for (const char* setting :
       {"set datestyle = 'ISO, YMD'", "set timezone = 'UTC'", "set extra_float_digits = 1"}) {
    (void)server->query(setting, [](const ServerRow&) { return Status(); });
  }
  return server;
}

Status Server::query(const std::string& sql, const EachRow& each) {
  PGconn* handle = connection_->handle;
  if (PQsendQuery(handle, sql.c_str()) != 1) return Error{without_newline(PQerrorMessage(handle))};
  PQsetSingleRowMode(handle);
  Status status;
  ServerRow row;
  while (Answer answer{PQgetResult(handle)}) {
    const ExecStatusType kind = PQresultStatus(answer.get());
    if (kind != PGRES_SINGLE_TUPLE && kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK) {
      const char* state = PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
      connection_->sqlstate = state ? state : "";
      status = Error{without_newline(PQresultErrorMessage(answer.get()))};
      continue;
    }
    for (int i = 0; i < PQntuples(answer.get()) && status.ok(); ++i) {
      row.clear();
      for (int column = 0; column < PQnfields(answer.get()); ++column) {
        if (PQgetisnull(answer.get(), i, column)) {
          row.emplace_back();
        } else {
          row.emplace_back(std::string_view(PQgetvalue(answer.get(), i, column),
                                            static_cast<size_t>(PQgetlength(answer.get(), i, column))));
        }
      }
      status = each(row);
    }
  }
  return status;
}

// Each from a SELECT of one catalog table, joined here: asks little of a server's SQL.
Result<std::vector<ServerRelation>> Server::relations() {
  std::string space;
  TM_TRY(query("select oid from pg_catalog.pg_namespace where nspname = 'public'", [&](const ServerRow& row) {
    space = field(row, 0);
    return Status();
  }));
  if (space.empty()) return Error{"the server has no schema \"public\""};
  std::map<std::string, ServerRelation> by_oid;
  TM_TRY(query("select oid, relname, relkind from pg_catalog.pg_class where relnamespace = " + space,
               [&](const ServerRow& row) {
                 const std::string kind = field(row, 2);
                 if (kind == "r" || kind == "m" || kind == "f" || kind == "p")
                   by_oid[field(row, 0)].name = field(row, 1);
                 return Status();
               }));
  std::map<std::string, std::string> types;
  TM_TRY(query("select oid, typname from pg_catalog.pg_type", [&](const ServerRow& row) {
    types[field(row, 0)] = field(row, 1);
    return Status();
  }));
  struct Attribute {
    std::string name, type;
  };
  std::map<std::string, std::map<int, Attribute>> attributes;
  TM_TRY(
      query("select attrelid, attnum, attname, atttypid from pg_catalog.pg_attribute "
            "where attnum > 0 and not attisdropped",
            [&](const ServerRow& row) {
              attributes[field(row, 0)][std::stoi(field(row, 1))] = {field(row, 2), field(row, 3)};
              return Status();
            }));
  std::map<std::string, std::string> keys;
  TM_TRY(
      query("select indrelid, indkey from pg_catalog.pg_index where indisprimary", [&](const ServerRow& row) {
        keys[field(row, 0)] = field(row, 1);
        return Status();
      }));
  std::map<std::string, std::string> definitions;
  TM_TRY(query("select matviewname, definition from pg_catalog.pg_matviews where schemaname = 'public'",
               [&](const ServerRow& row) {
                 definitions[field(row, 0)] = field(row, 1);
                 return Status();
               }));
  std::vector<ServerRelation> out;
  for (auto& [oid, relation] : by_oid) {
    std::istringstream numbers(keys[oid]);
    std::vector<int> key;
    for (int number; numbers >> number;) key.push_back(number);
    std::map<int, size_t> places;
    for (const auto& [number, attribute] : attributes[oid]) {
      places[number] = relation.columns.size();
      relation.columns.push_back({attribute.name, types[attribute.type]});
    }
    for (int number : key) relation.key.push_back(places[number]);
    if (const auto found = definitions.find(relation.name); found != definitions.end()) {
      relation.definition = found->second;
    }
    out.push_back(std::move(relation));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

Status Server::read(const ServerRelation& relation, const EachRow& each) {
  std::string columns;
  for (const ServerColumn& column : relation.columns) {
    columns += (columns.empty() ? "" : ", ") + name_quoted(column.name);
  }
  return query("select " + columns + " from public." + name_quoted(relation.name), each);
}

std::map<std::string, int64_t> Server::lags() {
  std::map<std::string, int64_t> out;
  // A server that has no such table says nothing of lags, and that is what the caller gets.
  (void)query("select name, lag_records from tidemark.views where lag_records is not null",
              [&](const ServerRow& row) {
                out[field(row, 0)] = std::stoll(field(row, 1));
                return Status();
              });
  return out;
}

Result<bool> Server::hold_writes(std::chrono::milliseconds bound) {
  const std::string sql = "select tidemark_hold_writes('" + std::to_string(bound.count()) + " milliseconds')";
  const Status held = query(sql, [](const ServerRow&) { return Status(); });
  if (held.ok()) return true;
  const bool has_none = connection_->sqlstate == "42883" || connection_->sqlstate == "0A000";
  if (has_none) return false;
  return held.error();
}

Status Server::release_writes() {
  return query("select tidemark_release_writes()", [](const ServerRow&) { return Status(); });
}

}  // namespace tidemark::verify
