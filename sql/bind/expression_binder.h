// Names and types for the expressions of ast.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sql/bind/aggregate.h"
#include "sql/bind/coerce.h"
#include "sql/bind/relation.h"
#include "sql/bind/scope.h"
#include "sql/catalog.h"
#include "sql/expr/expression.h"
#include "sql/parse/ast.h"

namespace tidemark::sql {

// What row_number() is computed over.
struct WindowCall {
  std::vector<ExpressionPtr> partition_by;
  std::vector<ExpressionPtr> order_by;
  std::vector<bool> descending, nulls_first;
  int location = -1;
};

// A query in an expression, run for each row with `slots` set to `values`.
struct SubqueryCall {
  RelationPtr query;
  SubqueryUse use = SubqueryUse::Scalar;
  std::vector<int> slots;
  std::vector<ExpressionPtr> values;
  SqlType type;
};

// A function that gives several rows, in the select list.
struct SetCall {
  SetFunction function = SetFunction::Series;
  std::vector<ExpressionPtr> args;
  SqlType type;
};

// Where aggregates, windows and functions of several rows that are found in an expression go. In the
// expression stand columns from kAggregateBase, kWindowBase and kSetBase on, to be replaced once their place
// is known.
struct FoundCalls {
  std::vector<AggregateCall> aggregates;
  std::vector<WindowCall> windows;
  std::vector<SetCall> sets;
};
// The same for queries.
using FoundQueries = std::vector<SubqueryCall>;
inline constexpr int kAggregateBase = 1 << 24;
inline constexpr int kWindowBase = 1 << 25;
inline constexpr int kQueryBase = 1 << 26;
inline constexpr int kSetBase = 1 << 27;

class QueryBinder;

// What an expression may contain; for the message if it does not.
enum class Clause : uint8_t {
  Where,
  On,
  From,
  GroupBy,
  Having,
  Select,
  OrderBy,
  Values,
  Limit,
  Set,
  Default
};

class ExpressionBinder {
 public:
  ExpressionBinder(const Catalog& catalog, ParamTypes& params, const Scope& scope, Clause clause,
                   FoundCalls* found)
      : catalog_(catalog), coercer_(params), params_(params), scope_(scope), clause_(clause), found_(found) {}

  // String literals and parameters that nothing gave a type are left unknown.
  Result<ExpressionPtr, SqlError> bind(const ast::Expr& expr);
  Result<ExpressionPtr, SqlError> bind_boolean(const ast::Expr& expr, std::string_view clause);

  Coercer& coercer() { return coercer_; }

  // The query around it: names that are not in scope may be of rows that enclose it, and queries that are
  // found go to `queries`; null: they are refused.
  void enclose(QueryBinder& query, FoundQueries* queries) {
    query_ = &query;
    queries_ = queries;
  }
  // generate_series and the like in FROM. Nothing: the function is not one of them.
  Result<std::optional<SetCall>, SqlError> bind_from_set(const ast::Expr& call);

 private:
  using Bound = Result<ExpressionPtr, SqlError>;
  using BoundList = Result<std::vector<ExpressionPtr>, SqlError>;

  BoundList bind_args(const ast::Expr& expr, size_t from = 0);
  Bound bind_literal(const ast::Expr& expr);
  Bound bind_param(const ast::Expr& expr);
  Bound bind_column(const ast::Expr& expr);
  Bound bind_logic(const ast::Expr& expr);
  Bound bind_is_truth(const ast::Expr& expr);
  Bound bind_distinct(const ast::Expr& expr);
  Bound bind_in(const ast::Expr& expr);
  Bound take_array(const ast::Expr& expr, const Expression& value, std::vector<ExpressionPtr>& items);
  bool uses_row(const Expression& e) const;
  Bound bind_between(const ast::Expr& expr);
  Bound bind_case(const ast::Expr& expr);
  Bound bind_unified(const ast::Expr& expr, ExpressionKind kind, std::string_view what);
  Bound bind_null_if(const ast::Expr& expr);
  Bound bind_cast(const ast::Expr& expr);
  Bound bind_function(const ast::Expr& expr);
  Bound bind_aggregate(const ast::Expr& expr, const std::string& name);
  Bound bind_window(const ast::Expr& expr, const std::string& name);
  Bound bind_subquery(const ast::Expr& expr);
  Bound bind_test(const ast::Expr& expr, SubqueryCall& call);
  Bound bind_body(const Function& function, std::vector<ExpressionPtr> args, int location);
  // A function of several rows, and the call that has its arguments.
  struct SetSyntax {
    SetFunction function;
    const ast::Expr& call;
  };
  static std::optional<SetSyntax> find_set(const ast::Expr& expr);
  Bound bind_set(const ast::Expr& expr, const SetSyntax& set);
  Result<SetCall, SqlError> bind_set_call(const SetSyntax& set);
  Bound bind_any_array(const ast::Expr& expr);
  Bound bind_array(const ast::Expr& expr);
  Bound bind_subscript(const ast::Expr& expr);
  Bound bind_field(const ast::Expr& expr);
  // A cast to a type that only catalog tables have; null: the type is none of them.
  Bound bind_catalog_cast(const ast::Expr& expr);
  Bound bind_array_cast(const ast::Expr& expr);
  Bound internal_call(std::string_view name, std::vector<ExpressionPtr> args, int location);
  Bound add_query(SubqueryCall call, int location);
  Bound operation(std::string_view op, std::vector<ExpressionPtr> args, int location);
  Bound call(const Function& function, std::vector<ExpressionPtr> args, int location);
  Bound concatenation(std::vector<ExpressionPtr> args, int location);

  // `value` where it can be computed again at no cost, else a Slot for it: `body` is then wrapped by close().
  struct Shared {
    ExpressionPtr value;  // Null when it may be repeated.
    ExpressionPtr use;    // Cloned at each place.
    int slot = 0;
  };
  Shared share(ExpressionPtr value);
  static ExpressionPtr close(Shared shared, ExpressionPtr body);

  const Catalog& catalog_;
  Coercer coercer_;
  ParamTypes& params_;
  const Scope& scope_;
  Clause clause_;
  FoundCalls* found_;
  QueryBinder* query_ = nullptr;
  FoundQueries* queries_ = nullptr;
  int next_slot_ = 0;
  bool in_aggregate_ = false;
};

}  // namespace tidemark::sql
