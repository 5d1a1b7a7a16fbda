// Joins: both sides are kept, re-keyed by the join key, in one region; a change of one comes with the matches
// of the other.
#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"
#include "sql/plan/expressions.h"
#include "sql/plan/view_planner.h"

namespace tidemark::sql {

struct ViewPlanner::Side {
  Stream stream;
  std::vector<ExpressionPtr> keys;  // Of the join, over the stream's source.
  ExpressionPtr condition;          // Rows that do not pass have no partner.
  bool nulls_meet = false;          // NULL keys are equal to each other.
  TableId table;
  std::vector<int> columns;    // Where each column of the stream is in the side's table; -1: nowhere.
  std::vector<int> identity;   // And what identifies its rows.
  std::vector<SqlType> types;  // Of the side's columns.
};

namespace {

enum class Uses : uint8_t { Neither, Left, Right, Both };

Uses uses_of(const Expression& expression, int left_columns) {
  bool left = false, right = false;
  for_each_column(expression, [&](int column) { (column < left_columns ? left : right) = true; });
  return left && right ? Uses::Both : left ? Uses::Left : right ? Uses::Right : Uses::Neither;
}

ExpressionPtr test(ExpressionKind kind, const Expression& of, bool negated) {
  std::vector<ExpressionPtr> args;
  args.push_back(clone(of));
  ExpressionPtr made = make_operation(kind, SqlType::of(TypeKind::Boolean), std::move(args), -1);
  made->negated = negated;
  return made;
}

Stream copy_of(const Stream& stream) {
  auto copy = [](const ExpressionPtr& expression) { return expression ? clone(*expression) : nullptr; };
  Stream out;
  out.source = stream.source;
  out.table = stream.table;
  out.left = stream.left;
  out.right = stream.right;
  out.outer = stream.outer;
  for (const ExpressionPtr& column : stream.columns) out.columns.push_back(copy(column));
  out.filter = copy(stream.filter);
  out.identity = clone_all(stream.identity);
  out.identity_distribution = stream.identity_distribution;
  return out;
}

// What stands for its columns where there is no partner.
std::vector<ExpressionPtr> nulls_of(const Stream& stream) {
  std::vector<ExpressionPtr> out;
  for (const ExpressionPtr& column : stream.columns) {
    out.push_back(column ? make_constant(Value(), column->type) : nullptr);
  }
  return out;
}

}  // namespace

ViewPlanner::BoundStreams ViewPlanner::join(const Relation& relation, const Needed& needed) {
  const Relation &left_input = *relation.inputs[0], &right_input = *relation.inputs[1];
  const size_t left_count = left_input.columns.size();
  Needed below = needed;
  if (relation.condition) {
    for_each_column(std::as_const(*relation.condition),
                    [&](int column) { below[static_cast<size_t>(column)] = true; });
  }
  const auto middle = below.begin() + static_cast<std::ptrdiff_t>(left_count);
  Side left, right;
  TM_SQL_ASSIGN(left.stream, simple_stream(left_input, Needed(below.begin(), middle)));
  TM_SQL_ASSIGN(right.stream, simple_stream(right_input, Needed(middle, below.end())));

  std::vector<ExpressionPtr> conjuncts, residual;
  if (relation.condition) split_conjuncts(clone(*relation.condition), conjuncts);
  const int split = static_cast<int>(left_count);
  auto of_left = [&](const Expression& e) { return substitute(e, left.stream.columns); };
  auto of_right = [&](const Expression& e) { return substitute(*shifted(e, -split), right.stream.columns); };
  for (ExpressionPtr& conjunct : conjuncts) {
    const Uses uses = uses_of(*conjunct, split);
    if (uses == Uses::Both && conjunct->kind == ExpressionKind::Call && conjunct->function->name == "=" &&
        conjunct->args[0]->type.kind == conjunct->args[1]->type.kind) {
      const Expression *a = conjunct->args[0].get(), *b = conjunct->args[1].get();
      if (uses_of(*a, split) == Uses::Right) std::swap(a, b);
      if (uses_of(*a, split) == Uses::Left && uses_of(*b, split) == Uses::Right) {
        left.keys.push_back(of_left(*a));
        right.keys.push_back(of_right(*b));
        continue;
      }
    }
    if (uses == Uses::Right) {
      right.condition = both(std::move(right.condition), of_right(*conjunct));
    } else if (uses == Uses::Both) {
      residual.push_back(std::move(conjunct));
    } else {
      left.condition = both(std::move(left.condition), of_left(*conjunct));
    }
  }
  if (left.keys.empty()) {
    return refuse("a join in a materialized view needs an equality between its two sides",
                  "Add a condition such as a.id = b.a_id.");
  }
  const bool outer = relation.join == RelationJoin::Left;
  if (outer && !residual.empty()) {
    return make_outer_join(std::move(left), std::move(right), join_conjuncts(std::move(residual)));
  }
  return make_join(std::move(left), std::move(right), outer, join_conjuncts(std::move(residual)));
}

// A left join whose condition looks at pairs: whether a left row has a partner is known only when its pairs
// have been tried. They are counted per left row, and the left rows without a count are those without
// partner.
ViewPlanner::BoundStreams ViewPlanner::make_outer_join(Side left, Side right, ExpressionPtr residual) {
  Side all;
  all.stream = copy_of(left.stream);
  std::vector<ExpressionPtr> nulls = nulls_of(right.stream);
  const size_t identity = left.stream.identity.size();
  TM_SQL_ASSIGN(Streams pairs, make_join(std::move(left), std::move(right), false, std::move(residual)));

  Side counts;
  counts.stream = count_pairs(copy_of(pairs.front()), identity);
  // What identifies a row may be NULL, and is the same then: no key is left out, so no row is without a side.
  all.keys = clone_all(all.stream.identity);
  counts.keys = clone_all(counts.stream.identity);
  all.nulls_meet = counts.nulls_meet = true;
  TM_SQL_ASSIGN(Streams alone, make_join(std::move(all), std::move(counts), true, nullptr));
  TM_ASSERT(alone.size() == 1, alone.size());
  Stream& without = alone.front();
  ExpressionPtr count = std::move(without.columns.back());
  without.columns.pop_back();
  without.filter = test(ExpressionKind::IsNull, *count, false);
  for (ExpressionPtr& null : nulls) without.columns.push_back(std::move(null));
  pairs.push_back(std::move(without));
  return pairs;
}

// How many pairs there are for each left row, by the first `identity` columns of what identifies a pair.
Stream ViewPlanner::count_pairs(Stream pairs, size_t identity) {
  TableBuilder table(take_id(), pb::AUXILIARY, pb::SUM);
  SinkPlan sink;
  sink.kind = SinkKind::Aggregate;
  sink.table = TableId{table.definition().id()};
  Kept kept{sink.table, {}};
  for (size_t i = 0; i < identity; ++i) {
    const int place = table.add("key", pairs.identity[i]->type, nullptr, true);
    table.distribute(place);
    sink.columns.push_back(clone(*pairs.identity[i]));
  }
  kept.read.expressions.push_back(
      table.column(table.add("rows", SqlType::of(TypeKind::BigInt), nullptr, true)));
  add_table(table);
  add_flow(std::move(pairs), std::move(sink));
  return stream_of(kept);
}

bool ViewPlanner::is_base_table(TableId table) const {
  StoredTablePtr found = options_.find_table(table);
  return found && (found->definition.kind() == pb::MANAGED || found->definition.kind() == pb::EXTERNAL);
}

// The side's table: join key, then what identifies the row, then the other columns that somebody needs.
TableId ViewPlanner::make_side(Side& side) {
  side.table = take_id();
  TableBuilder table(side.table, pb::AUXILIARY, pb::JOIN_SIDE);
  for (const ExpressionPtr& key : side.keys) {
    table.distribute(table.add("join", key->type, clone(*key), true));
  }
  for (const ExpressionPtr& part : side.stream.identity) {
    side.identity.push_back(table.find_or_add("key", *part));
    if (!table.in_key(side.identity.back())) table.cluster(side.identity.back());
  }
  for (const ExpressionPtr& column : side.stream.columns) {
    side.columns.push_back(column ? table.find(*column) : -1);
    if (column && side.columns.back() < 0) {
      side.columns.back() = table.add("column", column->type, clone(*column), true);
    }
  }
  for (int i = 0; i < table.definition().columns_size(); ++i) side.types.push_back(table.column(i)->type);
  SinkPlan sink;
  sink.table = side.table;
  sink.columns = table.take_expressions();
  sink.key_columns_not_null = side.nulls_meet ? 0 : static_cast<uint32_t>(side.keys.size());
  add_table(table);

  Stream stream;
  stream.table = side.stream.table;
  if (side.stream.filter) stream.filter = clone(*side.stream.filter);
  if (side.condition) stream.filter = both(std::move(stream.filter), clone(*side.condition));
  stream.identity = clone_all(side.stream.identity);
  add_flow(std::move(stream), std::move(sink));
  return side.table;
}

ViewPlanner::BoundStreams ViewPlanner::make_join(Side left, Side right, bool outer, ExpressionPtr residual) {
  make_side(left);
  make_side(right);
  tables_[left.table.value].set_partner(right.table.value);
  tables_[right.table.value].set_partner(left.table.value);
  const int width = static_cast<int>(left.types.size());
  auto left_column = [&](int i) { return make_column(i, left.types[static_cast<size_t>(i)]); };
  auto right_column = [&](int i) { return make_column(width + i, right.types[static_cast<size_t>(i)]); };

  auto pairs = [&] {
    Stream stream;
    stream.left = left.table;
    stream.right = right.table;
    stream.outer = outer;
    for (int i : left.columns) stream.columns.push_back(i < 0 ? nullptr : left_column(i));
    for (int i : right.columns) stream.columns.push_back(i < 0 ? nullptr : right_column(i));
    for (int i : left.identity) stream.identity.push_back(left_column(i));
    for (int i : right.identity) {
      if (!TM_MUTATION("join row keyed by one side")) stream.identity.push_back(right_column(i));
    }
    stream.identity_distribution = stream.identity.size();
    // The same two rows may meet under another key later, from another lane: the key tells them apart.
    for (size_t i = 0; i < left.keys.size(); ++i) {
      if (!TM_MUTATION("join row without the join key"))
        stream.identity.push_back(left_column(static_cast<int>(i)));
    }
    if (outer && !is_base_table(right.stream.table)) {
      // What identifies a partner may be NULL, or nothing at all: its join key tells it from no partner.
      stream.identity.push_back(right_column(0));
    }
    if (residual) stream.filter = substitute(*residual, stream.columns);
    return stream;
  };
  Streams out;
  out.push_back(pairs());
  out.back().source = FlowSource::Join;
  if (!outer || (left.nulls_meet && !left.condition)) return out;

  // Left rows that can have no partner do not go through the side: NULL keys would all meet in one place. If
  // one fails, this flow reports it, too: the side does not see rows that its condition leaves out.
  ExpressionPtr without = nullptr;
  auto or_else = [&](ExpressionPtr more) {
    if (!without) {
      without = std::move(more);
      return;
    }
    std::vector<ExpressionPtr> args;
    args.push_back(std::move(without));
    args.push_back(std::move(more));
    without = make_operation(ExpressionKind::Or, SqlType::of(TypeKind::Boolean), std::move(args), -1);
  };
  if (left.condition) or_else(test(ExpressionKind::IsTruth, *left.condition, true));
  for (const ExpressionPtr& key : left.keys) or_else(test(ExpressionKind::IsNull, *key, false));
  // What identifies them is the left row alone: its join key may change with the row.
  Stream alone;
  alone.table = left.stream.table;
  for (const ExpressionPtr& column : left.stream.columns) {
    alone.columns.push_back(column ? clone(*column) : nullptr);
  }
  for (ExpressionPtr& null : nulls_of(right.stream)) alone.columns.push_back(std::move(null));
  alone.filter = both(left.stream.filter ? clone(*left.stream.filter) : nullptr, std::move(without));
  alone.identity = clone_all(left.stream.identity);
  alone.identity_distribution = alone.identity.size();
  out.push_back(std::move(alone));
  return out;
}

}  // namespace tidemark::sql
