#include "sql/bind/coerce.h"

#include "sql/expr/program.h"

namespace tidemark::sql {
namespace {

SqlError cannot_cast(TypeKind from, TypeKind to, int location) {
  return {sqlstate::kCannotCoerce,
          "cannot cast type " + std::string(type_name(from)) + " to " + std::string(type_name(to)),
          location + 1,
          {},
          {}};
}

bool is_allowed(TypeKind from, TypeKind to, CastContext context) {
  switch (context) {
    case CastContext::Implicit: return is_implicit_cast(from, to);
    case CastContext::Assignment: return is_assignment_cast(from, to);
    case CastContext::Explicit: return true;
  }
  TM_UNREACHABLE();
}

Result<SqlType, SqlError> with_modifiers(TypeKind kind, const ast::TypeName& name) {
  const auto invalid = [&name](const std::string& message) {
    return SqlError{sqlstate::kInvalidParameterValue, message, name.location + 1, {}, {}};
  };
  const std::vector<int64_t>& modifiers = name.modifiers;
  if (modifiers.empty()) return SqlType::of(kind);
  switch (kind) {
    case TypeKind::Text:
      if (name.name != "varchar" || modifiers.size() != 1) break;
      if (modifiers[0] < 1) return invalid("length for type varchar must be at least 1");
      if (modifiers[0] > 10485760) return invalid("length for type varchar cannot exceed 10485760");
      return SqlType{kind, static_cast<int32_t>(modifiers[0])};
    case TypeKind::Numeric: {
      const int64_t scale = modifiers.size() > 1 ? modifiers[1] : 0;
      if (modifiers.size() > 2) return invalid("invalid NUMERIC type modifier");
      if (modifiers[0] < 1 || modifiers[0] > 1000)
        return invalid("NUMERIC precision must be between 1 and 1000");
      if (scale < -1000 || scale > 1000) return invalid("NUMERIC scale must be between -1000 and 1000");
      return SqlType::numeric(static_cast<int>(modifiers[0]), static_cast<int>(scale));
    }
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz:
      if (modifiers[0] < 0) return invalid("TIMESTAMP precision must not be negative");
      return SqlType{kind, static_cast<int32_t>(std::min<int64_t>(modifiers[0], 6))};
    case TypeKind::Interval: return SqlType::of(kind);
    default: break;
  }
  return SqlError{sqlstate::kSyntaxError,
                  "type modifier is not allowed for type \"" + name.name + "\"",
                  name.location + 1,
                  {},
                  {}};
}

}  // namespace

Result<SqlType, SqlError> resolve_type(const ast::TypeName& name) {
  const int position = name.location + 1;
  if (name.is_array)
    return SqlError{sqlstate::kFeatureNotSupported, "arrays are not supported", position, {}, "Use jsonb."};
  if (const auto kind = type_by_name(name.name)) return with_modifiers(*kind, name);
  struct Advice {
    std::string_view name, hint;
  };
  constexpr Advice kAdvice[] = {{"bpchar", "Use text or varchar(n)."},
                                {"char", "Use text or varchar(n)."},
                                {"float4", "Use double precision."},
                                {"json", "Use jsonb."},
                                {"serial", "Use uuid or bigint, and give the value."},
                                {"bigserial", "Use uuid or bigint, and give the value."},
                                {"smallserial", "Use uuid or bigint, and give the value."},
                                {"time", "Use timestamp or text."},
                                {"timetz", "Use timestamptz or text."},
                                {"money", "Use numeric."},
                                {"name", "Use text."},
                                {"oid", "Use bigint."},
                                {"regclass", "Use text."}};
  for (const Advice& advice : kAdvice) {
    if (advice.name != name.name) continue;
    return SqlError{sqlstate::kFeatureNotSupported,
                    "type " + name.name + " is not supported",
                    position,
                    {},
                    std::string(advice.hint)};
  }
  return SqlError{sqlstate::kUndefinedObject, "type \"" + name.name + "\" does not exist", position, {}, {}};
}

Result<ExpressionPtr, SqlError> Coercer::read_literal(const Expression& literal, SqlType type) {
  const Value& value = literal.constant.get();
  if (value.is_null()) return make_constant(Value::null(), type, literal.location);
  Arena arena;
  const auto read = parse_value(SqlType::of(type.kind), value.as_bytes(), arena, literal.location + 1);
  if (!read.ok()) return read.error();
  return make_constant(*read, SqlType::of(type.kind), literal.location);
}

ExpressionPtr Coercer::with_modifier(ExpressionPtr expression, SqlType type, CastContext context) {
  if (!type.has_modifier() || expression->type == type) return expression;
  const int location = expression->location;
  std::vector<ExpressionPtr> args;
  args.push_back(std::move(expression));
  auto out = make_operation(ExpressionKind::Modifier, type, std::move(args), location);
  out->context = context;
  return fold(std::move(out));
}

Result<ExpressionPtr, SqlError> Coercer::coerce(ExpressionPtr expression, SqlType type, CastContext context) {
  const TypeKind from = expression->type.kind;
  if (from == TypeKind::Unknown) {
    if (type.kind == TypeKind::Unknown) return expression;
    if (expression->kind == ExpressionKind::Constant) {
      TM_SQL_ASSIGN(expression, read_literal(*expression, type));
    } else if (expression->kind == ExpressionKind::Param) {
      SqlType& param = params_.at(expression->index);
      if (param.kind == TypeKind::Unknown) param = SqlType::of(type.kind);
      if (param.kind != type.kind) {
        return SqlError{"42P08",
                        "inconsistent types deduced for parameter $" + std::to_string(expression->index + 1),
                        expression->location + 1,
                        {},
                        "Cast the parameter."};
      }
      expression->type = SqlType::of(type.kind);
    } else {
      // An element of an array: its text is read as what is wanted.
      expression->type = SqlType::of(TypeKind::Text);
      if (type.kind != TypeKind::Text) {
        const int location = expression->location;
        std::vector<ExpressionPtr> args;
        args.push_back(std::move(expression));
        expression = make_call(find_cast(TypeKind::Text, type.kind), std::move(args), location);
      }
    }
    return with_modifier(std::move(expression), type, context);
  }
  if (from != type.kind) {
    const Function* cast = find_cast(from, type.kind);
    if (cast == nullptr || !is_allowed(from, type.kind, context)) {
      return cannot_cast(from, type.kind, expression->location);
    }
    const int location = expression->location;
    std::vector<ExpressionPtr> args;
    args.push_back(std::move(expression));
    expression = fold(make_call(cast, std::move(args), location));
  }
  return with_modifier(std::move(expression), type, context);
}

Result<ExpressionPtr, SqlError> Coercer::assign(ExpressionPtr expression, SqlType type,
                                                const std::string& column) {
  const TypeKind from = expression->type.kind;
  const int position = expression->location + 1;
  if (from != TypeKind::Unknown && !is_assignment_cast(from, type.kind)) {
    return SqlError{sqlstate::kDatatypeMismatch,
                    "column \"" + column + "\" is of type " + type_name(type) +
                        " but expression is of type " + std::string(type_name(from)),
                    position,
                    {},
                    "You will need to rewrite or cast the expression."};
  }
  return coerce(std::move(expression), type, CastContext::Assignment);
}

Result<ExpressionPtr, SqlError> Coercer::settle(ExpressionPtr expression) {
  if (expression->type.kind != TypeKind::Unknown) return expression;
  return coerce(std::move(expression), SqlType::of(TypeKind::Text), CastContext::Implicit);
}

Result<ExpressionPtr, SqlError> Coercer::as_boolean(ExpressionPtr expression, std::string_view clause) {
  const TypeKind kind = expression->type.kind;
  if (kind != TypeKind::Boolean && kind != TypeKind::Unknown) {
    return SqlError{sqlstate::kDatatypeMismatch,
                    "argument of " + std::string(clause) + " must be type boolean, not type " +
                        std::string(type_name(kind)),
                    expression->location + 1,
                    {},
                    {}};
  }
  return coerce(std::move(expression), SqlType::of(TypeKind::Boolean), CastContext::Implicit);
}

Result<SqlType, SqlError> Coercer::common_type(std::span<const ExpressionPtr> expressions,
                                               std::string_view what) {
  bool all_same = true;
  for (const ExpressionPtr& e : expressions) all_same = all_same && e->type == expressions[0]->type;
  if (all_same && expressions[0]->type.kind != TypeKind::Unknown) return expressions[0]->type;
  TypeKind chosen = TypeKind::Unknown;
  for (const ExpressionPtr& e : expressions) {
    const TypeKind next = e->type.kind;
    if (next == TypeKind::Unknown || next == chosen) continue;
    if (chosen == TypeKind::Unknown) {
      chosen = next;
      continue;
    }
    if (category_of(chosen) != category_of(next)) {
      return SqlError{sqlstate::kDatatypeMismatch,
                      std::string(what) + " types " + std::string(type_name(chosen)) + " and " +
                          std::string(type_name(next)) + " cannot be matched",
                      e->location + 1,
                      {},
                      {}};
    }
    if (!is_preferred(chosen) && is_implicit_cast(chosen, next) && !is_implicit_cast(next, chosen))
      chosen = next;
  }
  return SqlType::of(chosen == TypeKind::Unknown ? TypeKind::Text : chosen);
}

Result<std::vector<ExpressionPtr>, SqlError> Coercer::unify(std::vector<ExpressionPtr> expressions,
                                                            std::string_view what) {
  TM_SQL_ASSIGN(const SqlType type, common_type(expressions, what));
  for (ExpressionPtr& e : expressions) {
    TM_SQL_ASSIGN(e, coerce(std::move(e), type, CastContext::Implicit));
  }
  return expressions;
}

namespace {

// A value may be so much larger than what it is computed from. One that is larger is computed for each row: a
// statement may have thousands of them.
constexpr size_t kFoldedBytes = 1024;

// repeat('x', 10000000): not even computed to see how long it is, which takes its time.
bool makes_much_of_little(const Expression& e) {
  if (e.function == nullptr || e.args.size() < 2) return false;
  const std::string_view name = e.function->name;
  if (name != "repeat" && name != "lpad" && name != "rpad") return false;
  const Value& count = e.args[1]->constant.get();
  return !count.is_null() && count.as_int() > static_cast<int64_t>(kFoldedBytes);
}

}  // namespace

ExpressionPtr fold(ExpressionPtr expression) {
  if (expression->args.empty() && expression->kind != ExpressionKind::Call) return expression;
  if (expression->function != nullptr && expression->function->volatility != Volatility::Immutable)
    return expression;
  size_t bytes_max = kFoldedBytes;
  for (const ExpressionPtr& arg : expression->args) {
    if (arg->kind != ExpressionKind::Constant) return expression;
    bytes_max += arg->constant.memory_bytes();
  }
  if (makes_much_of_little(*expression)) return expression;
  Evaluation evaluation;
  Value value;
  const Value no_columns;
  const Program program(*expression);
  if (!program.run(evaluation, RowInput(&no_columns), value).ok()) return expression;
  OwnedValue result(value);
  if (result.memory_bytes() > bytes_max) return expression;
  return make_constant(result.get(), expression->type, expression->location);
}

}  // namespace tidemark::sql
