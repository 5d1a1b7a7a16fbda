#include "sql/bind/expression_binder.h"

#include <algorithm>
#include <charconv>

#include "sql/bind/query_binder.h"
#include "sql/bind/resolve.h"
#include "sql/bind/simplify.h"

namespace tidemark::sql {
namespace {

using ast::ExprKind;

constexpr SqlType kBoolean = SqlType::of(TypeKind::Boolean);

std::vector<ExpressionPtr> list(ExpressionPtr a) {
  std::vector<ExpressionPtr> out;
  out.push_back(std::move(a));
  return out;
}
std::vector<ExpressionPtr> list(ExpressionPtr a, ExpressionPtr b) {
  std::vector<ExpressionPtr> out = list(std::move(a));
  out.push_back(std::move(b));
  return out;
}

}  // namespace

Result<ExpressionPtr, SqlError> ExpressionBinder::bind(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::Null:
    case ExprKind::Boolean:
    case ExprKind::Integer:
    case ExprKind::Decimal:
    case ExprKind::String: return bind_literal(expr);
    case ExprKind::Param: return bind_param(expr);
    case ExprKind::Column: return bind_column(expr);
    case ExprKind::Operator: {
      TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
      return operation(expr.text, std::move(args), expr.location);
    }
    case ExprKind::Like: {
      TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
      return operation(expr.text, std::move(args), expr.location);
    }
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Not: return bind_logic(expr);
    case ExprKind::IsNull: {
      TM_SQL_ASSIGN(ExpressionPtr arg, bind(*expr.args[0]));
      TM_SQL_ASSIGN(arg, coercer_.settle(std::move(arg)));
      auto out = make_operation(ExpressionKind::IsNull, kBoolean, list(std::move(arg)), expr.location);
      out->negated = expr.flag;
      return out;
    }
    case ExprKind::IsTruth: return bind_is_truth(expr);
    case ExprKind::Distinct: return bind_distinct(expr);
    case ExprKind::In: return bind_in(expr);
    case ExprKind::Between: return bind_between(expr);
    case ExprKind::Case: return bind_case(expr);
    case ExprKind::Coalesce: return bind_unified(expr, ExpressionKind::Coalesce, "COALESCE");
    case ExprKind::Greatest: return bind_unified(expr, ExpressionKind::Greatest, "GREATEST");
    case ExprKind::Least: return bind_unified(expr, ExpressionKind::Least, "LEAST");
    case ExprKind::NullIf: return bind_null_if(expr);
    case ExprKind::Cast: return bind_cast(expr);
    case ExprKind::Function: return bind_function(expr);
    case ExprKind::Subquery: return bind_subquery(expr);
    case ExprKind::AnyArray: return bind_any_array(expr);
    case ExprKind::Array: return bind_array(expr);
    case ExprKind::Subscript: return bind_subscript(expr);
    case ExprKind::Field: return bind_field(expr);
    case ExprKind::Default:
      return SqlError{
          sqlstate::kSyntaxError, "DEFAULT is not allowed in this context", expr.location + 1, {}, {}};
  }
  TM_UNREACHABLE();
}

Result<ExpressionPtr, SqlError> ExpressionBinder::bind_boolean(const ast::Expr& expr,
                                                               std::string_view clause) {
  TM_SQL_ASSIGN(ExpressionPtr out, bind(expr));
  return coercer_.as_boolean(std::move(out), clause);
}

ExpressionBinder::BoundList ExpressionBinder::bind_args(const ast::Expr& expr, size_t from) {
  std::vector<ExpressionPtr> out;
  for (size_t i = from; i < expr.args.size(); ++i) {
    TM_SQL_ASSIGN(ExpressionPtr arg, bind(*expr.args[i]));
    out.push_back(std::move(arg));
  }
  return out;
}

