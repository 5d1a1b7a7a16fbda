// Views computed from base rows in SQLite. One thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/server.h"
#include "verify/sqlite.h"
#include "verify/translate.h"

namespace tidemark::verify {

// A row as it is compared: each field as PostgreSQL prints it, and where equal values may print differently,
// as one of them for all.
std::string encoded(const std::vector<std::optional<std::string>>& fields);
std::vector<std::optional<std::string>> decoded(const std::string& row);

class Recomputation {
 public:
  // Both must outlive this.
  Recomputation(Database& database, const std::vector<ServerRelation>& relations);

  // Why a view can not be recomputed; empty if it can.
  const std::string& obstacle(const std::string& view) const { return views_.at(view).obstacle; }
  // The base tables that the views are made from, those of views below them included.
  std::set<std::string> base_tables(const std::set<std::string>& views) const;

  // The view and all views below it.
  std::set<std::string> with_views_below(const std::string& view) const;

  // Replaces the copy of a base table by the server's rows.
  Status copy(Server& server, const std::string& table);
  // Computes a view, after the views below it, from the copies. Each view is computed once until forget().
  Status compute(const std::string& view);
  // Views must be computed again.
  void forget();
  // Whether which rows the view has depends on the order of equal rows; REQUIRES: compute() went well.
  Result<bool> has_ties(const std::string& view);
  // The rows of a view, encoded. REQUIRES: compute() went well.
  Status rows(const std::string& view, const std::function<Status(std::string)>& each);
  // A row of the server's, encoded in the same way.
  std::string encode_found(const std::string& view, const ServerRow& row) const;

 private:
  struct View {
    std::string obstacle;
    std::set<std::string> sources;
    Translation translation;
    bool computed = false;
  };
  struct Base {
    std::string obstacle;
    std::vector<TypeKind> types;
  };

  const ServerRelation& relation(const std::string& name) const { return *relations_.at(name); }
  void add_base(const ServerRelation& relation);
  void plan_view(const ServerRelation& relation);
  Status translate_view(const ServerRelation& relation, View& view);
  std::string sqlite_name(const std::string& name) const;

  Database& database_;
  std::map<std::string, const ServerRelation*> relations_;
  std::map<std::string, Base> bases_;
  std::map<std::string, View> views_;
  std::vector<Table> tables_;  // All that translations may name so far.
};

}  // namespace tidemark::verify
