// What keeps a view up to date: its table, the auxiliary tables it needs, and for each table that feeds it a
// flow from that table's changes to effects. A function of the definition alone, so that every view manager,
// now and after a restart, comes to the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "proto/catalog.pb.h"
#include "sql/bind/aggregate.h"
#include "sql/expr/expression.h"
#include "sql/expr/split.h"
#include "sql/types/sql_type.h"

namespace tidemark::sql {

// From a stored row (all columns of the definition, in order) to what a reader of the table sees. Columns
// that are computed on read (averages, sums in their own type) and rows that are kept but not shown (HAVING).
struct ReadPlan {
  struct Column {
    std::string name;
    SqlType type;
  };
  std::vector<Column> columns;
  std::vector<ExpressionPtr> expressions;  // One per column.
  ExpressionPtr visible;                   // Null: all rows are.
};

// How rows that come out of a flow become effects.
enum class SinkKind : uint8_t {
  Put,        // A row per input row: PUT and JOIN_SIDE tables.
  Aggregate,  // Adds to the SUM row of the group, and to multisets.
  Multiset,   // Adds the row itself to a multiset: the first of it are a TOP table.
};

// What an aggregate's value is added to. The SUM row's columns are the count of rows, and then these.
struct SumColumn {
  enum class Kind : uint8_t {
    Rows,     // 1 for each row that passes the filter.
    NonNull,  // 1 for each with a value.
    Sum,      // The value, as numeric.
    Derived,  // Set by the region: min, max, count distinct.
  };
  Kind kind = Kind::Rows;
  ExpressionPtr arg;     // Null for Rows.
  ExpressionPtr filter;  // Or null.
};

// Values of a group, for derived columns.
struct ValueSet {
  TableId table;
  ExpressionPtr arg;
  ExpressionPtr filter;  // Or null.
};

struct SinkPlan {
  SinkKind kind = SinkKind::Put;
  TableId table;
  // One expression per column of the table's definition, in order. Put and Multiset: all (a multiset's count
  // is the last column and has none). Aggregate: the group columns.
  std::vector<ExpressionPtr> columns;
  // UNION ALL: the first two columns are the branch and the bytes of the row's identity.
  bool identity_first = false;
  int32_t branch = 0;

  std::vector<SumColumn> sums;       // Aggregate.
  std::vector<ValueSet> value_sets;  // Aggregate.
  bool pinned = false;               // Aggregate without groups: its one row is there even over nothing.

  // A row in which one of these columns is NULL is left out: join keys of JOIN_SIDE tables.
  uint32_t key_columns_not_null = 0;  // That many, from the first.
};

// Where a flow's rows come from.
enum class FlowSource : uint8_t {
  Table,  // The stored columns of `table`.
  Join,   // The stored columns of `left`, then those of `right`: pairs under one join key.
};

// A row becomes one per word of a text: the source's columns, then the word, and how many times it came
// before in this row, from 0. So a word that stays does not change when another comes.
struct SplitPlan {
  SplitKind kind = SplitKind::ByText;
  ExpressionPtr text, delimiter;  // Over the source's columns. Null text: rows stay as they are.
};

struct FlowPlan {
  FlowSource source = FlowSource::Table;
  TableId table;        // Table: whose changes.
  TableId left, right;  // Join: the sides; changes of both.
  bool outer = false;   // Join: left rows without partner come with NULLs.

  SplitPlan split;  // Table only.

  // All over the source's columns.
  ExpressionPtr filter;  // Null: all rows.
  // What tells rows of the flow apart, the same before and after a change; names them in the error set.
  std::vector<ExpressionPtr> identity;
  SinkPlan sink;
  uint32_t number = 0;  // Within the view: names the flow in the error set.
};

struct ViewPlan {
  std::vector<pb::TableDefinition>
      tables;  // The view's first, then the auxiliary ones; ids follow each other.
  std::vector<FlowPlan> flows;
  ReadPlan read;
  TableId errors;  // The auxiliary table of the error set. 0: no row of the view can fail.
};

}  // namespace tidemark::sql
