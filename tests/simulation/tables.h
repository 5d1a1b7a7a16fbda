// The tables and views of a simulated run as the cluster knows them: definitions to create them by, and rows
// as bytes and as numbers. Plans views by sql/, as a gateway does; what the views should hold is not its
// business (evaluator.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "proto/catalog.pb.h"
#include "sql/plan/catalog_plans.h"
#include "sql/table/table_codec.h"
#include "tests/simulation/views.h"

namespace tidemark::sim {

class Tables {
 public:
  Tables();
  ~Tables();

  // What a CatalogRequest creates. From then on the table is known here.
  std::vector<pb::TableDefinition> create_table(const std::string& name);
  std::vector<pb::TableDefinition> create_view(const ViewSpec& view);
  void drop_view(const std::string& name);

  TableId id(const std::string& name) const { return ids_.at(name); }
  bool is_base(const std::string& name) const { return base_.contains(name); }
  bool is_known(const std::string& name) const { return ids_.contains(name); }
  // None: an auxiliary table, or unknown.
  const std::string* name(TableId table) const;

  // Of a base table.
  sql::EncodedRow encode(const std::string& table, const Row& row) const;
  // As a reader sees it: None if the row is kept but not shown.
  std::optional<Row> decode(const std::string& table, std::string_view key, std::string_view row) const;

 private:
  struct Reader;
  class Binding;

  void install(const std::vector<pb::TableDefinition>& definitions);

  pb::Catalog catalog_;
  sql::CatalogPlans plans_;
  std::map<std::string, TableId> ids_;
  std::map<TableId, std::string> names_;
  std::set<std::string> base_;
  std::map<std::string, std::unique_ptr<Reader>> readers_;
};

}  // namespace tidemark::sim
