#include "sql/bind/query_binder.h"

#include <algorithm>

namespace tidemark::sql {
namespace {

SqlError grouping_error(const Relation& input, int index, int location) {
  const std::string name = index < static_cast<int>(input.columns.size()) ? input.columns[index].name : "?";
  return {sqlstate::kGroupingError,
          "column \"" + name + "\" must appear in the GROUP BY clause or be used in an aggregate function",
          location + 1,
          {},
          {}};
}

// In terms of the Aggregate's columns: groups first, then aggregates.
SqlStatus onto_aggregate(ExpressionPtr& expression, const std::vector<ExpressionPtr>& groups,
                         const Relation& input) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!is_same(*expression, *groups[i])) continue;
    expression = make_column(static_cast<int>(i), groups[i]->type, expression->location);
    return {};
  }
  if (expression->kind == ExpressionKind::Column) {
    if (expression->index >= kWindowBase) return {};
    if (expression->index < kAggregateBase)
      return grouping_error(input, expression->index, expression->location);
    expression->index += static_cast<int>(groups.size()) - kAggregateBase;
    return {};
  }
  for (ExpressionPtr& arg : expression->args) TM_TRY(onto_aggregate(arg, groups, input));
  return {};
}

std::string output_name(const ast::Target& target);

std::string subquery_name(const ast::Expr& expr) {
  switch (expr.use) {
    case SubqueryUse::Exists: return "exists";
    case SubqueryUse::Array: return "array";
    case SubqueryUse::Scalar:
      return expr.query->targets.size() == 1 ? output_name(expr.query->targets[0]) : "?column?";
    case SubqueryUse::Any:
    case SubqueryUse::All: return "?column?";
  }
  TM_UNREACHABLE();
}

std::string output_name(const ast::Target& target) {
  if (!target.alias.empty()) return target.alias;
  const ast::Expr* expr = target.expr.get();
  while (expr->kind == ast::ExprKind::Subscript) expr = expr->args[0].get();
  while (expr->kind == ast::ExprKind::Cast) {
    const ast::Expr* inner = expr->args[0].get();
    if (inner->kind != ast::ExprKind::Column && inner->kind != ast::ExprKind::Function &&
        inner->kind != ast::ExprKind::Cast) {
      return expr->type.name;
    }
    expr = inner;
  }
  switch (expr->kind) {
    case ast::ExprKind::Column:
    case ast::ExprKind::Function: return expr->names.back();
    case ast::ExprKind::Case: return "case";
    case ast::ExprKind::Subquery: return subquery_name(*expr);
    case ast::ExprKind::Array: return "array";
    case ast::ExprKind::Field: return expr->text;
    case ast::ExprKind::Coalesce: return "coalesce";
    case ast::ExprKind::NullIf: return "nullif";
    case ast::ExprKind::Greatest: return "greatest";
    case ast::ExprKind::Least: return "least";
    case ast::ExprKind::Boolean: return "bool";
    default: return "?column?";
  }
}

RelationPtr project(RelationPtr input, std::vector<ExpressionPtr> expressions,
                    const std::vector<std::string>& names) {
  auto out = make_relation(RelationKind::Project, std::move(input));
  for (size_t i = 0; i < expressions.size(); ++i) {
    out->columns.push_back({i < names.size() ? names[i] : "", expressions[i]->type});
  }
  out->expressions = std::move(expressions);
  return out;
}

}  // namespace

// What is being built of one SELECT: the relation so far, and expressions over its columns.
struct QueryBinder::Body {
  RelationPtr relation;
  FoundCalls found;
  FoundQueries queries;
  Targets targets;
  ExpressionPtr having;
  std::vector<SortKey> order;
  std::vector<ExpressionPtr> distinct_on;

