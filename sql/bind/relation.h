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
  Sort,   // `order`
  Limit,  // `limit`, `offset`
  TopK,   // rows numbered within `expressions` (the groups) by `order`; the number is a column at the end;
          // only the first `top_limit` if given
  Split,  // a row per word of `expressions`: a text and what separates it; the word is a column at the end
};

enum class RelationJoin : uint8_t { Inner, Left };

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
  std::vector<SortKey> order;
  ExpressionPtr limit, offset;
  std::optional<int64_t> top_limit;
  SplitKind split = SplitKind::ByText;
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
