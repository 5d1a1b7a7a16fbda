// SELECT: from the tree of ast.h to relational operators.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sql/bind/expression_binder.h"
#include "sql/bind/relation.h"

namespace tidemark::sql {

// A query's result may keep literals without a type for whoever uses it (INSERT, UNION); else they are text.
enum class UnknownLiterals : uint8_t { Settle, Keep };

class QueryBinder {
 public:
  QueryBinder(const Catalog& catalog, ParamTypes& params)
      : catalog_(catalog), params_(params), coercer_(params) {}

  Result<RelationPtr, SqlError> bind(const ast::Select& select,
                                     UnknownLiterals unknown = UnknownLiterals::Settle);

 private:
  using Bound = Result<RelationPtr, SqlError>;

  struct FromItem {
    RelationPtr relation;
    Scope scope;
  };
  using BoundFrom = Result<FromItem, SqlError>;

  // A select list, with all that hangs on it.
  struct Targets {
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
  };
  struct Body;

  Bound bind_query(const ast::Select& select, UnknownLiterals unknown);
  Bound bind_values(const ast::Select& select);
  Bound bind_union(const ast::Select& select, UnknownLiterals unknown);
  Bound bind_core(const ast::Select& select, UnknownLiterals unknown);

  BoundFrom bind_from(const std::vector<ast::FromPtr>& items);
  BoundFrom bind_item(const ast::From& item);
  BoundFrom bind_table(const ast::From& item);
  BoundFrom bind_subquery(const ast::Select& query, const std::string& alias,
                          const std::vector<std::string>& names, int location);
  BoundFrom bind_join(const ast::From& item);
  BoundFrom bind_join_with_function(const ast::From& item, FromItem left);
  // Each row of `input` with those that the function makes of it.
  BoundFrom bind_function(const ast::From& item, FromItem input);
  Result<ExpressionPtr, SqlError> bind_using(const ast::From& item, FromItem& left, FromItem& right,
                                             FromItem& out);
  static FromItem combine(FromItem left, FromItem right, RelationJoin join);

  Result<Targets, SqlError> bind_targets(const ast::Select& select, const Scope& scope, FoundCalls& found,
                                         UnknownLiterals unknown);
  SqlStatus bind_group_by(const ast::Select& select, const Scope& scope, const Targets& targets,
                          std::vector<ExpressionPtr>& groups);
  Result<std::vector<SortKey>, SqlError> bind_order(const ast::Select& select, const Scope& scope,
                                                    FoundCalls* found, Targets& targets);
  Result<int, SqlError> find_output(const ast::Expr& expr, const Targets& targets, std::string_view clause);
  SqlStatus add_aggregates(Body& body, std::vector<ExpressionPtr> groups);
  SqlStatus add_windows(Body& body);
  SqlStatus add_distinct(const ast::Select& select, Body& body);
  Result<RelationPtr, SqlError> add_limit(const ast::Select& select, RelationPtr relation);
  Result<ExpressionPtr, SqlError> bind_count(const ast::Expr& expr, std::string_view clause);

  SqlStatus enter(int location);

  const Catalog& catalog_;
  ParamTypes& params_;
  Coercer coercer_;
  std::vector<const ast::CommonTable*> common_tables_;
  // Common tables are bound at each use: bounded, since uses of uses multiply.
  int relations_ = 0;
};

}  // namespace tidemark::sql