  // Every expression that stands above the aggregation.
  template <typename Visit>
  SqlStatus for_each(const Visit& visit) {
    for (ExpressionPtr& e : targets.expressions) TM_TRY(visit(e));
    if (having != nullptr) TM_TRY(visit(having));
    for (SortKey& key : order) TM_TRY(visit(key.expression));
    for (ExpressionPtr& e : distinct_on) TM_TRY(visit(e));
    for (WindowCall& window : found.windows) {
      for (ExpressionPtr& e : window.partition_by) TM_TRY(visit(e));
      for (ExpressionPtr& e : window.order_by) TM_TRY(visit(e));
    }
    for (SubqueryCall& call : queries) {
      for (ExpressionPtr& e : call.values) TM_TRY(visit(e));
    }
    for (SetCall& call : found.sets) {
      for (ExpressionPtr& e : call.args) TM_TRY(visit(e));
    }
    return {};
  }

  // Runs the queries that were found, for the rows as they are now.
  void apply_queries() {
    FoundQueries calls = std::move(queries);
    queries.clear();
    std::vector<Expression*> users;
    (void)for_each([&users](ExpressionPtr& e) -> SqlStatus {
      users.push_back(e.get());
      return {};
    });
    relation = apply(std::move(relation), std::move(calls), users);
  }
};

RelationPtr make_relation(RelationKind kind, RelationPtr input) {
  auto out = std::make_unique<Relation>();
  out->kind = kind;
  if (input != nullptr) {
    if (kind != RelationKind::Project && kind != RelationKind::Aggregate) out->columns = input->columns;
    out->inputs.push_back(std::move(input));
  }
  return out;
}

Result<RelationPtr, SqlError> QueryBinder::bind(const ast::Select& select, UnknownLiterals unknown) {
  return bind_query(select, unknown);
}

QueryBinder::Bound QueryBinder::bind_query(const ast::Select& select, UnknownLiterals unknown) {
  TM_TRY(enter(select.location));
  const size_t common_before = common_tables_.size();
  for (const ast::CommonTable& common : select.with) {
    for (size_t i = common_before; i < common_tables_.size(); ++i) {
      if (common_tables_[i]->name == common.name) {
        return SqlError{sqlstate::kDuplicateAlias,
                        "WITH query name \"" + common.name + "\" specified more than once",
                        common.location + 1,
                        {},
                        {}};
      }
    }
    common_tables_.push_back(&common);
  }
  auto out = !select.values.empty()                            ? bind_values(select)
             : select.set_operation != ast::SetOperation::None ? bind_union(select, unknown)
                                                               : bind_core(select, unknown);
  common_tables_.resize(common_before);
  return out;
}

QueryBinder::Bound QueryBinder::bind_values(const ast::Select& select) {
  auto out = std::make_unique<Relation>();
  out->kind = RelationKind::Values;
  const Scope nothing;
  const size_t width = select.values[0].size();
  for (const std::vector<ast::ExprPtr>& row : select.values) {
    if (row.size() != width) {
      return SqlError{
          sqlstate::kSyntaxError, "VALUES lists must all be the same length", row[0]->location + 1, {}, {}};
    }
    ExpressionBinder binder = expressions(nothing, Clause::Values, nullptr, nullptr);
    std::vector<ExpressionPtr>& bound = out->rows.emplace_back();
    for (const ast::ExprPtr& cell : row) {
      TM_SQL_ASSIGN(ExpressionPtr value, binder.bind(*cell));
      bound.push_back(std::move(value));
    }
  }
  for (size_t column = 0; column < width; ++column) {
    std::vector<ExpressionPtr> cells;
    for (std::vector<ExpressionPtr>& row : out->rows) cells.push_back(std::move(row[column]));
    TM_SQL_ASSIGN(const SqlType type, Coercer::common_type(cells, "VALUES"));
    TM_SQL_ASSIGN(cells, coercer_.unify(std::move(cells), "VALUES"));
    out->columns.push_back({"column" + std::to_string(column + 1), type});
    for (size_t row = 0; row < cells.size(); ++row) out->rows[row][column] = std::move(cells[row]);
  }
  Targets targets;
  for (size_t i = 0; i < width; ++i) {
    targets.names.push_back(out->columns[i].name);
    targets.expressions.push_back(make_column(static_cast<int>(i), out->columns[i].type));
  }
  RelationPtr relation = std::move(out);
  TM_SQL_ASSIGN(std::vector<SortKey> order, bind_order(select, nothing, nullptr, nullptr, targets));
  if (!order.empty()) {
    relation = make_relation(RelationKind::Sort, std::move(relation));
    relation->order = std::move(order);
  }
  return add_limit(select, std::move(relation));
}

