// A bound query: a tree of relational operators over tables. Ad-hoc reads run it; the planner of views turns
// it into dataflow.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/bind/aggregate.h"
#include "sql/catalog.h"
#include "sql/expr/expression.h"
#include "sql/expr/split.h"
#include "sql/parse/ast.h"

namespace tidemark::sql {

struct Relation;
using RelationPtr = std::unique_ptr<Relation>;

enum class RelationKind : uint8_t {
  Values,     // `rows`; one row without columns where there is no FROM
  Scan,       // of `table`
  Filter,     // `condition`
  Project,    // `expressions`
  Join,       // `join`, `condition` (null: all pairs) over the left's columns and then the right's
  Aggregate,  // columns are `expressions` (the groups) and then `aggregates`
  UnionAll,
  Distinct,
  Sort,    // `order`
  Limit,   // `limit`, `offset`
  Apply,   // `subquery` run for each row of the first input: the second input, with `slots` set to
           // `expressions`; what comes of it is a column at the end
  Expand,  // for each row, one per value of `set_function` of `expressions`, which is a column at the end
  TopK,    // rows numbered within `expressions` (the groups) by `order`; the number is a column at the end;
           // only the first `top_limit` if given
};

enum class RelationJoin : uint8_t { Inner, Left };

// What Apply makes of the rows of its query. Any and All are of one boolean column.
using ast::SubqueryUse;

// Functions that give several rows.
enum class SetFunction : uint8_t {
  Series,       // generate_series(first, last)
  Unnest,       // the elements of an array
  ExpandArray,  // the elements of an array with their numbers, as rows
  // The words of a text, by what separates them.
  SplitByText,     // string_to_table(text, delimiter), unnest(string_to_array(text, delimiter))
  SplitByPattern,  // regexp_split_to_table(text, pattern), the pattern a constant
};

// How the function splits; nothing: it does not.
constexpr std::optional<SplitKind> split_kind_of(SetFunction function) {
  switch (function) {
    case SetFunction::SplitByText: return SplitKind::ByText;
    case SetFunction::SplitByPattern: return SplitKind::ByPattern;
    case SetFunction::Series:
    case SetFunction::Unnest:
    case SetFunction::ExpandArray: return std::nullopt;
  }
  TM_UNREACHABLE();
}

struct SortKey {
  ExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;
};

struct RelationColumn {
  std::string name;
  SqlType type;
};

struct Relation {
  RelationKind kind = RelationKind::Values;
  std::vector<RelationColumn> columns;
  std::vector<RelationPtr> inputs;

  TableSchemaPtr table;
  std::string alias;  // Of the table, for EXPLAIN.
  // Scan: what the first columns of the table's key are equal to. Set by optimize().
  std::vector<ExpressionPtr> key_prefix;

  ExpressionPtr condition;
  std::vector<ExpressionPtr> expressions;
  RelationJoin join = RelationJoin::Inner;
  std::vector<AggregateCall> aggregates;
  SubqueryUse subquery = SubqueryUse::Scalar;
  std::vector<int> slots;  // Where the query finds the values: the index of Outer expressions.
  SetFunction set_function = SetFunction::Series;
  std::vector<SortKey> order;
  ExpressionPtr limit, offset;
  std::optional<int64_t> top_limit;
  std::vector<std::vector<ExpressionPtr>> rows;
};

RelationPtr make_relation(RelationKind kind, RelationPtr input);

// Computes what constants decide, in all expressions.
void simplify_expressions(Relation& relation);

// Simplifies, moves conditions down to where their columns come from, finds keys in them, and top-k in row
// numbers.
RelationPtr optimize(RelationPtr relation);

// The most volatile function anywhere in it.
Volatility volatility_of(const Relation& relation);

// One line per operator, inner ones indented: for EXPLAIN.
std::string describe(const Relation& relation);

}  // namespace tidemark::sql
