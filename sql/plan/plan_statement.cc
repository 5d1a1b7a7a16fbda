#include "sql/bind/statement.h"
#include "sql/parse/parser.h"
#include "sql/plan/catalog_plans.h"
#include "sql/plan/planner.h"

namespace tidemark::sql {

Result<ViewPlan, SqlError> plan_statement(std::string_view statement, TableId first_id,
                                          const Catalog& catalog,
                                          const std::function<StoredTablePtr(TableId)>& find_table) {
  TM_SQL_ASSIGN(std::vector<ast::Statement> statements, parse_statements(statement));
  if (statements.size() != 1) return SqlError{sqlstate::kSyntaxError, "not a view's statement", 0, {}, {}};
  ParamTypes params;
  TM_SQL_ASSIGN(BoundStatement bound, bind_statement(statements[0], statement, catalog, params));
  CreateViewStatement* create = std::get_if<CreateViewStatement>(&bound.body);
  if (create == nullptr) return SqlError{sqlstate::kSyntaxError, "not a view's statement", 0, {}, {}};
  return plan_bound(*create, statement, first_id, find_table);
}

Result<ViewPlan, SqlError> plan_bound(CreateViewStatement& create, std::string_view statement,
                                      TableId first_id,
                                      const std::function<StoredTablePtr(TableId)>& find_table) {
  PlanOptions options;
  options.name = create.name;
  options.sql = std::string(statement);
  options.first_id = first_id;
  options.find_table = find_table;
  options.distribute_by = create.distribute_by;
  options.cluster_by = create.cluster_by;
  std::vector<RelationColumn> columns = create.query->columns;
  RelationPtr query = optimize(std::move(create.query));
  query->columns = std::move(columns);
  return plan_view(*query, options);
}

}  // namespace tidemark::sql