QueryBinder::Bound QueryBinder::bind_union(const ast::Select& select, UnknownLiterals unknown) {
  std::vector<RelationPtr> branches;
  TM_SQL_ASSIGN(RelationPtr left, bind_query(*select.left, UnknownLiterals::Keep));
  TM_SQL_ASSIGN(RelationPtr right, bind_query(*select.right, UnknownLiterals::Keep));
  if (left->columns.size() != right->columns.size()) {
    return SqlError{sqlstate::kSyntaxError,
                    "each UNION query must have the same number of columns",
                    select.location + 1,
                    {},
                    {}};
  }
  auto out = std::make_unique<Relation>();
  out->kind = RelationKind::UnionAll;
  std::vector<ExpressionPtr> left_columns, right_columns;
  for (size_t i = 0; i < left->columns.size(); ++i) {
    // Literals without a type are cast where they stand; columns, above.
    const auto take = [i](RelationPtr& branch) {
      if (branch->kind == RelationKind::Project && branch->columns[i].type.kind == TypeKind::Unknown) {
        return clone(*branch->expressions[i]);
      }
      return make_column(static_cast<int>(i), branch->columns[i].type);
    };
    std::vector<ExpressionPtr> pair;
    pair.push_back(take(left));
    pair.push_back(take(right));
    SqlType type = pair[0]->type;
    const bool both_unknown =
        pair[0]->type.kind == TypeKind::Unknown && pair[1]->type.kind == TypeKind::Unknown;
    if (!(both_unknown && unknown == UnknownLiterals::Keep)) {
      TM_SQL_ASSIGN(type, Coercer::common_type(pair, "UNION"));
      TM_SQL_ASSIGN(pair, coercer_.unify(std::move(pair), "UNION"));
    }
    out->columns.push_back({left->columns[i].name, type});
    left_columns.push_back(std::move(pair[0]));
    right_columns.push_back(std::move(pair[1]));
  }
  std::vector<std::string> names;
  for (const RelationColumn& column : out->columns) names.push_back(column.name);
  out->inputs.push_back(project(std::move(left), std::move(left_columns), names));
  out->inputs.push_back(project(std::move(right), std::move(right_columns), names));
  RelationPtr relation = std::move(out);
  if (select.set_operation == ast::SetOperation::Union)
    relation = make_relation(RelationKind::Distinct, std::move(relation));
  Targets targets;
  targets.names = names;
  for (size_t i = 0; i < names.size(); ++i) {
    targets.expressions.push_back(make_column(static_cast<int>(i), relation->columns[i].type));
  }
  const Scope nothing;
  TM_SQL_ASSIGN(std::vector<SortKey> order, bind_order(select, nothing, nullptr, nullptr, targets));
  if (!order.empty()) {
    relation = make_relation(RelationKind::Sort, std::move(relation));
    relation->order = std::move(order);
  }
  return add_limit(select, std::move(relation));
}

