// Aggregation: a SUM row per group, with multisets of the same region for what sums can not tell.
#include <algorithm>

#include "base/assert.h"
#include "sql/plan/expressions.h"
#include "sql/plan/view_planner.h"

namespace tidemark::sql {

namespace {

constexpr SqlType kBigInt = SqlType::of(TypeKind::BigInt);
constexpr SqlType kNumeric = SqlType::of(TypeKind::Numeric);
constexpr SqlType kBoolean = SqlType::of(TypeKind::Boolean);

bool same(const ExpressionPtr& a, const Expression* b) {
  return (!a && b == nullptr) || (a && b != nullptr && is_same(*a, *b));
}

ExpressionPtr big(int64_t value) {
  return make_constant(Value::bigint(value), kBigInt);
}

template <typename... Args>
std::vector<ExpressionPtr> list(Args... args) {
  std::vector<ExpressionPtr> out;
  (out.push_back(std::move(args)), ...);
  return out;
}

// NULL unless there was a value.
ExpressionPtr if_any(ExpressionPtr count, ExpressionPtr value) {
  const SqlType type = value->type;
  return make_operation(ExpressionKind::Case, type,
                        list(call(">", list(std::move(count), big(0))), std::move(value)), -1);
}

}  // namespace

struct ViewPlanner::Sums {
  Sums(TableId id, pb::TableKind kind) : table(id, kind, pb::SUM) {}

  TableBuilder table;
  size_t groups = 0;
  int first = 0;  // The column of the first of `columns`.
  bool pinned = false;
  std::vector<SumColumn> columns;    // Over the relation's input columns.
  std::vector<ValueSet> value_sets;  // The same.
  std::vector<SqlType> group_types;
};

int ViewPlanner::sum_column(Sums& sums, SumColumn::Kind kind, SqlType type, const Expression* arg,
                            const Expression* filter) {
  for (size_t i = 0; i < sums.columns.size(); ++i) {
    const SumColumn& known = sums.columns[i];
    if (known.kind == kind && same(known.arg, arg) && same(known.filter, filter)) {
      return sums.first + static_cast<int>(i);
    }
  }
  SumColumn& column = sums.columns.emplace_back();
  column.kind = kind;
  if (arg != nullptr) column.arg = clone(*arg);
  if (filter != nullptr) column.filter = clone(*filter);
  return sums.table.add("sum" + std::to_string(sums.columns.size()), type, nullptr, true);
}

int ViewPlanner::value_column(Sums& sums, pb::DerivedColumn::Kind kind, SqlType type,
                              const AggregateCall& call) {
  auto known = std::find_if(sums.value_sets.begin(), sums.value_sets.end(), [&](const ValueSet& set) {
    return same(set.arg, call.arg.get()) && same(set.filter, call.filter.get());
  });
  if (known == sums.value_sets.end()) {
    ValueSet& set = sums.value_sets.emplace_back();
    set.table = take_id();
    set.arg = clone(*call.arg);
    if (call.filter) set.filter = clone(*call.filter);
    TableBuilder values(set.table, pb::AUXILIARY, pb::MULTISET);
    for (size_t i = 0; i < sums.groups; ++i) {
      values.distribute(values.add("group" + std::to_string(i + 1), sums.group_types[i], nullptr, true));
    }
    values.cluster(values.add("value", call.arg->type, nullptr, true));
    values.add("count", kBigInt, nullptr, true);
    add_table(values);
    known = sums.value_sets.end() - 1;
  }
  sums.columns.emplace_back().kind = SumColumn::Kind::Derived;
  int column = sums.table.add("value" + std::to_string(sums.columns.size()), type, nullptr, true);
  pb::DerivedColumn& derived = *sums.table.definition().add_derived();
  derived.set_column(static_cast<uint32_t>(column));
  derived.set_kind(kind);
  derived.set_multiset(known->table.value);
  return column;
}

// What the aggregate adds to, and how its value is read from it.
SqlStatus ViewPlanner::add_aggregate(const AggregateCall& call_, Sums& sums, ExpressionPtr& read) {
  const Expression* arg = call_.arg.get();
  const Expression* filter = call_.filter.get();
  auto column = [&](int index) { return sums.table.column(index); };
  auto count_values = [&] {
    return column(sum_column(sums, SumColumn::Kind::NonNull, kBigInt, arg, filter));
  };
  const bool counts_distinct = call_.kind == AggregateKind::Count && call_.distinct;
  const bool needs_sum = call_.kind == AggregateKind::Sum || call_.kind == AggregateKind::Average;
  if (needs_sum && call_.distinct) {
    return refuse("sum and avg of distinct values are not kept by materialized views",
                  "Group by the value in a view of its own, and aggregate that.", call_.location);
  }
  if (needs_sum && arg->type.kind == TypeKind::Double) {
    return refuse("sums of double precision can not be kept exactly", "Cast the argument to numeric.",
                  call_.location);
  }
  switch (call_.kind) {
    case AggregateKind::StringAgg:
      return refuse("string_agg is not kept by materialized views",
                    "Use it in queries of the view: SELECT string_agg(...) FROM view.", call_.location);
    case AggregateKind::CountRows:
      if (filter == nullptr && !sums.pinned) {
        read = column(sums.first - 1);
      } else {
        ExpressionPtr rows = column(sum_column(sums, SumColumn::Kind::Rows, kBigInt, nullptr, filter));
        read = std::move(rows);
      }
      return {};
    case AggregateKind::Count:
      read = counts_distinct ? column(value_column(sums, pb::DerivedColumn::COUNT_DISTINCT, kBigInt, call_))
                             : count_values();
      return {};
    case AggregateKind::Sum: {
      ExpressionPtr sum = column(sum_column(sums, SumColumn::Kind::Sum, kNumeric, arg, filter));
      read = if_any(count_values(), cast_to(std::move(sum), call_.type));
      return {};
    }
    case AggregateKind::Average: {
      ExpressionPtr sum = column(sum_column(sums, SumColumn::Kind::Sum, kNumeric, arg, filter));
      ExpressionPtr mean = call("/", list(std::move(sum), cast_to(count_values(), kNumeric)));
      read = if_any(count_values(), std::move(mean));
      return {};
    }
    case AggregateKind::Min:
      read = column(value_column(sums, pb::DerivedColumn::MIN, call_.type, call_));
      return {};
    case AggregateKind::Max:
      read = column(value_column(sums, pb::DerivedColumn::MAX, call_.type, call_));
      return {};
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr: {
      const bool is_and = call_.kind == AggregateKind::BoolAnd;
      ExpressionPtr wanted = clone(*arg);
      if (is_and) wanted = make_operation(ExpressionKind::Not, kBoolean, list(std::move(wanted)), -1);
      ExpressionPtr counted = both(filter != nullptr ? clone(*filter) : nullptr, std::move(wanted));
      ExpressionPtr count = column(sum_column(sums, SumColumn::Kind::Rows, kBigInt, nullptr, counted.get()));
      read = if_any(count_values(), call(is_and ? "=" : ">", list(std::move(count), big(0))));
      return {};
    }
  }
  TM_UNREACHABLE();
}

ViewPlanner::BoundKept ViewPlanner::keep_aggregate(const Relation& relation, const Needed& needed, TableId id,
                                                   pb::TableKind kind) {
  return keep_groups({*relation.inputs[0], relation.columns, relation.expressions, relation.aggregates},
                     needed, id, kind);
}

// Distinct rows are groups without aggregates.
ViewPlanner::BoundKept ViewPlanner::keep_distinct(const Relation& relation, TableId id, pb::TableKind kind) {
  const std::vector<AggregateCall> none;
  std::vector<ExpressionPtr> groups;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    groups.push_back(make_column(static_cast<int>(i), relation.columns[i].type));
  }
  return keep_groups({*relation.inputs[0], relation.columns, groups, none},
                     Needed(relation.columns.size(), true), id, kind);
}

