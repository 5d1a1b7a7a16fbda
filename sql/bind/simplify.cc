#include "sql/bind/simplify.h"

#include <algorithm>

#include "sql/bind/coerce.h"

namespace tidemark::sql {
namespace {

bool is_constant(const Expression& e) {
  return e.kind == ExpressionKind::Constant;
}
bool is_constant_null(const Expression& e) {
  return is_constant(e) && e.constant.get().is_null();
}
bool is_constant_bool(const Expression& e, bool value) {
  return is_constant(e) && !e.constant.get().is_null() && e.constant.get().as_bool() == value;
}

ExpressionPtr boolean(const Value& value, int location) {
  return make_constant(value, SqlType::of(TypeKind::Boolean), location);
}

// AND: false decides, true does not matter. OR: the other way round.
ExpressionPtr simplify_logic(ExpressionPtr e) {
  const bool deciding = e->kind == ExpressionKind::Or;
  for (const ExpressionPtr& arg : e->args) {
    if (is_constant_bool(*arg, deciding)) return boolean(Value::boolean(deciding), e->location);
  }
  std::erase_if(e->args, [deciding](const ExpressionPtr& arg) { return is_constant_bool(*arg, !deciding); });
  if (e->args.empty()) return boolean(Value::boolean(!deciding), e->location);
  if (e->args.size() == 1) return std::move(e->args[0]);
  if (std::all_of(e->args.begin(), e->args.end(),
                  [](const ExpressionPtr& arg) { return is_constant_null(*arg); })) {
    return boolean(Value::null(), e->location);
  }
  return e;
}

ExpressionPtr simplify_case(ExpressionPtr e) {
  std::vector<ExpressionPtr> kept;
  size_t i = 0;
  for (; i + 1 < e->args.size(); i += 2) {
    const Expression& condition = *e->args[i];
    if (is_constant_bool(condition, true)) {
      kept.push_back(std::move(e->args[i + 1]));  // Its result is the ELSE.
      break;
    }
    if (is_constant(condition)) continue;
    kept.push_back(std::move(e->args[i]));
    kept.push_back(std::move(e->args[i + 1]));
  }
  if (kept.size() % 2 == 0 && i < e->args.size()) kept.push_back(std::move(e->args[i]));
  if (kept.size() == 1) return std::move(kept[0]);
  if (kept.empty()) return make_constant(Value::null(), e->type, e->location);
  e->args = std::move(kept);
  return e;
}

ExpressionPtr simplify_coalesce(ExpressionPtr e) {
  std::vector<ExpressionPtr> kept;
  for (ExpressionPtr& arg : e->args) {
    if (is_constant_null(*arg)) continue;
    const bool last = is_constant(*arg);
    kept.push_back(std::move(arg));
    if (last) break;
  }
  if (kept.empty()) return make_constant(Value::null(), e->type, e->location);
  if (kept.size() == 1) return std::move(kept[0]);
  e->args = std::move(kept);
  return e;
}

bool uses_slot(const Expression& expression, int slot) {
  if (expression.kind == ExpressionKind::Slot && expression.index == slot) return true;
  return std::any_of(expression.args.begin(), expression.args.end(),
                     [slot](const ExpressionPtr& arg) { return uses_slot(*arg, slot); });
}

void fill_slot(ExpressionPtr& expression, int slot, const Expression& value) {
  if (expression->kind == ExpressionKind::Slot && expression->index == slot) {
    expression = clone(value);
    return;
  }
  for (ExpressionPtr& arg : expression->args) fill_slot(arg, slot, value);
}

// `e`, whose arguments are simple already.
ExpressionPtr simplify_node(ExpressionPtr e) {
  switch (e->kind) {
    case ExpressionKind::Call:
    case ExpressionKind::Modifier: {
      const bool strict = e->function == nullptr || e->function->strict;
      const bool has_null = std::any_of(e->args.begin(), e->args.end(),
                                        [](const ExpressionPtr& arg) { return is_constant_null(*arg); });
      if (strict && has_null) return make_constant(Value::null(), e->type, e->location);
      return fold(std::move(e));
    }
    case ExpressionKind::And:
    case ExpressionKind::Or: return simplify_logic(std::move(e));
    case ExpressionKind::Not:
      if (is_constant_null(*e->args[0])) return boolean(Value::null(), e->location);
      if (is_constant(*e->args[0]))
        return boolean(Value::boolean(!e->args[0]->constant.get().as_bool()), e->location);
      return e;
    case ExpressionKind::IsNull:
      if (!is_constant(*e->args[0])) return e;
      return boolean(Value::boolean(is_constant_null(*e->args[0]) != e->negated), e->location);
    case ExpressionKind::Case: return simplify_case(std::move(e));
    case ExpressionKind::Coalesce: return simplify_coalesce(std::move(e));
    case ExpressionKind::NullIf:
      if (is_constant_null(*e->args[0]) || is_constant_null(*e->args[1])) return std::move(e->args[0]);
      return fold(std::move(e));
    case ExpressionKind::In:
    case ExpressionKind::IsTruth:
    case ExpressionKind::Distinct:
    case ExpressionKind::Greatest:
    case ExpressionKind::Least: return fold(std::move(e));
    case ExpressionKind::Let: return uses_slot(*e->args[1], e->index) ? std::move(e) : std::move(e->args[1]);
    default: return e;
  }
}

}  // namespace

ExpressionPtr simplify(ExpressionPtr expression) {
  std::vector<ExpressionPtr>& args = expression->args;
  if (expression->kind == ExpressionKind::Let) {
    // What the value comes to may decide the body, so it goes first.
    args[0] = simplify(std::move(args[0]));
    if (is_constant(*args[0])) {
      fill_slot(args[1], expression->index, *args[0]);
      return simplify(std::move(args[1]));
    }
    args[1] = simplify(std::move(args[1]));
  } else {
    for (ExpressionPtr& arg : args) arg = simplify(std::move(arg));
  }
  return simplify_node(std::move(expression));
}

int size_of(const Expression& expression, int limit) {
  int size = 1;
  for (const ExpressionPtr& arg : expression.args) {
    if (size >= limit) break;
    size += size_of(*arg, limit - size);
  }
  return size;
}

}  // namespace tidemark::sql