ExpressionBinder::Bound ExpressionBinder::bind_literal(const ast::Expr& expr) {
  const auto constant = [&expr](const Value& value) {
    return make_constant(value, SqlType::of(value.kind()), expr.location);
  };
  switch (expr.kind) {
    case ExprKind::Boolean: return constant(Value::boolean(expr.flag));
    case ExprKind::String: return constant(Value::of_bytes(TypeKind::Unknown, expr.text));
    case ExprKind::Integer: {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(expr.text.data(), expr.text.data() + expr.text.size(), value);
      if (error == std::errc() && end == expr.text.data() + expr.text.size()) {
        const bool is_small = value >= INT32_MIN && value <= INT32_MAX;
        return constant(Value::of_int(is_small ? TypeKind::Integer : TypeKind::BigInt, value));
      }
      [[fallthrough]];
    }
    case ExprKind::Decimal: {
      Arena arena;
      const auto value = parse_value(SqlType::of(TypeKind::Numeric), expr.text, arena, expr.location + 1);
      if (!value.ok()) return value.error();
      return constant(*value);
    }
    default: {
      auto out = make_constant(Value::null(), SqlType::of(TypeKind::Unknown), expr.location);
      return out;
    }
  }
}

ExpressionBinder::Bound ExpressionBinder::bind_param(const ast::Expr& expr) {
  constexpr int kParamsMax = 65535;
  if (query_ != nullptr && query_->is_in_body()) return query_->body_argument(expr.number, expr.location);
  if (expr.number < 1 || expr.number > kParamsMax) {
    return SqlError{sqlstate::kUndefinedParameter,
                    "there is no parameter $" + std::to_string(expr.number),
                    expr.location + 1,
                    {},
                    {}};
  }
  auto out = std::make_unique<Expression>();
  out->kind = ExpressionKind::Param;
  out->index = expr.number - 1;
  out->type = params_.at(out->index);
  out->location = expr.location;
  return out;
}

ExpressionBinder::Bound ExpressionBinder::bind_column(const ast::Expr& expr) {
  if (expr.flag) return SqlError{sqlstate::kSyntaxError, "* is not allowed here", expr.location + 1, {}, {}};
  const auto column = scope_.find(expr.names, expr.location);
  if (column.ok()) return make_column((*column)->index, (*column)->type, expr.location);
  if (query_ != nullptr && column.error().state != sqlstate::kAmbiguousColumn) {
    TM_SQL_ASSIGN(ExpressionPtr outer, query_->find_outer(expr.names, expr.location));
    if (outer != nullptr) return outer;
  }
  return column.error();
}

