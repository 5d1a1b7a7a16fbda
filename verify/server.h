// The server whose views are checked, as any PostgreSQL client sees it: catalog tables and SELECT. One
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::verify {

struct ServerColumn {
  std::string name;
  std::string type;  // pg_type's name.
};

struct ServerRelation {
  std::string name;
  std::vector<ServerColumn> columns;
  std::vector<size_t> key;                // Of a table: which columns are its primary key, in order.
  std::optional<std::string> definition;  // Of a view: its query.
};

// A row as text; null is none.
using ServerRow = std::vector<std::optional<std::string_view>>;
using EachRow = std::function<Status(const ServerRow&)>;

class Server {
 public:
  // HOST:PORT, or HOST.
  static Result<std::unique_ptr<Server>> connect(const std::string& address);
  ~Server();

  // Tables and materialized views of the schema "public".
  Result<std::vector<ServerRelation>> relations();
  // All rows, one at a time: nothing is kept of them here.
  Status read(const ServerRelation& relation, const EachRow& each);

  // How many changes each view is behind, as far as the server says so.
  std::map<std::string, int64_t> lags();

  // No client writes until release_writes() or until `bound` has passed. False: the server has no such thing.
  Result<bool> hold_writes(std::chrono::milliseconds bound);
  Status release_writes();

 private:
  struct Connection;
  explicit Server(std::unique_ptr<Connection> connection);
  Status query(const std::string& sql, const EachRow& each);

  std::unique_ptr<Connection> connection_;
};

}  // namespace tidemark::verify
