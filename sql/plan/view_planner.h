// Internal to planning: the planner of one view. See planner.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sql/parse/try.h"
#include "sql/plan/planner.h"
#include "sql/plan/stream.h"
#include "sql/plan/table_builder.h"

namespace tidemark::sql {

class ViewPlanner {
 public:
  explicit ViewPlanner(const PlanOptions& options) : options_(options), next_id_(options.first_id.value) {}

  Result<ViewPlan, SqlError> plan(const Relation& query);

 private:
  using Needed = std::vector<bool>;  // Which of a relation's columns somebody uses.
  using BoundStreams = Result<Streams, SqlError>;

  // Streams whose columns are the relation's.
  BoundStreams streams_of(const Relation& relation, const Needed& needed);
  BoundStreams scan(const Relation& relation, const Needed& needed);
  BoundStreams project(const Relation& relation, const Needed& needed);
  BoundStreams filter(const Relation& relation, const Needed& needed);
  BoundStreams split(const Relation& relation, const Needed& needed);
  BoundStreams union_all(const Relation& relation, const Needed& needed);
  BoundStreams join(const Relation& relation, const Needed& needed);

  // A table that keeps the relation's rows, and how to read them from it. Planned into `id`.
  struct Kept {
    TableId id;
    ReadPlan read;  // Columns that nobody needs are null.
  };
  using BoundKept = Result<Kept, SqlError>;
  BoundKept keep(const Relation& relation, const Needed& needed, TableId id, pb::TableKind kind);
  BoundKept keep_rows(Streams streams, const Relation& relation, const Needed& needed, TableId id,
                      pb::TableKind kind);
  BoundKept keep_aggregate(const Relation& relation, const Needed& needed, TableId id, pb::TableKind kind);
  struct Grouping {
    const Relation& input;
    const std::vector<RelationColumn>& columns;
    const std::vector<ExpressionPtr>& groups;
    const std::vector<AggregateCall>& aggregates;
  };
  BoundKept keep_groups(const Grouping& by, const Needed& needed, TableId id, pb::TableKind kind);
  BoundKept keep_distinct(const Relation& relation, TableId id, pb::TableKind kind);
  BoundKept keep_top(const Relation& relation, const Needed& needed, TableId id, pb::TableKind kind);
  BoundKept keep_limit(const Relation& relation, const Needed& needed, TableId id, pb::TableKind kind);

  struct TopQuery {
    const Relation* input = nullptr;
    const std::vector<ExpressionPtr>* groups = nullptr;  // Or none.
    const std::vector<SortKey>* order = nullptr;
    int64_t limit = 0;
  };
  BoundKept keep_first(const TopQuery& top, const Needed& needed, TableId id, pb::TableKind kind);

  // An auxiliary table of the relation's rows, as a stream.
  Result<Stream, SqlError> keep_aside(const Relation& relation, const Needed& needed);
  Stream stream_of(const Kept& kept);
  // One stream from one table: kept aside if it is anything else.
  Result<Stream, SqlError> simple_stream(const Relation& relation, const Needed& needed);

  // Of an aggregation: the SUM table and its multisets.
  struct Sums;
  SqlStatus add_aggregate(const AggregateCall& call, Sums& sums, ExpressionPtr& read);
  int sum_column(Sums& sums, SumColumn::Kind kind, SqlType type, const Expression* arg,
                 const Expression* filter);
  int value_column(Sums& sums, pb::DerivedColumn::Kind kind, SqlType type, const AggregateCall& call);

  // Of a join.
  struct Side;
  BoundStreams make_join(Side left, Side right, bool outer, ExpressionPtr residual);
  BoundStreams make_outer_join(Side left, Side right, ExpressionPtr residual);
  Stream count_pairs(Stream pairs, size_t identity);
  TableId make_side(Side& side);
  bool is_base_table(TableId table) const;
  int stored_width(TableId table) const;

  TableId take_id() { return TableId{next_id_++}; }
  void add_table(TableBuilder& table);
  void add_flow(Stream stream, SinkPlan sink);
  void add_error_set();
  void note_sources();
  // The condition without the bounds of the row number that the input keeps to anyway. Null: nothing is left.
  static ExpressionPtr without_rank_bound(const Expression& condition, const Relation& input);
  static SqlError refuse(std::string message, std::string hint = {}, int location = -1);

  const PlanOptions& options_;
  uint32_t next_id_;
  ViewPlan plan_;
  std::map<uint32_t, pb::TableDefinition> tables_;  // In the order of their ids.
};

}  // namespace tidemark::sql