ExpressionBinder::Bound ExpressionBinder::bind_logic(const ast::Expr& expr) {
  const std::string_view name = expr.kind == ExprKind::And ? "AND" : expr.kind == ExprKind::Or ? "OR" : "NOT";
  std::vector<ExpressionPtr> args;
  for (const ast::ExprPtr& part : expr.args) {
    TM_SQL_ASSIGN(ExpressionPtr arg, bind_boolean(*part, name));
    args.push_back(std::move(arg));
  }
  const ExpressionKind kind = expr.kind == ExprKind::And  ? ExpressionKind::And
                              : expr.kind == ExprKind::Or ? ExpressionKind::Or
                                                          : ExpressionKind::Not;
  return make_operation(kind, kBoolean, std::move(args), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_is_truth(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr arg, bind_boolean(*expr.args[0], "IS"));
  auto out = make_operation(ExpressionKind::IsTruth, kBoolean, list(std::move(arg)), expr.location);
  out->truth = expr.text == "true" ? Truth::True : expr.text == "false" ? Truth::False : Truth::Unknown;
  out->negated = expr.flag;
  return out;
}

// Its equality decides the types; then both sides are of one kind, but for dates against timestamps.
ExpressionBinder::Bound ExpressionBinder::bind_distinct(const ast::Expr& expr) {
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  TM_SQL_ASSIGN(ExpressionPtr equal, operation("=", std::move(args), expr.location));
  std::vector<ExpressionPtr> sides;
  if (equal->kind == ExpressionKind::Constant || equal->args.size() != 2) {
    // Both were constants, and the comparison was folded: bind them again, unfolded.
    TM_SQL_ASSIGN(sides, bind_args(expr));
    TM_SQL_ASSIGN(sides, coercer_.unify(std::move(sides), "IS DISTINCT FROM"));
  } else {
    sides = std::move(equal->args);
    if (sides[0]->type.kind != sides[1]->type.kind) {
      TM_SQL_ASSIGN(sides, coercer_.unify(std::move(sides), "IS DISTINCT FROM"));
    }
  }
  auto out = make_operation(ExpressionKind::Distinct, kBoolean, std::move(sides), expr.location);
  out->negated = expr.flag;
  return out;
}

ExpressionBinder::Shared ExpressionBinder::share(ExpressionPtr value) {
  Shared out;
  const bool cheap = value->kind == ExpressionKind::Column || value->kind == ExpressionKind::Constant ||
                     value->kind == ExpressionKind::Param || value->kind == ExpressionKind::Slot;
  if (cheap) {
    out.use = std::move(value);
    return out;
  }
  out.slot = next_slot_++;
  out.use = make_operation(ExpressionKind::Slot, value->type, {}, value->location);
  out.use->index = out.slot;
  out.value = std::move(value);
  return out;
}

ExpressionPtr ExpressionBinder::close(Shared shared, ExpressionPtr body) {
  if (shared.value == nullptr) return body;
  const SqlType type = body->type;
  const int location = body->location;
  auto out =
      make_operation(ExpressionKind::Let, type, list(std::move(shared.value), std::move(body)), location);
  out->index = shared.slot;
  return out;
}

// A query counts by what it is given of the row.
bool ExpressionBinder::uses_row(const Expression& e) const {
  bool out = false;
  for_each_column(e, [&](int index) {
    if (index < kQueryBase || index >= kSetBase) {
      out = true;
      return;
    }
    for (const ExpressionPtr& value : (*queries_)[index - kQueryBase].values) out = out || uses_row(*value);
  });
  return out;
}

// PostgreSQL makes an array of the items without columns if they are several and of one type with the value:
// all are computed, also if the value is NULL or the first is equal to it. Null if it makes none.
ExpressionBinder::Bound ExpressionBinder::take_array(const ast::Expr& expr, const Expression& value,
                                                     std::vector<ExpressionPtr>& items) {
  const auto is_free = [this](const ExpressionPtr& e) { return !uses_row(*e); };
  if (std::count_if(items.begin(), items.end(), is_free) < 2) return ExpressionPtr();
  std::vector<ExpressionPtr> args = list(clone(value)), rest;
  std::vector<bool> taken;
  for (ExpressionPtr& item : items) {
    taken.push_back(is_free(item));
    (taken.back() ? args : rest).push_back(std::move(item));
  }
  const auto common = Coercer::common_type(args, "IN");
  if (!common.ok()) {
    auto from_args = args.begin() + 1, from_rest = rest.begin();
    for (size_t i = 0; i < items.size(); ++i) items[i] = std::move(taken[i] ? *from_args++ : *from_rest++);
    return ExpressionPtr();
  }
  items = std::move(rest);
  const Function* equals = nullptr;
  const TypeKind kinds[] = {value.type.kind, common->kind};
  if (resolve_operator(catalog_.functions().find("="), kinds, equals) != Resolution::Found) {
    return operation(expr.flag ? "<>" : "=", list(std::move(args[0]), std::move(args[1])), expr.location);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const TypeKind kind = equals->args[i == 0 ? 0 : 1];
    if (i > 0) {
      TM_SQL_ASSIGN(args[i],
                    coercer_.coerce(std::move(args[i]), SqlType::of(common->kind), CastContext::Implicit));
    }
    TM_SQL_ASSIGN(args[i], coercer_.coerce(std::move(args[i]), SqlType::of(kind), CastContext::Implicit));
  }
  auto out = make_operation(ExpressionKind::In, kBoolean, std::move(args), expr.location);
  out->function = equals;
  out->negated = expr.flag;
  return out;
}

ExpressionBinder::Bound ExpressionBinder::bind_in(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr value, bind(*expr.args[0]));
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> items, bind_args(expr, 1));
  Shared shared = share(std::move(value));
  TM_SQL_ASSIGN(ExpressionPtr array, take_array(expr, *shared.use, items));
  std::vector<ExpressionPtr> tests;
  if (array != nullptr) tests.push_back(std::move(array));
  for (ExpressionPtr& item : items) {
    TM_SQL_ASSIGN(ExpressionPtr test, operation(expr.flag ? "<>" : "=",
                                                list(clone(*shared.use), std::move(item)), expr.location));
    tests.push_back(std::move(test));
  }
  ExpressionPtr body = tests.size() == 1
                           ? std::move(tests[0])
                           : make_operation(expr.flag ? ExpressionKind::And : ExpressionKind::Or, kBoolean,
                                            std::move(tests), expr.location);
  return close(std::move(shared), std::move(body));
}

