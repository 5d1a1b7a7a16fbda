#include "sql/expr/expression.h"

#include <algorithm>

namespace tidemark::sql {

ExpressionPtr make_constant(const Value& value, SqlType type, int location) {
  auto out = std::make_unique<Expression>();
  out->constant = OwnedValue(value);
  out->type = type;
  out->location = location;
  return out;
}

ExpressionPtr make_column(int index, SqlType type, int location) {
  auto out = std::make_unique<Expression>();
  out->kind = ExpressionKind::Column;
  out->index = index;
  out->type = type;
  out->location = location;
  return out;
}

ExpressionPtr make_call(const Function* function, std::vector<ExpressionPtr> args, int location) {
  auto out = make_operation(ExpressionKind::Call, SqlType::of(function->result), std::move(args), location);
  out->function = function;
  return out;
}

ExpressionPtr make_operation(ExpressionKind kind, SqlType type, std::vector<ExpressionPtr> args,
                             int location) {
  auto out = std::make_unique<Expression>();
  out->kind = kind;
  out->type = type;
  out->location = location;
  out->args = std::move(args);
  return out;
}

ExpressionPtr clone(const Expression& expression) {
  auto out = std::make_unique<Expression>();
  out->kind = expression.kind;
  out->type = expression.type;
  out->location = expression.location;
  out->index = expression.index;
  out->negated = expression.negated;
  out->explicit_cast = expression.explicit_cast;
  out->truth = expression.truth;
  out->context = expression.context;
  out->constant = expression.constant;
  out->function = expression.function;
  for (const ExpressionPtr& arg : expression.args) out->args.push_back(clone(*arg));
  return out;
}

namespace {

bool is_same_constant(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  return a.is_null() || to_text(a) == to_text(b);
}

}  // namespace

bool is_same(const Expression& a, const Expression& b) {
  if (a.kind != b.kind || a.type != b.type || a.index != b.index || a.negated != b.negated ||
      a.truth != b.truth || a.function != b.function || a.args.size() != b.args.size()) {
    return false;
  }
  if (a.kind == ExpressionKind::Constant && !is_same_constant(a.constant.get(), b.constant.get()))
    return false;
  return std::equal(a.args.begin(), a.args.end(), b.args.begin(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return is_same(*x, *y); });
}

Volatility volatility_of(const Expression& expression) {
  Volatility out = expression.function != nullptr ? expression.function->volatility : Volatility::Immutable;
  for (const ExpressionPtr& arg : expression.args) out = std::max(out, volatility_of(*arg));
  return out;
}

void for_each_column(Expression& expression, const std::function<void(int&)>& visit) {
  if (expression.kind == ExpressionKind::Column) visit(expression.index);
  for (ExpressionPtr& arg : expression.args) for_each_column(*arg, visit);
}

void for_each_column(const Expression& expression, const std::function<void(int)>& visit) {
  if (expression.kind == ExpressionKind::Column) visit(expression.index);
  for (const ExpressionPtr& arg : expression.args) for_each_column(std::as_const(*arg), visit);
}

bool has_columns(const Expression& expression) {
  bool found = false;
  for_each_column(expression, [&found](int) { found = true; });
  return found;
}

void split_conjuncts(ExpressionPtr condition, std::vector<ExpressionPtr>& out) {
  if (condition->kind != ExpressionKind::And) {
    out.push_back(std::move(condition));
    return;
  }
  for (ExpressionPtr& arg : condition->args) split_conjuncts(std::move(arg), out);
}

ExpressionPtr join_conjuncts(std::vector<ExpressionPtr> conjuncts) {
  if (conjuncts.empty()) return nullptr;
  if (conjuncts.size() == 1) return std::move(conjuncts[0]);
  return make_operation(ExpressionKind::And, SqlType::of(TypeKind::Boolean), std::move(conjuncts), -1);
}

}  // namespace tidemark::sql
