// FROM: tables, subqueries and joins.
#include <algorithm>

#include "sql/bind/query_binder.h"
#include "sql/bind/resolve.h"

namespace tidemark::sql {
namespace {

constexpr int kRelationsMax = 2000;

}  // namespace

RelationPtr QueryBinder::nothing() {
  auto out = std::make_unique<Relation>();
  out->kind = RelationKind::Values;
  out->rows.emplace_back();
  return out;
}

SqlStatus QueryBinder::check_aliases(const Scope& left, const Scope& right, int location) {
  for (const ScopeColumn& column : right.columns) {
    if (!column.table.empty() && left.has_table(column.table)) {
      return SqlError{sqlstate::kDuplicateAlias,
                      "table name \"" + column.table + "\" specified more than once",
                      location + 1,
                      {},
                      {}};
    }
  }
  return {};
}

SqlStatus QueryBinder::enter(int location) {
  if (++relations_ > kRelationsMax) {
    return SqlError{sqlstate::kStatementTooComplex, "the query uses too many tables", location + 1, {}, {}};
  }
  return {};
}

QueryBinder::BoundFrom QueryBinder::bind_from(const std::vector<ast::FromPtr>& items) {
  if (items.empty()) return FromItem{nothing(), {}};
  TM_SQL_ASSIGN(FromItem out, bind_item(*items[0]));
  for (size_t i = 1; i < items.size(); ++i) {
    TM_SQL_ASSIGN(RightItem next, bind_right(*items[i], out));
    out = next.holds_left ? std::move(next.item)
                          : combine(std::move(out), std::move(next.item), RelationJoin::Inner);
  }
  return out;
}

Result<QueryBinder::RightItem, SqlError> QueryBinder::bind_right(const ast::From& item, FromItem& left) {
  RightItem out;
  if (item.kind == ast::FromKind::Function) {
    TM_TRY(enter(item.location));
    TM_SQL_ASSIGN(out, bind_function(item, left));
  } else {
    TM_SQL_ASSIGN(out.item, bind_item(item));
  }
  if (!out.holds_left) TM_TRY(check_aliases(left.scope, out.item.scope, item.location));
  return out;
}

QueryBinder::BoundFrom QueryBinder::bind_item(const ast::From& item) {
  TM_TRY(enter(item.location));
  switch (item.kind) {
    case ast::FromKind::Table: return bind_table(item);
    case ast::FromKind::Subquery:
      return bind_subquery(*item.subquery, item.alias, item.column_aliases, item.location);
    case ast::FromKind::Join: return bind_join(item);
    case ast::FromKind::Function: {
      FromItem none{nothing(), {}};
      TM_SQL_ASSIGN(RightItem out, bind_function(item, none));
      return std::move(out.item);
    }
  }
  TM_UNREACHABLE();
}

QueryBinder::BoundFrom QueryBinder::bind_table(const ast::From& item) {
  const std::string& alias = item.alias.empty() ? item.table.name : item.alias;
  if (item.table.schema.empty()) {
    for (size_t i = common_tables_.size(); i-- > 0;) {
      const ast::CommonTable& common = *common_tables_[i];
      if (common.name != item.table.name) continue;
      // A common table sees those before it only.
      const std::vector<const ast::CommonTable*> visible = common_tables_;
      common_tables_.resize(i);
      auto out =
          bind_subquery(*common.query, alias,
                        item.column_aliases.empty() ? common.columns : item.column_aliases, item.location);
      common_tables_ = visible;
      return out;
    }
  }
  TableSchemaPtr table = catalog_.find_table(item.table.schema, item.table.name);
  if (table == nullptr) {
    const std::string name =
        item.table.schema.empty() ? item.table.name : item.table.schema + "." + item.table.name;
    return SqlError{sqlstate::kUndefinedTable,
                    "relation \"" + name + "\" does not exist",
                    item.table.location + 1,
                    {},
                    {}};
  }
  FromItem out;
  out.relation = std::make_unique<Relation>();
  out.relation->kind = RelationKind::Scan;
  out.relation->alias = alias;
  size_t visible = 0;
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const SchemaColumn& column = table->columns[i];
    out.relation->columns.push_back({column.name, column.type});
    std::string name = column.name;
    if (!column.hidden && visible < item.column_aliases.size()) name = item.column_aliases[visible];
    visible += column.hidden ? 0 : 1;
    out.scope.columns.push_back({alias, name, column.type, static_cast<int>(i), false, column.hidden});
  }
  if (item.column_aliases.size() > visible) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "table \"" + alias + "\" has fewer columns than aliases",
                    item.location + 1,
                    {},
                    {}};
  }
  out.relation->table = std::move(table);
  return out;
}

QueryBinder::BoundFrom QueryBinder::bind_subquery(const ast::Select& query, const std::string& alias,
                                                  const std::vector<std::string>& names, int location) {
  TM_TRY(enter(location));
  if (alias.empty()) {
    return SqlError{sqlstate::kSyntaxError,
                    "subquery in FROM must have an alias",
                    location + 1,
                    {},
                    "Write FROM (SELECT ...) AS name."};
  }
  FromItem out;
  TM_SQL_ASSIGN(out.relation, bind_query(query, UnknownLiterals::Settle));
  if (names.size() > out.relation->columns.size()) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "table \"" + alias + "\" has fewer columns than aliases",
                    location + 1,
                    {},
                    {}};
  }
  for (size_t i = 0; i < out.relation->columns.size(); ++i) {
    const std::string& name = i < names.size() ? names[i] : out.relation->columns[i].name;
    out.scope.columns.push_back({alias, name, out.relation->columns[i].type, static_cast<int>(i)});
  }
  return out;
}