ExpressionBinder::Bound ExpressionBinder::bind_between(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr value, bind(*expr.args[0]));
  TM_SQL_ASSIGN(ExpressionPtr first_bound, bind(*expr.args[1]));
  Shared shared = share(std::move(value));
  // As PostgreSQL: that these two can not be compared is told before what is wrong with the other bound.
  const auto tried = operation(">=", list(clone(*shared.use), clone(*first_bound)), expr.location);
  if (!tried.ok()) return tried.error();
  TM_SQL_ASSIGN(ExpressionPtr second_bound, bind(*expr.args[2]));
  // Used once, or twice if SYMMETRIC: then only what is small is repeated.
  constexpr int kRepeatedNodesMax = 64;
  const auto bound = [&](ExpressionPtr e) {
    if (expr.number == 1 && size_of(*e, kRepeatedNodesMax) >= kRepeatedNodesMax) return share(std::move(e));
    Shared out;
    out.use = std::move(e);
    return out;
  };
  Shared low = bound(std::move(first_bound)), high = bound(std::move(second_bound));
  const auto range = [&](const Shared& from, const Shared& to) -> Bound {
    std::vector<ExpressionPtr> above_args = list(clone(*shared.use), clone(*from.use));
    std::vector<ExpressionPtr> below_args = list(clone(*shared.use), clone(*to.use));
    TM_SQL_ASSIGN(ExpressionPtr above,
                  operation(expr.flag ? "<" : ">=", std::move(above_args), expr.location));
    TM_SQL_ASSIGN(ExpressionPtr below,
                  operation(expr.flag ? ">" : "<=", std::move(below_args), expr.location));
    return make_operation(expr.flag ? ExpressionKind::Or : ExpressionKind::And, kBoolean,
                          list(std::move(above), std::move(below)), expr.location);
  };
  TM_SQL_ASSIGN(ExpressionPtr body, range(low, high));
  if (expr.number == 1) {
    TM_SQL_ASSIGN(ExpressionPtr turned, range(high, low));
    body = make_operation(expr.flag ? ExpressionKind::And : ExpressionKind::Or, kBoolean,
                          list(std::move(body), std::move(turned)), expr.location);
  }
  body = close(std::move(high), std::move(body));
  body = close(std::move(low), std::move(body));
  return close(std::move(shared), std::move(body));
}

