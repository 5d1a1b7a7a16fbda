// Functions in FROM. They see the items before them.
#include <algorithm>

#include "sql/bind/query_binder.h"

namespace tidemark::sql {
namespace {

bool uses_columns(const Expression& expression) {
  bool out = false;
  for_each_column(expression, [&out](int index) { out = out || index < kQueryBase; });
  return out;
}

bool use_columns(const std::vector<ExpressionPtr>& expressions) {
  return std::any_of(expressions.begin(), expressions.end(),
                     [](const ExpressionPtr& one) { return uses_columns(*one); });
}

}  // namespace

// A function of one value is one row.
Result<QueryBinder::FromCall, SqlError> QueryBinder::bind_call(const ast::Expr& function,
                                                               const Scope& scope) {
  FromCall out;
  ExpressionBinder binder = expressions(scope, Clause::From, nullptr, &out.queries);
  TM_SQL_ASSIGN(out.set, binder.bind_from_set(function));
  if (!out.set) {
    TM_SQL_ASSIGN(out.value, binder.bind(function));
    TM_SQL_ASSIGN(out.value, coercer_.settle(std::move(out.value)));
  }
  out.uses_scope = out.set ? use_columns(out.set->args) : uses_columns(*out.value);
  for (const SubqueryCall& call : out.queries) out.uses_scope = out.uses_scope || use_columns(call.values);
  return out;
}

RelationPtr QueryBinder::add_call(RelationPtr input, FromCall call) {
  if (call.set) {
    std::vector<Expression*> users;
    for (const ExpressionPtr& arg : call.set->args) users.push_back(arg.get());
    return expand(apply(std::move(input), std::move(call.queries), users), std::move(*call.set));
  }
  input = apply(std::move(input), std::move(call.queries), {call.value.get()});
  const std::vector<RelationColumn> columns = input->columns;
  RelationPtr out = make_relation(RelationKind::Project, std::move(input));
  for (size_t i = 0; i < columns.size(); ++i) {
    out->expressions.push_back(make_column(static_cast<int>(i), columns[i].type));
  }
  out->columns = columns;
  out->columns.push_back({"", call.value->type});
  out->expressions.push_back(std::move(call.value));
  return out;
}

Result<QueryBinder::RightItem, SqlError> QueryBinder::bind_function(const ast::From& item, FromItem& left) {
  const ast::Expr& function = *item.function;
  RightItem out;
  // Some are tables that are written as functions.
  if (function.args.empty() && catalog_.find_table("pg_catalog", function.names.back()) != nullptr) {
    ast::From as_table;
    as_table.table = {"pg_catalog", function.names.back(), item.location};
    as_table.alias = item.alias;
    as_table.column_aliases = item.column_aliases;
    as_table.location = item.location;
    TM_SQL_ASSIGN(out.item, bind_table(as_table));
    return out;
  }
  const std::string alias = item.alias.empty() ? function.names.back() : item.alias;
  if (item.column_aliases.size() > 1) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "table \"" + alias + "\" has fewer columns than aliases",
                    item.location + 1,
                    {},
                    {}};
  }
  TM_SQL_ASSIGN(FromCall call, bind_call(function, left.scope));
  out.holds_left = call.uses_scope;
  out.item.relation = add_call(out.holds_left ? std::move(left.relation) : nothing(), std::move(call));
  RelationColumn& column = out.item.relation->columns.back();
  column.name = item.column_aliases.empty() ? alias : item.column_aliases[0];
  const int index = static_cast<int>(out.item.relation->columns.size()) - 1;
  Scope added;
  added.columns.push_back({alias, column.name, column.type, index});
  if (out.holds_left) {
    TM_TRY(check_aliases(left.scope, added, item.location));
    out.item.scope = std::move(left.scope);
  }
  out.item.scope.columns.push_back(std::move(added.columns[0]));
  return out;
}

// JOIN ... ON condition is the function's rows that pass.
QueryBinder::BoundFrom QueryBinder::bind_lateral_join(const ast::From& item, FromItem joined) {
  const bool inner = item.join == ast::JoinKind::Inner || item.join == ast::JoinKind::Cross;
  if (!inner || !item.using_columns.empty()) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "this join with a function of the left side is not supported",
                    item.right->location + 1,
                    {},
                    "Write FROM table, function(...) AS name."};
  }
  if (item.on == nullptr) return joined;
  FoundQueries queries;
  ExpressionBinder binder = expressions(joined.scope, Clause::On, nullptr, &queries);
  TM_SQL_ASSIGN(ExpressionPtr condition, binder.bind_boolean(*item.on, "JOIN/ON"));
  joined.relation = apply(std::move(joined.relation), std::move(queries), {condition.get()});
  joined.relation = make_relation(RelationKind::Filter, std::move(joined.relation));
  joined.relation->condition = std::move(condition);
  return joined;
}

}  // namespace tidemark::sql
