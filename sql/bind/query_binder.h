// SELECT: from the tree of ast.h to relational operators.
#pragma once

#include <map>
#include <optional>
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

  // For the expressions of its queries.

  // A column of the row that an enclosing query is at; null: there is none of that name.
  Result<ExpressionPtr, SqlError> find_outer(const std::vector<std::string>& names, int location);
  // A query inside an expression over `scope`: what it takes from there goes to `call`.
  Result<RelationPtr, SqlError> bind_nested(const ast::Select& select, const Scope& scope,
                                            SubqueryCall& call);
  // The query that a function stands for: it sees the values of `call`, as parameters, and nothing else.
  Result<RelationPtr, SqlError> bind_body(std::string_view body, SubqueryCall& call);
  bool is_in_body() const { return body_ != nullptr; }
  Result<ExpressionPtr, SqlError> body_argument(int number, int location) const;
  int take_slot() { return next_slot_++; }

 private:
  using Bound = Result<RelationPtr, SqlError>;

  struct FromItem {
    RelationPtr relation;
    Scope scope;
  };
  using BoundFrom = Result<FromItem, SqlError>;
  struct RightItem {
    FromItem item;
    bool holds_left = false;  // Its rows are those of the left side with more columns: they are joined.
  };
  // A function in FROM: the rows of `set`, or the one of `value`.
  struct FromCall {
    std::optional<SetCall> set;
    ExpressionPtr value;
    FoundQueries queries;
    bool uses_scope = false;
  };

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
  // An item behind others: it may use the columns of `left`, and then takes its rows.
  Result<RightItem, SqlError> bind_right(const ast::From& item, FromItem& left);
  Result<RightItem, SqlError> bind_function(const ast::From& item, FromItem& left);
  Result<FromCall, SqlError> bind_call(const ast::Expr& function, const Scope& scope);
  static RelationPtr add_call(RelationPtr input, FromCall call);
  BoundFrom bind_lateral_join(const ast::From& item, FromItem joined);
  static SqlStatus check_aliases(const Scope& left, const Scope& right, int location);
  static RelationPtr nothing();  // One row without columns.
  Result<ExpressionPtr, SqlError> bind_using(const ast::From& item, FromItem& left, FromItem& right,
                                             FromItem& out);
  static FromItem combine(FromItem left, FromItem right, RelationJoin join);

  Result<Targets, SqlError> bind_targets(const ast::Select& select, const Scope& scope, Body& body,
                                         UnknownLiterals unknown);
  SqlStatus bind_group_by(const ast::Select& select, const Scope& scope, const Targets& targets,
                          std::vector<ExpressionPtr>& groups);
  Result<std::vector<SortKey>, SqlError> bind_order(const ast::Select& select, const Scope& scope,
                                                    FoundCalls* found, FoundQueries* queries,
                                                    Targets& targets);
  Result<int, SqlError> find_output(const ast::Expr& expr, const Targets& targets, std::string_view clause);
  SqlStatus add_aggregates(Body& body, std::vector<ExpressionPtr> groups);
  SqlStatus add_windows(Body& body);
  SqlStatus add_distinct(const ast::Select& select, Body& body);
  Result<RelationPtr, SqlError> add_limit(const ast::Select& select, RelationPtr relation);
  Result<ExpressionPtr, SqlError> bind_count(const ast::Expr& expr, std::string_view clause);

  ExpressionBinder expressions(const Scope& scope, Clause clause, FoundCalls* found, FoundQueries* queries);
  // `input` with a column for each query; `users` get them instead of their stand-ins.
  static RelationPtr apply(RelationPtr input, FoundQueries queries, const std::vector<Expression*>& users);
  static SqlStatus apply_to_right(Relation& join, FoundQueries queries, int location);
  static RelationPtr expand(RelationPtr input, SetCall call);
  SqlStatus add_sets(Body& body);

  SqlStatus enter(int location);

  const Catalog& catalog_;
  ParamTypes& params_;
  Coercer coercer_;
  std::vector<const ast::CommonTable*> common_tables_;
  // Common tables are bound at each use: bounded, since uses of uses multiply.
  int relations_ = 0;

  // The queries around the one being bound, outermost first.
  struct Frame {
    const Scope* scope;
    SubqueryCall* call;
  };
  std::vector<Frame> frames_;
  const SubqueryCall* body_ = nullptr;
  int next_slot_ = 0;
};

}  // namespace tidemark::sql