Result<QueryBinder::Targets, SqlError> QueryBinder::bind_targets(const ast::Select& select,
                                                                 const Scope& scope, Body& body,
                                                                 UnknownLiterals unknown) {
  Targets out;
  ExpressionBinder binder = expressions(scope, Clause::Select, &body.found, &body.queries);
  for (const ast::Target& target : select.targets) {
    const ast::Expr& expr = *target.expr;
    if (expr.kind == ast::ExprKind::Column && expr.flag) {
      const std::string table = expr.names.empty() ? "" : expr.names.back();
      bool any = false;
      for (const ScopeColumn& column : scope.columns) {
        if (column.hidden || (table.empty() ? column.merged : column.table != table)) continue;
        any = true;
        out.names.push_back(column.name);
        out.expressions.push_back(make_column(column.index, column.type, expr.location));
      }
      if (!any && !table.empty() && !scope.has_table(table)) {
        return SqlError{sqlstate::kUndefinedTable,
                        "missing FROM-clause entry for table \"" + table + "\"",
                        expr.location + 1,
                        {},
                        {}};
      }
      if (!any && select.from.empty()) {
        return SqlError{sqlstate::kSyntaxError,
                        "SELECT * with no tables specified is not valid",
                        expr.location + 1,
                        {},
                        {}};
      }
      continue;
    }
    TM_SQL_ASSIGN(ExpressionPtr bound, binder.bind(expr));
    const bool is_literal = bound->kind == ExpressionKind::Constant || bound->kind == ExpressionKind::Param;
    if (unknown == UnknownLiterals::Settle || !is_literal) {
      TM_SQL_ASSIGN(bound, coercer_.settle(std::move(bound)));
    }
    out.names.push_back(output_name(target));
    out.expressions.push_back(std::move(bound));
  }
  return out;
}

// The output column that an expression of ORDER BY or GROUP BY names by number; -1 for other expressions.
Result<int, SqlError> QueryBinder::find_output(const ast::Expr& expr, const Targets& targets,
                                               std::string_view clause) {
  if (expr.kind != ast::ExprKind::Integer) {
    const bool is_constant = expr.kind == ast::ExprKind::String || expr.kind == ast::ExprKind::Decimal ||
                             expr.kind == ast::ExprKind::Boolean;
    if (is_constant) {
      return SqlError{sqlstate::kSyntaxError,
                      "non-integer constant in " + std::string(clause),
                      expr.location + 1,
                      {},
                      {}};
    }
    return -1;
  }
  const long number = std::strtol(expr.text.c_str(), nullptr, 10);
  if (number < 1 || number > static_cast<long>(targets.expressions.size())) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    std::string(clause) + " position " + expr.text + " is not in select list",
                    expr.location + 1,
                    {},
                    {}};
  }
  return static_cast<int>(number) - 1;
}

SqlStatus QueryBinder::bind_group_by(const ast::Select& select, const Scope& scope, const Targets& targets,
                                     std::vector<ExpressionPtr>& groups) {
  for (const ast::ExprPtr& expr : select.group_by) {
    TM_SQL_ASSIGN(int output, find_output(*expr, targets, "GROUP BY"));
    ExpressionPtr group;
    // A bare name is a column of the input first, and only then one of the output.
    if (output < 0 && expr->kind == ast::ExprKind::Column && expr->names.size() == 1 &&
        !scope.find(expr->names, expr->location).ok()) {
      for (size_t i = 0; i < targets.names.size(); ++i) {
        if (targets.names[i] == expr->names[0]) output = static_cast<int>(i);
      }
    }
    if (output >= 0) {
      group = clone(*targets.expressions[output]);
      bool has_call = false;
      for_each_column(std::as_const(*group),
                      [&](int index) { has_call = has_call || index >= kAggregateBase; });
      if (has_call)
        return SqlError{sqlstate::kGroupingError,
                        "aggregate functions are not allowed in GROUP BY",
                        expr->location + 1,
                        {},
                        {}};
    } else {
      ExpressionBinder binder = expressions(scope, Clause::GroupBy, nullptr, nullptr);
      TM_SQL_ASSIGN(group, binder.bind(*expr));
    }
    TM_SQL_ASSIGN(group, coercer_.settle(std::move(group)));
    const bool repeated = std::any_of(groups.begin(), groups.end(),
                                      [&](const ExpressionPtr& g) { return is_same(*g, *group); });
    if (!repeated) groups.push_back(std::move(group));
  }
  return {};
}

