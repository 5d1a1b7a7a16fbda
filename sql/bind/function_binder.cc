// Calls: operators, functions, aggregates and windows.
#include "sql/bind/expression_binder.h"
#include "sql/bind/resolve.h"

namespace tidemark::sql {
namespace {

constexpr size_t kArgumentsMax = 100;
constexpr const char* kTooManyArguments = "54023";

std::string signature(std::string_view name, const std::vector<TypeKind>& kinds, bool is_operator) {
  std::string out;
  if (is_operator) {
    if (kinds.size() == 2) out = std::string(type_name(kinds[0])) + " ";
    return out + std::string(name) + " " + std::string(type_name(kinds.back()));
  }
  for (TypeKind kind : kinds) out += (out.empty() ? "" : ", ") + std::string(type_name(kind));
  return std::string(name) + "(" + out + ")";
}

SqlError not_found(std::string_view name, const std::vector<TypeKind>& kinds, bool is_operator,
                   Resolution why, int location) {
  const std::string what = is_operator ? "operator" : "function";
  if (why == Resolution::Ambiguous) {
    return {sqlstate::kAmbiguousFunction,
            what + " is not unique: " + signature(name, kinds, is_operator),
            location + 1,
            {},
            "Could not choose a best candidate " + what + ". You might need to add explicit type casts."};
  }
  return {sqlstate::kUndefinedFunction,
          what + " does not exist: " + signature(name, kinds, is_operator),
          location + 1,
          {},
          "No " + what +
              " matches the given name and argument types. You might need to add explicit type casts."};
}

std::string_view clause_name(Clause clause) {
  switch (clause) {
    case Clause::Where: return "WHERE";
    case Clause::On: return "JOIN conditions";
    case Clause::From: return "functions in FROM";
    case Clause::GroupBy: return "GROUP BY";
    case Clause::Having: return "HAVING";
    case Clause::Select: return "the select list";
    case Clause::OrderBy: return "ORDER BY";
    case Clause::Values: return "VALUES";
    case Clause::Limit: return "LIMIT";
    case Clause::Set: return "UPDATE";
    case Clause::Default: return "DEFAULT expressions";
  }
  TM_UNREACHABLE();
}

}  // namespace

ExpressionBinder::Bound ExpressionBinder::call(const Function& function, std::vector<ExpressionPtr> args,
                                               int location) {
  if (function.call == nullptr && function.body.empty() && !function.mirrored) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    signature(function.name, kinds_of(args), false) + " is not supported",
                    location + 1,
                    {},
                    std::string(function.hint)};
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const bool fixed = static_cast<int>(i) < function.arg_count;
    if (fixed) {
      TM_SQL_ASSIGN(
          args[i], coercer_.coerce(std::move(args[i]), SqlType::of(function.args[i]), CastContext::Implicit));
    } else {
      TM_SQL_ASSIGN(args[i], coercer_.settle(std::move(args[i])));
    }
  }
  if (function.mirrored) {
    const Function* other = nullptr;
    const TypeKind kinds[] = {function.args[1], function.args[0]};
    const Resolution found = resolve_candidate(catalog_.functions().find(function.name), kinds, other);
    TM_ASSERT(found == Resolution::Found);
    std::swap(args[0], args[1]);
    return fold(make_call(other, std::move(args), location));
  }
  if (!function.body.empty()) return bind_body(function, std::move(args), location);
  return fold(make_call(&function, std::move(args), location));
}

namespace {

// text || anything, either way round; a literal without a type counts as text unless the other side is of a
// type with a concatenation of its own.
bool joins_as_text(TypeKind a, TypeKind b) {
  if (a == b) return false;
  if (a == TypeKind::Text || b == TypeKind::Text) return true;
  const TypeKind other = a == TypeKind::Unknown ? b : a;
  return (a == TypeKind::Unknown || b == TypeKind::Unknown) && other != TypeKind::Bytea &&
         other != TypeKind::Jsonb;
}

}  // namespace

// text || anything and anything || text: the other side as text.
ExpressionBinder::Bound ExpressionBinder::concatenation(std::vector<ExpressionPtr> args, int location) {
  for (ExpressionPtr& arg : args) {
    TM_SQL_ASSIGN(arg, coercer_.coerce(std::move(arg), SqlType::of(TypeKind::Text), CastContext::Explicit));
  }
  const Function* function = nullptr;
  const TypeKind kinds[] = {TypeKind::Text, TypeKind::Text};
  resolve_candidate(catalog_.functions().find("||"), kinds, function);
  return call(*function, std::move(args), location);
}

ExpressionBinder::Bound ExpressionBinder::operation(std::string_view op, std::vector<ExpressionPtr> args,
                                                    int location) {
  const std::vector<TypeKind> kinds = kinds_of(args);
  if (op == "||" && kinds.size() == 2 && joins_as_text(kinds[0], kinds[1])) {
    return concatenation(std::move(args), location);
  }
  const Function* function = nullptr;
  const Resolution found = resolve_operator(catalog_.functions().find(op), kinds, function);
  if (found != Resolution::Found) return not_found(op, kinds, true, found, location);
  return call(*function, std::move(args), location);
}