ViewPlanner::BoundKept ViewPlanner::keep_groups(const Grouping& by, const Needed& needed, TableId id,
                                                pb::TableKind kind) {
  Sums sums(id, kind);
  sums.groups = by.groups.size();
  sums.pinned = sums.groups == 0;
  Needed below(by.input.columns.size(), false);
  auto use = [&](const ExpressionPtr& expression) {
    if (!expression) return;
    for_each_column(std::as_const(*expression),
                    [&](int column) { below[static_cast<size_t>(column)] = true; });
  };
  Kept kept{id, {}};
  for (size_t i = 0; i < sums.groups; ++i) {
    const RelationColumn& column = by.columns[i];
    use(by.groups[i]);
    sums.group_types.push_back(column.type);
    int place = sums.table.add(column.name, column.type, nullptr, false);
    sums.table.distribute(place);
    kept.read.columns.push_back({column.name, column.type});
    kept.read.expressions.push_back(sums.table.column(place));
  }
  sums.first = sums.table.add("rows", kBigInt, nullptr, true) + 1;
  for (size_t i = 0; i < by.aggregates.size(); ++i) {
    const AggregateCall& call = by.aggregates[i];
    const RelationColumn& column = by.columns[sums.groups + i];
    kept.read.columns.push_back({column.name, column.type});
    kept.read.expressions.emplace_back();
    if (!needed[sums.groups + i]) continue;
    use(call.arg);
    use(call.filter);
    SqlStatus added = add_aggregate(call, sums, kept.read.expressions.back());
    if (!added.ok()) return added.error();
  }
  add_table(sums.table);
  TM_SQL_ASSIGN(Streams streams, streams_of(by.input, below));
  for (Stream& stream : streams) {
    auto over_stream = [&](const ExpressionPtr& expression) {
      return expression ? substitute(*expression, stream.columns) : nullptr;
    };
    SinkPlan sink;
    sink.kind = SinkKind::Aggregate;
    sink.table = id;
    sink.pinned = sums.pinned;
    for (const ExpressionPtr& group : by.groups) sink.columns.push_back(over_stream(group));
    for (const SumColumn& sum : sums.columns) {
      sink.sums.push_back({sum.kind, over_stream(sum.arg), over_stream(sum.filter)});
    }
    for (const ValueSet& set : sums.value_sets) {
      sink.value_sets.push_back({set.table, over_stream(set.arg), over_stream(set.filter)});
    }
    add_flow(std::move(stream), std::move(sink));
  }
  return kept;
}

}  // namespace tidemark::sql