// Expressions over the input, as the targets are. A bare name is a column of the output first.
Result<std::vector<SortKey>, SqlError> QueryBinder::bind_order(const ast::Select& select, const Scope& scope,
                                                               FoundCalls* found, FoundQueries* queries,
                                                               Targets& targets) {
  std::vector<SortKey> out;
  for (const ast::OrderBy& item : select.order_by) {
    SortKey key{nullptr, item.descending, item.nulls_first};
    TM_SQL_ASSIGN(int output, find_output(*item.expr, targets, "ORDER BY"));
    if (output < 0 && item.expr->kind == ast::ExprKind::Column && item.expr->names.size() == 1 &&
        !item.expr->flag) {
      for (size_t i = 0; i < targets.names.size(); ++i) {
        if (targets.names[i] != item.expr->names[0]) continue;
        if (output >= 0 && !is_same(*targets.expressions[output], *targets.expressions[i])) {
          return SqlError{sqlstate::kAmbiguousColumn,
                          "ORDER BY \"" + targets.names[i] + "\" is ambiguous",
                          item.expr->location + 1,
                          {},
                          {}};
        }
        if (output < 0) output = static_cast<int>(i);
      }
    }
    if (output >= 0) {
      if (targets.expressions[output]->type.kind == TypeKind::Unknown) {
        TM_SQL_ASSIGN(targets.expressions[output], coercer_.settle(std::move(targets.expressions[output])));
      }
      key.expression = clone(*targets.expressions[output]);
    } else if (found == nullptr) {
      ExpressionBinder binder = expressions(scope, Clause::OrderBy, nullptr, nullptr);
      auto bound = binder.bind(*item.expr);
      if (!bound.ok() && bound.error().state != sqlstate::kUndefinedColumn) return bound.error();
      if (!bound.ok() && item.expr->kind == ast::ExprKind::Column) return bound.error();
      return SqlError{sqlstate::kFeatureNotSupported,
                      "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                      item.expr->location + 1,
                      {},
                      "Name a column of the result, or wrap the union in a subquery."};
    } else {
      ExpressionBinder binder = expressions(scope, Clause::OrderBy, found, queries);
      TM_SQL_ASSIGN(key.expression, binder.bind(*item.expr));
      TM_SQL_ASSIGN(key.expression, coercer_.settle(std::move(key.expression)));
    }
    out.push_back(std::move(key));
  }
  return out;
}

SqlStatus QueryBinder::add_aggregates(Body& body, std::vector<ExpressionPtr> groups) {
  const RelationPtr& input = body.relation;
  TM_TRY(body.for_each([&](ExpressionPtr& e) { return onto_aggregate(e, groups, *input); }));
  auto aggregate = make_relation(RelationKind::Aggregate, nullptr);
  for (const ExpressionPtr& group : groups) {
    const std::string name = group->kind == ExpressionKind::Column ? input->columns[group->index].name : "";
    aggregate->columns.push_back({name, group->type});
  }
  for (const AggregateCall& call : body.found.aggregates) {
    aggregate->columns.push_back({std::string(aggregate_name(call.kind)), call.type});
  }
  aggregate->expressions = std::move(groups);
  aggregate->aggregates = std::move(body.found.aggregates);
  aggregate->inputs.push_back(std::move(body.relation));
  body.relation = std::move(aggregate);
  body.apply_queries();
  if (body.having != nullptr) {
    body.relation = make_relation(RelationKind::Filter, std::move(body.relation));
    body.relation->condition = std::move(body.having);
  }
  return {};
}