ExpressionBinder::Bound ExpressionBinder::bind_function(const ast::Expr& expr) {
  const std::string& name = expr.names.back();
  const bool in_reach = expr.names.size() == 1 || expr.names[0] == "pg_catalog" ||
                        (expr.names[0] == "information_schema" && name == "_pg_expandarray");
  if (!in_reach) {
    return SqlError{sqlstate::kUndefinedFunction,
                    "function " + expr.names[0] + "." + name + " does not exist",
                    expr.location + 1,
                    {},
                    {}};
  }
  if (expr.args.size() > kArgumentsMax) {
    return SqlError{
        kTooManyArguments, "cannot pass more than 100 arguments to a function", expr.location + 1, {}, {}};
  }
  if (expr.call->over.has_value()) return bind_window(expr, name);
  if (is_aggregate_name(name)) return bind_aggregate(expr, name);
  if (const auto set = find_set(expr)) return bind_set(expr, *set);
  if (expr.call->star || expr.call->distinct || expr.call->filter != nullptr) {
    return SqlError{
        sqlstate::kWrongObjectType, name + " is not an aggregate function", expr.location + 1, {}, {}};
  }
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  const std::vector<TypeKind> kinds = kinds_of(args);
  const Function* function = nullptr;
  const Resolution found = resolve_candidate(catalog_.functions().find(name), kinds, function);
  if (found == Resolution::Found) return call(*function, std::move(args), expr.location);
  // type(value) is a cast.
  if (const auto type = type_by_name(name);
      type && args.size() == 1 && found == Resolution::None &&
      (kinds[0] == TypeKind::Unknown || kinds[0] == *type || find_cast(kinds[0], *type) != nullptr)) {
    return coercer_.coerce(std::move(args[0]), SqlType::of(*type), CastContext::Explicit);
  }
  return not_found(name, kinds, false, found, expr.location);
}

namespace {

// string_agg(value, separator): the separator must be the same for all rows.
SqlStatus take_separator(std::string_view name, std::vector<ExpressionPtr>& args, AggregateCall& call) {
  if (name != "string_agg" || args.size() != 2) return {};
  const ExpressionPtr separator = std::move(args.back());
  args.pop_back();
  const Value& value = separator->constant.get();
  if (separator->kind != ExpressionKind::Constant ||
      (value.kind() != TypeKind::Text && value.kind() != TypeKind::Unknown && !value.is_null())) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "string_agg with a separator that is no constant text is not supported",
                    separator->location + 1,
                    {},
                    {}};
  }
  if (!value.is_null()) call.separator = value.as_bytes();
  return {};
}

}  // namespace

ExpressionBinder::Bound ExpressionBinder::bind_aggregate(const ast::Expr& expr, const std::string& name) {
  const int position = expr.location + 1;
  if (in_aggregate_) {
    return SqlError{sqlstate::kGroupingError, "aggregate function calls cannot be nested", position, {}, {}};
  }
  if (found_ == nullptr) {
    return SqlError{sqlstate::kGroupingError,
                    "aggregate functions are not allowed in " + std::string(clause_name(clause_)),
                    position,
                    {},
                    {}};
  }
  AggregateCall call;
  call.distinct = expr.call->distinct;
  call.location = expr.location;
  in_aggregate_ = true;
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  if (expr.call->filter != nullptr) {
    auto filter = bind_boolean(*expr.call->filter, "FILTER");
    if (!filter.ok()) return filter.error();
    call.filter = std::move(*filter);
  }
  in_aggregate_ = false;
  if (expr.call->star) {
    if (name != "count")
      return SqlError{
          sqlstate::kUndefinedFunction, "function " + name + "() does not exist", position, {}, {}};
    call.type = SqlType::of(TypeKind::BigInt);
  } else {
    TypeKind arg_kind = TypeKind::Unknown, result = TypeKind::Unknown;
    TM_TRY(take_separator(name, args, call));
    if (args.size() != 1 || !resolve_aggregate(name, args[0]->type.kind, call.kind, arg_kind, result)) {
      const Resolution why = args.size() == 1 && args[0]->type.kind == TypeKind::Unknown
                                 ? Resolution::Ambiguous
                                 : Resolution::None;
      return not_found(name, kinds_of(args), false, why, expr.location);
    }
    TM_SQL_ASSIGN(call.arg,
                  coercer_.coerce(std::move(args[0]), SqlType::of(arg_kind), CastContext::Implicit));
    call.type = SqlType::of(result);
  }
  size_t at = 0;
  while (at < found_->aggregates.size() && !is_same(found_->aggregates[at], call)) ++at;
  const SqlType type = call.type;
  if (at == found_->aggregates.size()) found_->aggregates.push_back(std::move(call));
  return make_column(kAggregateBase + static_cast<int>(at), type, expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_window(const ast::Expr& expr, const std::string& name) {
  const int position = expr.location + 1;
  if (name != "row_number" || !expr.args.empty()) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "window function " + name + " is not supported",
                    position,
                    {},
                    "row_number() is supported, to take the first rows of each group."};
  }
  if (found_ == nullptr || clause_ == Clause::Having) {
    return SqlError{sqlstate::kWindowingError,
                    "window functions are not allowed in " + std::string(clause_name(clause_)),
                    position,
                    {},
                    {}};
  }
  WindowCall call;
  call.location = expr.location;
  for (const ast::ExprPtr& part : expr.call->over->partition_by) {
    TM_SQL_ASSIGN(ExpressionPtr key, bind(*part));
    TM_SQL_ASSIGN(key, coercer_.settle(std::move(key)));
    call.partition_by.push_back(std::move(key));
  }
  for (const ast::OrderBy& part : expr.call->over->order_by) {
    TM_SQL_ASSIGN(ExpressionPtr key, bind(*part.expr));
    TM_SQL_ASSIGN(key, coercer_.settle(std::move(key)));
    call.order_by.push_back(std::move(key));
    call.descending.push_back(part.descending);
    call.nulls_first.push_back(part.nulls_first);
  }
  found_->windows.push_back(std::move(call));
  return make_column(kWindowBase + static_cast<int>(found_->windows.size()) - 1,
                     SqlType::of(TypeKind::BigInt), expr.location);
}

}  // namespace tidemark::sql