QueryBinder::FromItem QueryBinder::combine(FromItem left, FromItem right, RelationJoin join) {
  FromItem out;
  out.relation = std::make_unique<Relation>();
  out.relation->kind = RelationKind::Join;
  out.relation->join = join;
  out.relation->columns = left.relation->columns;
  for (const RelationColumn& column : right.relation->columns) out.relation->columns.push_back(column);
  const int shift = static_cast<int>(left.relation->columns.size());
  out.scope = std::move(left.scope);
  for (ScopeColumn& column : right.scope.columns) {
    column.index += shift;
    out.scope.columns.push_back(std::move(column));
  }
  out.relation->inputs.push_back(std::move(left.relation));
  out.relation->inputs.push_back(std::move(right.relation));
  return out;
}

// Adds the equalities of USING, hides the right side's columns of that name and puts the left's first.
Result<ExpressionPtr, SqlError> QueryBinder::bind_using(const ast::From& item, FromItem& left,
                                                        FromItem& right, FromItem& out) {
  const int shift = static_cast<int>(left.relation->columns.size());
  std::vector<ExpressionPtr> conditions;
  std::vector<ScopeColumn> merged, rest;
  Scope left_scope = left.scope, right_scope = right.scope;
  for (const std::string& name : item.using_columns) {
    TM_SQL_ASSIGN(const ScopeColumn* a, left_scope.find({name}, item.location));
    TM_SQL_ASSIGN(const ScopeColumn* b, right_scope.find({name}, item.location));
    const Function* equals = nullptr;
    const TypeKind kinds[] = {a->type.kind, b->type.kind};
    if (resolve_operator(catalog_.functions().find("="), kinds, equals) != Resolution::Found) {
      return SqlError{sqlstate::kDatatypeMismatch,
                      "JOIN/USING types of \"" + name + "\" cannot be matched",
                      item.location + 1,
                      {},
                      {}};
    }
    std::vector<ExpressionPtr> sides;
    TM_SQL_ASSIGN(ExpressionPtr x, coercer_.coerce(make_column(a->index, a->type),
                                                   SqlType::of(equals->args[0]), CastContext::Implicit));
    TM_SQL_ASSIGN(ExpressionPtr y, coercer_.coerce(make_column(b->index + shift, b->type),
                                                   SqlType::of(equals->args[1]), CastContext::Implicit));
    sides.push_back(std::move(x));
    sides.push_back(std::move(y));
    conditions.push_back(make_call(equals, std::move(sides), item.location));
    merged.push_back(*a);
    for (ScopeColumn& column : left.scope.columns) {
      if (column.index == a->index) column.name.clear();  // Marked: it goes to the front.
    }
    for (ScopeColumn& column : right.scope.columns) {
      if (column.index == b->index) column.merged = true;
    }
  }
  std::erase_if(left.scope.columns, [](const ScopeColumn& column) { return column.name.empty(); });
  left.scope.columns.insert(left.scope.columns.begin(), merged.begin(), merged.end());
  out = combine(std::move(left), std::move(right),
                item.join == ast::JoinKind::Left ? RelationJoin::Left : RelationJoin::Inner);
  return join_conjuncts(std::move(conditions));
}

// Queries in the condition of a join are run for the rows of its right side.
SqlStatus QueryBinder::apply_to_right(Relation& join, FoundQueries queries, int location) {
  const int left = static_cast<int>(join.inputs[0]->columns.size());
  const int width = static_cast<int>(join.columns.size());
  bool right_only = true;
  for (SubqueryCall& call : queries) {
    for (ExpressionPtr& value : call.values) {
      for_each_column(*value, [&](int& index) {
        right_only = right_only && index >= left;
        if (index < kQueryBase) index -= left;
      });
    }
    join.columns.push_back({"", call.type});
  }
  if (!right_only) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "a subquery of the left side in the condition of a join is not supported",
                    location + 1,
                    {},
                    "Write it in WHERE."};
  }
  for_each_column(*join.condition, [width](int& index) {
    if (index >= kQueryBase) index += width - kQueryBase;
  });
  join.inputs[1] = apply(std::move(join.inputs[1]), std::move(queries), {});
  return {};
}

QueryBinder::BoundFrom QueryBinder::bind_join(const ast::From& item) {
  TM_SQL_ASSIGN(FromItem left, bind_item(*item.left));
  TM_SQL_ASSIGN(RightItem bound, bind_right(*item.right, left));
  if (bound.holds_left) return bind_lateral_join(item, std::move(bound.item));
  FromItem right = std::move(bound.item);
  if (item.join == ast::JoinKind::Right) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "RIGHT JOIN is not supported",
                    item.location + 1,
                    {},
                    "Exchange the sides and write LEFT JOIN."};
  }
  FromItem out;
  if (!item.using_columns.empty()) {
    TM_SQL_ASSIGN(ExpressionPtr condition, bind_using(item, left, right, out));
    out.relation->condition = std::move(condition);
    return out;
  }
  out = combine(std::move(left), std::move(right),
                item.join == ast::JoinKind::Left ? RelationJoin::Left : RelationJoin::Inner);
  if (item.on != nullptr) {
    FoundQueries queries;
    ExpressionBinder binder = expressions(out.scope, Clause::On, nullptr, &queries);
    TM_SQL_ASSIGN(out.relation->condition, binder.bind_boolean(*item.on, "JOIN/ON"));
    TM_TRY(apply_to_right(*out.relation, std::move(queries), item.on->location));
  }
  return out;
}

}  // namespace tidemark::sql