SqlStatus QueryBinder::add_windows(Body& body) {
  std::vector<int> places;
  for (WindowCall& window : body.found.windows) {
    auto numbered = make_relation(RelationKind::TopK, std::move(body.relation));
    numbered->expressions = std::move(window.partition_by);
    for (size_t i = 0; i < window.order_by.size(); ++i) {
      numbered->order.push_back({std::move(window.order_by[i]), window.descending[i], window.nulls_first[i]});
    }
    places.push_back(static_cast<int>(numbered->columns.size()));
    numbered->columns.push_back({"row_number", SqlType::of(TypeKind::BigInt)});
    body.relation = std::move(numbered);
  }
  body.found.windows.clear();
  return body.for_each([&places](ExpressionPtr& e) -> SqlStatus {
    for_each_column(*e, [&places](int& index) {
      if (index >= kWindowBase && index < kQueryBase) index = places[index - kWindowBase];
    });
    return {};
  });
}

// DISTINCT ON: the first row of each group, by the order that follows the group's own expressions.
SqlStatus QueryBinder::add_distinct(const ast::Select& select, Body& body) {
  if (select.distinct_on.empty()) return {};
  const size_t shared = std::min(body.order.size(), body.distinct_on.size());
  for (size_t i = 0; i < shared; ++i) {
    const bool matches =
        std::any_of(body.distinct_on.begin(), body.distinct_on.end(),
                    [&](const ExpressionPtr& e) { return is_same(*e, *body.order[i].expression); });
    if (!matches) {
      return SqlError{sqlstate::kInvalidColumnReference,
                      "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                      select.distinct_on[0]->location + 1,
                      {},
                      {}};
    }
  }
  auto first = make_relation(RelationKind::TopK, std::move(body.relation));
  first->columns.push_back({"row_number", SqlType::of(TypeKind::BigInt)});
  first->top_limit = 1;
  for (const SortKey& key : body.order)
    first->order.push_back({clone(*key.expression), key.descending, key.nulls_first});
  first->expressions = std::move(body.distinct_on);
  body.relation = std::move(first);
  return {};
}

// Functions of several rows in the select list: their rows are made last, before the order.
SqlStatus QueryBinder::add_sets(Body& body) {
  if (body.found.sets.empty()) return {};
  SetCall call = std::move(body.found.sets[0]);
  const int at = static_cast<int>(body.relation->columns.size());
  for (ExpressionPtr& target : body.targets.expressions) {
    for_each_column(*target, [at](int& index) {
      if (index == kSetBase) index = at;
    });
  }
  body.relation = expand(std::move(body.relation), std::move(call));
  return {};
}

