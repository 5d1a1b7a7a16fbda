// The first rows of each group: a multiset of all of them in order, of which the region keeps the first in a
// TOP table of the same keys.
#include "sql/plan/expressions.h"
#include "sql/plan/view_planner.h"
#include "sql/types/key_encoding.h"

namespace tidemark::sql {

namespace {

// A multiset's rows are keys, and what is in a key forgets in what equal values differ: those that do are
// kept as text. Gives what reads the value.
ExpressionPtr keep_in_key(const std::string& name, const Expression& value, TableBuilder& table) {
  const TypeKind kind = value.type.kind;
  const bool as_text = has_equal_values_that_differ(kind);
  auto cast = [](TypeKind from, TypeKind to, ExpressionPtr expression) {
    std::vector<ExpressionPtr> args;
    args.push_back(std::move(expression));
    return make_call(find_cast(from, to), std::move(args), -1);
  };
  ExpressionPtr kept = as_text ? cast(kind, TypeKind::Text, clone(value)) : clone(value);
  const int place = table.find_or_add(name, *kept);
  if (!table.in_key(place)) table.cluster(place);
  return as_text ? cast(TypeKind::Text, kind, table.column(place)) : table.column(place);
}

}  // namespace

ExpressionPtr ViewPlanner::without_rank_bound(const Expression& condition, const Relation& input) {
  if (input.kind != RelationKind::TopK || !input.top_limit) return clone(condition);
  const int rank = static_cast<int>(input.columns.size()) - 1;
  std::vector<ExpressionPtr> conjuncts;
  split_conjuncts(clone(condition), conjuncts);
  std::erase_if(conjuncts, [&](const ExpressionPtr& e) {
    if (e->kind != ExpressionKind::Call || e->args.size() != 2) return false;
    const Expression &column = *e->args[0], &bound = *e->args[1];
    if (column.kind != ExpressionKind::Column || column.index != rank) return false;
    if (bound.kind != ExpressionKind::Constant || bound.constant.get().kind() != TypeKind::BigInt)
      return false;
    const int64_t value = bound.constant.get().as_int(), limit = *input.top_limit;
    const std::string_view op = e->function->name;
    return (op == "<=" && value >= limit) || (op == "<" && value > limit) ||
           (op == "=" && value == 1 && limit == 1);
  });
  return join_conjuncts(std::move(conjuncts));
}

ViewPlanner::BoundKept ViewPlanner::keep_top(const Relation& relation, const Needed& needed, TableId id,
                                             pb::TableKind kind) {
  if (!relation.top_limit) {
    return refuse("row_number() in a materialized view needs a bound",
                  "Select from it with a condition such as row_number <= 10.");
  }
  if (needed.back()) {
    return refuse("the number of a row can not be kept by a materialized view",
                  "Leave row_number out of the select list: only its bound is kept.");
  }
  TopQuery top{relation.inputs[0].get(), &relation.expressions, &relation.order, *relation.top_limit};
  return keep_first(top, Needed(needed.begin(), needed.end() - 1), id, kind);
}

ViewPlanner::BoundKept ViewPlanner::keep_limit(const Relation& relation, const Needed& needed, TableId id,
                                               pb::TableKind kind) {
  const Relation* sort = relation.inputs[0].get();
  const bool constant = relation.limit && relation.limit->kind == ExpressionKind::Constant &&
                        !relation.limit->constant.get().is_null();
  if (relation.offset || !constant || sort->kind != RelationKind::Sort) {
    return refuse("LIMIT in a materialized view needs ORDER BY and a constant, and takes no OFFSET");
  }
  TopQuery top{sort->inputs[0].get(), nullptr, &sort->order, relation.limit->constant.get().as_int()};
  return keep_first(top, needed, id, kind);
}

ViewPlanner::BoundKept ViewPlanner::keep_first(const TopQuery& top, const Needed& needed, TableId id,
                                               pb::TableKind kind) {
  constexpr int64_t kTopMax = 10'000;
  if (top.limit < 1 || top.limit > kTopMax) {
    return refuse("a materialized view keeps between 1 and " + std::to_string(kTopMax) + " first rows");
  }
  Needed below = needed;
  auto use = [&](const Expression& expression) {
    for_each_column(expression, [&](int column) { below[static_cast<size_t>(column)] = true; });
  };
  if (top.groups != nullptr) {
    for (const ExpressionPtr& group : *top.groups) use(*group);
  }
  for (const SortKey& key : *top.order) {
    if (key.nulls_first != key.descending) {
      return refuse("NULLS FIRST and NULLS LAST against the order are not kept by materialized views");
    }
    use(*key.expression);
  }
  TM_SQL_ASSIGN(Stream stream, simple_stream(*top.input, below));
  const TableId values = take_id();
  TableBuilder table(values, pb::AUXILIARY, pb::MULTISET);
  auto over_stream = [&](const Expression& expression) { return substitute(expression, stream.columns); };
  if (top.groups != nullptr) {
    for (const ExpressionPtr& group : *top.groups) {
      table.distribute(table.add("group", group->type, over_stream(*group), true));
    }
  }
  for (const SortKey& key : *top.order) {
    ExpressionPtr expression = over_stream(*key.expression);
    if (table.find(*expression) >= 0) continue;  // A group's own column orders nothing.
    table.cluster(table.add("order", key.expression->type, std::move(expression), true), key.descending);
  }
  for (const ExpressionPtr& part : stream.identity) {  // Ties are settled by key.
    int column = table.find_or_add("key", *part);
    if (!table.in_key(column)) table.cluster(column);
  }
  Kept kept{id, {}};
  for (size_t i = 0; i < top.input->columns.size(); ++i) {
    const RelationColumn& column = top.input->columns[i];
    kept.read.columns.push_back({column.name, column.type});
    kept.read.expressions.emplace_back();
    if (!needed[i]) continue;
    kept.read.expressions.back() = keep_in_key(column.name, *stream.columns[i], table);
  }
  kept.read.columns.push_back({"row_number", SqlType::of(TypeKind::BigInt)});
  kept.read.expressions.emplace_back();
  if (top.groups == nullptr) {  // LIMIT has no such column.
    kept.read.columns.pop_back();
    kept.read.expressions.pop_back();
  }
  table.add("count", SqlType::of(TypeKind::BigInt), nullptr, true);

  pb::TableDefinition first = table.definition();
  first.set_id(id.value);
  first.set_kind(kind);
  first.set_row_rule(pb::TOP);
  first.set_top_of(values.value);
  first.set_top_limit(static_cast<uint32_t>(top.limit));
  tables_[id.value] = std::move(first);

  SinkPlan sink;
  sink.kind = SinkKind::Multiset;
  sink.table = values;
  sink.columns = table.take_expressions();
  sink.columns.pop_back();
  add_table(table);
  add_flow(std::move(stream), std::move(sink));
  return kept;
}

}  // namespace tidemark::sql
