// Conditions go down to where their columns come from; keys are found in them.
#include <algorithm>
#include <functional>

#include "sql/bind/relation.h"
#include "sql/bind/simplify.h"

namespace tidemark::sql {
namespace {

using Conjuncts = std::vector<ExpressionPtr>;

RelationPtr filtered(RelationPtr relation, Conjuncts conjuncts) {
  if (conjuncts.empty()) return relation;
  auto out = make_relation(RelationKind::Filter, std::move(relation));
  out->condition = join_conjuncts(std::move(conjuncts));
  return out;
}

// Takes out the conjuncts that use only columns in [begin, end), moved to start at 0.
Conjuncts take_of(Conjuncts& conjuncts, int begin, int end) {
  Conjuncts out;
  for (ExpressionPtr& conjunct : conjuncts) {
    bool inside = has_columns(*conjunct) && volatility_of(*conjunct) != Volatility::Volatile;
    for_each_column(std::as_const(*conjunct),
                    [&](int index) { inside = inside && index >= begin && index < end; });
    if (!inside) continue;
    for_each_column(*conjunct, [begin](int& index) { index -= begin; });
    out.push_back(std::move(conjunct));
  }
  std::erase(conjuncts, nullptr);
  return out;
}

void substitute(ExpressionPtr& expression, const std::vector<ExpressionPtr>& columns) {
  if (expression->kind == ExpressionKind::Column) {
    expression = clone(*columns[expression->index]);
    return;
  }
  for (ExpressionPtr& arg : expression->args) substitute(arg, columns);
}

// Whether a conjunct may be computed below the projection: what it uses is cheap to compute again.
bool may_pass(const Expression& conjunct, const std::vector<ExpressionPtr>& columns) {
  bool out = true;
  for_each_column(conjunct, [&](int index) {
    const ExpressionKind kind = columns[index]->kind;
    out = out && (kind == ExpressionKind::Column || kind == ExpressionKind::Constant ||
                  kind == ExpressionKind::Param);
  });
  return out;
}

// A value that is the same for all rows, for `column`: column = value.
const Expression* equal_to(const Expression& conjunct, int column, TypeKind kind) {
  if (conjunct.kind != ExpressionKind::Call || conjunct.function->name != "=") return nullptr;
  for (int side = 0; side < 2; ++side) {
    const Expression& here = *conjunct.args[side];
    const Expression& other = *conjunct.args[1 - side];
    const bool is_it = here.kind == ExpressionKind::Column && here.index == column;
    if (is_it && other.type.kind == kind && !has_columns(other) &&
        volatility_of(other) != Volatility::Volatile) {
      return &other;
    }
  }
  return nullptr;
}

void find_key(Relation& scan, const Conjuncts& conjuncts) {
  scan.key_prefix.clear();
  for (int column : scan.table->key_columns()) {
    const Expression* value = nullptr;
    for (const ExpressionPtr& conjunct : conjuncts) {
      if (value == nullptr) value = equal_to(*conjunct, column, scan.table->columns[column].type.kind);
    }
    if (value == nullptr) return;
    scan.key_prefix.push_back(clone(*value));
  }
}

RelationPtr push(RelationPtr relation, Conjuncts conjuncts);

RelationPtr push_project(RelationPtr relation, Conjuncts conjuncts) {
  Conjuncts below, above;
  for (ExpressionPtr& conjunct : conjuncts) {
    if (!may_pass(*conjunct, relation->expressions)) {
      above.push_back(std::move(conjunct));
      continue;
    }
    substitute(conjunct, relation->expressions);
    below.push_back(std::move(conjunct));
  }
  relation->inputs[0] = push(std::move(relation->inputs[0]), std::move(below));
  return filtered(std::move(relation), std::move(above));
}

RelationPtr push_join(RelationPtr relation, Conjuncts conjuncts) {
  const int split = static_cast<int>(relation->inputs[0]->columns.size());
  const int width = static_cast<int>(relation->columns.size());
  const bool inner = relation->join == RelationJoin::Inner;
  if (inner && relation->condition != nullptr) {
    split_conjuncts(std::move(relation->condition), conjuncts);
  }
  Conjuncts left = take_of(conjuncts, 0, split), right;
  if (inner) {
    right = take_of(conjuncts, split, width);
    relation->condition = join_conjuncts(std::move(conjuncts));
    conjuncts.clear();
  } else if (relation->condition != nullptr) {
    // Of a left join's own condition, what is about the right side alone.
    Conjuncts own;
    split_conjuncts(std::move(relation->condition), own);
    right = take_of(own, split, width);
    relation->condition = join_conjuncts(std::move(own));
  }
  relation->inputs[0] = push(std::move(relation->inputs[0]), std::move(left));
  relation->inputs[1] = push(std::move(relation->inputs[1]), std::move(right));
  return filtered(std::move(relation), std::move(conjuncts));
}

// Below a column that is added at the end goes what does not use it.
RelationPtr push_added(RelationPtr relation, Conjuncts conjuncts) {
  const int added = static_cast<int>(relation->columns.size()) - 1;
  Conjuncts below = take_of(conjuncts, 0, added);
  relation->inputs[0] = push(std::move(relation->inputs[0]), std::move(below));
  if (relation->kind == RelationKind::Apply) relation->inputs[1] = push(std::move(relation->inputs[1]), {});
  return filtered(std::move(relation), std::move(conjuncts));
}

// row_number <= k, in any of the ways to write it.
void find_top(Relation& relation, const Conjuncts& conjuncts) {
  const int rank = static_cast<int>(relation.columns.size()) - 1;
  for (const ExpressionPtr& e : conjuncts) {
    if (e->kind != ExpressionKind::Call || e->args.size() != 2) continue;
    const Expression &left = *e->args[0], &right = *e->args[1];
    if (left.kind != ExpressionKind::Column || left.index != rank || right.kind != ExpressionKind::Constant)
      continue;
    if (right.constant.get().is_null() || right.constant.get().kind() != TypeKind::BigInt) continue;
    const std::string_view op = e->function->name;
    if (op != "<=" && op != "=" && op != "<") continue;
    const int64_t limit = std::max<int64_t>(right.constant.get().as_int() - (op == "<" ? 1 : 0), 0);
    relation.top_limit = std::min(relation.top_limit.value_or(INT64_MAX), limit);
  }
}

RelationPtr push(RelationPtr relation, Conjuncts conjuncts) {
  switch (relation->kind) {
    case RelationKind::Filter:
      split_conjuncts(std::move(relation->condition), conjuncts);
      return push(std::move(relation->inputs[0]), std::move(conjuncts));
    case RelationKind::Project: return push_project(std::move(relation), std::move(conjuncts));
    case RelationKind::Join: return push_join(std::move(relation), std::move(conjuncts));
    case RelationKind::Scan:
      find_key(*relation, conjuncts);
      return filtered(std::move(relation), std::move(conjuncts));
    case RelationKind::Sort:
    case RelationKind::Distinct:
      relation->inputs[0] = push(std::move(relation->inputs[0]), std::move(conjuncts));
      return relation;
    case RelationKind::UnionAll:
      for (RelationPtr& input : relation->inputs) {
        Conjuncts copies;
        for (const ExpressionPtr& conjunct : conjuncts) copies.push_back(clone(*conjunct));
        input = push(std::move(input), std::move(copies));
      }
      return relation;
    case RelationKind::Apply:
    case RelationKind::Expand: return push_added(std::move(relation), std::move(conjuncts));
    case RelationKind::TopK: find_top(*relation, conjuncts); [[fallthrough]];
    case RelationKind::Values:
    case RelationKind::Aggregate:
    case RelationKind::Limit:
      for (RelationPtr& input : relation->inputs) input = push(std::move(input), {});
      return filtered(std::move(relation), std::move(conjuncts));
  }
  TM_UNREACHABLE();
}

void for_each_expression(const Relation& relation, const std::function<void(const Expression&)>& visit) {
  if (relation.condition != nullptr) visit(*relation.condition);
  for (const ExpressionPtr& e : relation.expressions) visit(*e);
  for (const SortKey& key : relation.order) visit(*key.expression);
  for (const AggregateCall& call : relation.aggregates) {
    if (call.arg != nullptr) visit(*call.arg);
    if (call.filter != nullptr) visit(*call.filter);
  }
  for (const auto& row : relation.rows) {
    for (const ExpressionPtr& e : row) visit(*e);
  }
  for (const RelationPtr& input : relation.inputs) for_each_expression(*input, visit);
}

}  // namespace

void simplify_expressions(Relation& relation) {
  const auto take = [](ExpressionPtr& e) {
    if (e != nullptr) e = simplify(std::move(e));
  };
  take(relation.condition);
  for (ExpressionPtr& e : relation.expressions) take(e);
  for (SortKey& key : relation.order) take(key.expression);
  for (AggregateCall& call : relation.aggregates) {
    take(call.arg);
    take(call.filter);
  }
  for (auto& row : relation.rows) {
    for (ExpressionPtr& e : row) take(e);
  }
  for (RelationPtr& input : relation.inputs) simplify_expressions(*input);
}

RelationPtr optimize(RelationPtr relation) {
  simplify_expressions(*relation);
  return push(std::move(relation), {});
}

Volatility volatility_of(const Relation& relation) {
  Volatility out = Volatility::Immutable;
  for_each_expression(relation, [&out](const Expression& e) { out = std::max(out, volatility_of(e)); });
  return out;
}

}  // namespace tidemark::sql