QueryBinder::Bound QueryBinder::bind_core(const ast::Select& select, UnknownLiterals unknown) {
  TM_SQL_ASSIGN(FromItem from, bind_from(select.from));
  const Scope scope = std::move(from.scope);
  Body body;
  body.relation = std::move(from.relation);
  TM_SQL_ASSIGN(body.targets,
                bind_targets(select, scope, body, select.distinct ? UnknownLiterals::Settle : unknown));
  if (select.where != nullptr) {
    FoundQueries queries;
    ExpressionBinder binder = expressions(scope, Clause::Where, nullptr, &queries);
    TM_SQL_ASSIGN(ExpressionPtr condition, binder.bind_boolean(*select.where, "WHERE"));
    body.relation = apply(std::move(body.relation), std::move(queries), {condition.get()});
    body.relation = make_relation(RelationKind::Filter, std::move(body.relation));
    body.relation->condition = std::move(condition);
  }
  if (select.having != nullptr) {
    ExpressionBinder binder = expressions(scope, Clause::Having, &body.found, &body.queries);
    TM_SQL_ASSIGN(body.having, binder.bind_boolean(*select.having, "HAVING"));
  }
  TM_SQL_ASSIGN(body.order, bind_order(select, scope, &body.found, &body.queries, body.targets));
  for (const ast::ExprPtr& expr : select.distinct_on) {
    TM_SQL_ASSIGN(int output, find_output(*expr, body.targets, "DISTINCT ON"));
    ExpressionBinder binder = expressions(scope, Clause::OrderBy, &body.found, &body.queries);
    ExpressionPtr bound;
    if (output >= 0) {
      bound = clone(*body.targets.expressions[output]);
    } else {
      TM_SQL_ASSIGN(bound, binder.bind(*expr));
    }
    TM_SQL_ASSIGN(bound, coercer_.settle(std::move(bound)));
    body.distinct_on.push_back(std::move(bound));
  }
  std::vector<ExpressionPtr> groups;
  TM_TRY(bind_group_by(select, scope, body.targets, groups));
  if (!groups.empty() || !body.found.aggregates.empty() || body.having != nullptr) {
    TM_TRY(add_aggregates(body, std::move(groups)));
  } else {
    body.apply_queries();
  }
  if (!body.found.windows.empty()) TM_TRY(add_windows(body));
  TM_TRY(add_distinct(select, body));

  // Sort keys that are no output columns are computed beside them, and taken away again at the end.
  const size_t width = body.targets.expressions.size();
  std::vector<SortKey> order;
  for (SortKey& key : body.order) {
    size_t at = 0;
    while (at < body.targets.expressions.size() && !is_same(*body.targets.expressions[at], *key.expression))
      ++at;
    const SqlType type = key.expression->type;
    if (at == body.targets.expressions.size()) {
      if (select.distinct) {
        return SqlError{sqlstate::kInvalidColumnReference,
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                        key.expression->location + 1,
                        {},
                        {}};
      }
      body.targets.expressions.push_back(std::move(key.expression));
    }
    order.push_back({make_column(static_cast<int>(at), type), key.descending, key.nulls_first});
  }
  TM_TRY(add_sets(body));
  RelationPtr relation =
      project(std::move(body.relation), std::move(body.targets.expressions), body.targets.names);
  if (select.distinct) relation = make_relation(RelationKind::Distinct, std::move(relation));
  const bool has_extra = relation->columns.size() > width;
  if (!order.empty()) {
    relation = make_relation(RelationKind::Sort, std::move(relation));
    relation->order = std::move(order);
  }
  TM_SQL_ASSIGN(relation, add_limit(select, std::move(relation)));
  if (has_extra) {
    std::vector<ExpressionPtr> kept;
    for (size_t i = 0; i < width; ++i)
      kept.push_back(make_column(static_cast<int>(i), relation->columns[i].type));
    relation = project(std::move(relation), std::move(kept), body.targets.names);
  }
  return relation;
}

Result<ExpressionPtr, SqlError> QueryBinder::bind_count(const ast::Expr& expr, std::string_view clause) {
  const Scope nothing;
  ExpressionBinder binder = expressions(nothing, Clause::Limit, nullptr, nullptr);
  auto bound = binder.bind(expr);
  if (!bound.ok() && bound.error().state == sqlstate::kUndefinedColumn) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "argument of " + std::string(clause) + " must not contain variables",
                    expr.location + 1,
                    {},
                    {}};
  }
  if (!bound.ok()) return bound.error();
  const TypeKind kind = (*bound)->type.kind;
  if (kind != TypeKind::Unknown && !is_assignment_cast(kind, TypeKind::BigInt)) {
    return SqlError{sqlstate::kDatatypeMismatch,
                    "argument of " + std::string(clause) + " must be type bigint, not type " +
                        std::string(type_name(kind)),
                    expr.location + 1,
                    {},
                    {}};
  }
  return coercer_.coerce(std::move(*bound), SqlType::of(TypeKind::BigInt), CastContext::Assignment);
}

Result<RelationPtr, SqlError> QueryBinder::add_limit(const ast::Select& select, RelationPtr relation) {
  if (select.limit == nullptr && select.offset == nullptr) return relation;
  auto out = make_relation(RelationKind::Limit, std::move(relation));
  if (select.limit != nullptr) {
    TM_SQL_ASSIGN(out->limit, bind_count(*select.limit, "LIMIT"));
  }
  if (select.offset != nullptr) {
    TM_SQL_ASSIGN(out->offset, bind_count(*select.offset, "OFFSET"));
  }
  return out;
}

}  // namespace tidemark::sql
