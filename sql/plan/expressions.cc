#include "sql/plan/expressions.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "sql/expr/function.h"

namespace tidemark::sql {

ExpressionPtr substitute(const Expression& expression, std::span<const ExpressionPtr> columns) {
  if (expression.kind == ExpressionKind::Column) {
    TM_ASSERT(static_cast<size_t>(expression.index) < columns.size(), expression.index);
    return clone(*columns[static_cast<size_t>(expression.index)]);
  }
  ExpressionPtr out = clone(expression);
  for (size_t i = 0; i < out->args.size(); ++i) out->args[i] = substitute(*expression.args[i], columns);
  return out;
}

ExpressionPtr shifted(const Expression& expression, int by) {
  ExpressionPtr out = clone(expression);
  for_each_column(*out, [by](int& column) { column += by; });
  return out;
}

std::vector<ExpressionPtr> clone_all(std::span<const ExpressionPtr> expressions) {
  std::vector<ExpressionPtr> out;
  for (const ExpressionPtr& expression : expressions) out.push_back(clone(*expression));
  return out;
}

ExpressionPtr both(ExpressionPtr a, ExpressionPtr b) {
  std::vector<ExpressionPtr> conjuncts;
  if (a) conjuncts.push_back(std::move(a));
  if (b) conjuncts.push_back(std::move(b));
  return join_conjuncts(std::move(conjuncts));
}

ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> args) {
  for (const Function* function : FunctionRegistry::builtin().find(name)) {
    if (function->arg_count != static_cast<int>(args.size())) continue;
    bool fits = true;
    for (size_t i = 0; i < args.size(); ++i) fits = fits && function->args[i] == args[i]->type.kind;
    if (fits) return make_call(function, std::move(args), -1);
  }
  TM_UNREACHABLE();
}

ExpressionPtr cast_to(ExpressionPtr expression, SqlType type) {
  if (expression->type.kind == type.kind) return expression;
  const Function* cast = find_cast(expression->type.kind, type.kind);
  TM_ASSERT(cast != nullptr);
  std::vector<ExpressionPtr> args;
  args.push_back(std::move(expression));
  ExpressionPtr out = make_call(cast, std::move(args), -1);
  out->explicit_cast = true;
  return out;
}

namespace {

bool is_call_of(const Expression& expression, std::span<const std::string_view> names) {
  return expression.kind == ExpressionKind::Call &&
         std::find(names.begin(), names.end(), expression.function->name) != names.end();
}

// For whatever arguments.
constexpr std::array<std::string_view, 2> kCopies = {"lower", "upper"};
constexpr std::array<std::string_view, 7> kSafe = {"=", "<>", "<", "<=", ">", ">=", "length"};

}  // namespace

bool may_fail(const Expression& expression) {
  if (expression.kind == ExpressionKind::Modifier) return true;
  if (expression.kind == ExpressionKind::Call && !is_call_of(expression, kSafe) &&
      !is_call_of(expression, kCopies)) {
    return true;
  }
  return std::any_of(expression.args.begin(), expression.args.end(),
                     [](const ExpressionPtr& arg) { return arg && may_fail(*arg); });
}

size_t count_copies(const Expression& expression) {
  size_t out = is_call_of(expression, kCopies) ? 1 : 0;
  for (const ExpressionPtr& arg : expression.args) out += arg ? count_copies(*arg) : 0;
  return out;
}

const Expression* equality_with_constant(const Expression& condition, int& column) {
  if (condition.kind != ExpressionKind::Call || condition.function->name != "=" || condition.args.size() != 2)
    return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    const Expression &one = *condition.args[i], &other = *condition.args[1 - i];
    if (one.kind != ExpressionKind::Column || other.kind != ExpressionKind::Constant) continue;
    if (one.type.kind != other.type.kind || other.constant.get().is_null()) continue;
    column = one.index;
    return &other;
  }
  return nullptr;
}

}  // namespace tidemark::sql