ExpressionBinder::Bound ExpressionBinder::bind_case(const ast::Expr& expr) {
  size_t at = 0;
  Shared operand;
  if (expr.flag) {
    TM_SQL_ASSIGN(ExpressionPtr value, bind(*expr.args[at++]));
    TM_SQL_ASSIGN(value, coercer_.settle(std::move(value)));
    operand = share(std::move(value));
  }
  const bool has_else = expr.number == 1;
  const size_t end = expr.args.size() - (has_else ? 1 : 0);
  std::vector<ExpressionPtr> conditions, results;
  for (; at < end; at += 2) {
    if (expr.flag) {
      TM_SQL_ASSIGN(ExpressionPtr wanted, bind(*expr.args[at]));
      TM_SQL_ASSIGN(ExpressionPtr test,
                    operation("=", list(clone(*operand.use), std::move(wanted)), expr.args[at]->location));
      conditions.push_back(std::move(test));
    } else {
      TM_SQL_ASSIGN(ExpressionPtr test, bind_boolean(*expr.args[at], "CASE/WHEN"));
      conditions.push_back(std::move(test));
    }
    TM_SQL_ASSIGN(ExpressionPtr result, bind(*expr.args[at + 1]));
    results.push_back(std::move(result));
  }
  // PostgreSQL looks at the ELSE first when it chooses the type.
  std::vector<ExpressionPtr> unified;
  if (has_else) {
    TM_SQL_ASSIGN(ExpressionPtr otherwise, bind(*expr.args.back()));
    unified.push_back(std::move(otherwise));
  } else {
    unified.push_back(make_constant(Value::null(), SqlType::of(TypeKind::Unknown)));
  }
  for (ExpressionPtr& result : results) unified.push_back(std::move(result));
  TM_SQL_ASSIGN(const SqlType type, Coercer::common_type(unified, "CASE"));
  TM_SQL_ASSIGN(unified, coercer_.unify(std::move(unified), "CASE"));
  std::vector<ExpressionPtr> args;
  for (size_t i = 0; i < conditions.size(); ++i) {
    args.push_back(std::move(conditions[i]));
    args.push_back(std::move(unified[i + 1]));
  }
  args.push_back(std::move(unified[0]));
  return close(std::move(operand),
               make_operation(ExpressionKind::Case, type, std::move(args), expr.location));
}

ExpressionBinder::Bound ExpressionBinder::bind_unified(const ast::Expr& expr, ExpressionKind kind,
                                                       std::string_view what) {
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  TM_SQL_ASSIGN(const SqlType type, Coercer::common_type(args, what));
  TM_SQL_ASSIGN(args, coercer_.unify(std::move(args), what));
  return make_operation(kind, type, std::move(args), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_null_if(const ast::Expr& expr) {
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  const Function* equals = nullptr;
  const std::vector<TypeKind> kinds = kinds_of(args);
  if (resolve_operator(catalog_.functions().find("="), kinds, equals) != Resolution::Found) {
    return operation("=", std::move(args), expr.location);  // For its error.
  }
  // Integers of two sizes are compared as they are: the first stays what it is.
  const bool both_integers = is_integer(kinds[0]) && is_integer(kinds[1]);
  for (size_t i = 0; i < args.size() && !both_integers; ++i) {
    TM_SQL_ASSIGN(args[i],
                  coercer_.coerce(std::move(args[i]), SqlType::of(equals->args[i]), CastContext::Implicit));
  }
  const SqlType type = args[0]->type;
  auto out = make_operation(ExpressionKind::NullIf, type, std::move(args), expr.location);
  out->function = equals;
  return out;
}

ExpressionBinder::Bound ExpressionBinder::bind_cast(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr of_catalog, bind_catalog_cast(expr));
  if (of_catalog != nullptr) return of_catalog;
  TM_SQL_ASSIGN(const SqlType type, resolve_type(expr.type));
  TM_SQL_ASSIGN(ExpressionPtr arg, bind(*expr.args[0]));
  TM_SQL_ASSIGN(ExpressionPtr out, coercer_.coerce(std::move(arg), type, CastContext::Explicit));
  out->explicit_cast = true;
  return out;
}

}  // namespace tidemark::sql
