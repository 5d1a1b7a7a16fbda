// The plans of all views of a catalog. A view's plan is made once, from its definition: it does not change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "proto/catalog.pb.h"
#include "sql/catalog.h"
#include "sql/plan/stored_table.h"
#include "sql/plan/view_plan.h"

namespace tidemark::sql {

struct CreateViewStatement;

// Plans a view by its CREATE MATERIALIZED VIEW statement, over the tables that `catalog` and `find_table`
// know. The plan's tables are what a CatalogRequest creates.
Result<ViewPlan, SqlError> plan_statement(std::string_view statement, TableId first_id,
                                          const Catalog& catalog,
                                          const std::function<StoredTablePtr(TableId)>& find_table);

// The same for a statement that is bound already; its query is used up.
Result<ViewPlan, SqlError> plan_bound(CreateViewStatement& create, std::string_view statement,
                                      TableId first_id,
                                      const std::function<StoredTablePtr(TableId)>& find_table);

class CatalogPlans {
 public:
  // Takes what is new. Views that can not be planned (made by a newer release) are left out and told.
  void update(const pb::Catalog& catalog, std::vector<std::string>& failures);

  // Null: not known, or no view.
  std::shared_ptr<const ViewPlan> view(TableId id) const;
  StoredTablePtr table(TableId id) const;

 private:
  class CatalogThen;
  struct Known {
    StoredTablePtr table;                           // Null: not known.
    std::shared_ptr<const ViewPlan> view;           // Of views.
    uint64_t created = 0, filled = 0, dropped = 0;  // Versions of the catalog. 0: not yet.
    bool is_replacement = false;                    // It has the name of another until it is filled.
  };

  const Known* find(TableId id) const;
  void add(const pb::TableDefinition& definition, std::vector<std::string>& failures);
  void add_view(const pb::TableDefinition& definition, std::vector<std::string>& failures);

  std::vector<Known> known_;                                       // By id: they are dense.
  std::unordered_map<std::string, std::vector<TableId>> by_name_;  // Also those that were dropped.
};

}  // namespace tidemark::sql
