#include "verify/calendar.h"
#include "verify/translator.h"

namespace tidemark::verify {

namespace {

bool is_time(TypeKind kind) {
  return kind == TypeKind::Date || kind == TypeKind::Timestamp || kind == TypeKind::TimestampTz;
}

std::string kind_constant(TypeKind kind) {
  return std::to_string(static_cast<int>(kind));
}

std::string width_constant(TypeKind kind) {
  return std::to_string(integer_width(kind));
}

Error no_cast(const Expr& expr, TypeKind to) {
  return unsupported("a cast from " + std::string(type_name(expr.type.kind)) + " to " +
                     std::string(type_name(to)));
}

// Between numbers; REQUIRES: both are.
std::string cast_number(const Expr& expr, TypeKind to) {
  const TypeKind from = expr.type.kind;
  const bool to_integer = Type{to}.is_integer();
  if (expr.type.is_integer()) {
    if (to == TypeKind::Numeric) return call("num_from_int", {expr.sql});
    if (to == TypeKind::Float8) return call("f8_from_int", {expr.sql});
    return integer_width(to) >= integer_width(from) ? expr.sql
                                                    : call("int_fit", {expr.sql, width_constant(to)});
  }
  if (from == TypeKind::Numeric) {
    return to_integer ? call("int_from_num", {expr.sql, width_constant(to)})
                      : call("f8_from_num", {expr.sql});
  }
  return to_integer ? call("int_from_f8", {expr.sql, width_constant(to)}) : call("num_from_f8", {expr.sql});
}

Result<Expr> cast_json(const Expr& expr, TypeKind to) {
  const Type type{to, expr.type.any_of_equals && to == TypeKind::Numeric};
  if (to == TypeKind::Boolean) return Expr{call("json_boolean", {expr.sql}), type};
  if (!Type{to}.is_number()) return no_cast(expr, to);
  const Expr number{call("json_number", {expr.sql}), {TypeKind::Numeric}};
  return to == TypeKind::Numeric ? Expr{number.sql, type} : Expr{cast_number(number, to), type};
}

}  // namespace

Error unsupported(const std::string& what) {
  return {what + " is not translated"};
}

std::string call(std::string_view function, const std::vector<std::string>& arguments) {
  std::string out(function);
  out += '(';
  for (size_t i = 0; i < arguments.size(); ++i) out += (i > 0 ? ", " : "") + arguments[i];
  return out + ")";
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

Result<Expr> cast(const Expr& expr, TypeKind to) {
  const TypeKind from = expr.type.kind;
  if (from == to) return expr;
  if (from == TypeKind::Unknown || from == TypeKind::Text) {
    if (to == TypeKind::Text) return Expr{expr.sql, {to}};
    return Expr{call("value_in", {kind_constant(to), expr.sql}), {to}};
  }
  if (to == TypeKind::Text) {
    if (expr.type.any_of_equals)
      return unsupported("the text of a number whose scale is not fixed, as a group's,");
    if (from == TypeKind::Interval) return no_cast(expr, to);
    return Expr{call("value_out", {kind_constant(from), expr.sql}), {to}};
  }
  if (expr.type.is_number() && Type{to}.is_number()) {
    return Expr{cast_number(expr, to), {to, expr.type.any_of_equals && to == TypeKind::Numeric}};
  }
  if (from == TypeKind::Jsonb) return cast_json(expr, to);
  if (from == TypeKind::Int4 && to == TypeKind::Boolean) return Expr{"(" + expr.sql + " <> 0)", {to}};
  if (from == TypeKind::Boolean && to == TypeKind::Int4) return Expr{expr.sql, {to}};
  if (is_time(from) && is_time(to)) {
    if (from == TypeKind::Date) return Expr{call("ts_from_date", {expr.sql}), {to}};
    if (to == TypeKind::Date) return Expr{call("date_from_ts", {expr.sql}), {to}};
    return Expr{expr.sql, {to}};
  }
  return no_cast(expr, to);
}

Result<TypeKind> common_type(const Exprs& exprs) {
  TypeKind out = TypeKind::Unknown;
  for (const Expr& expr : exprs) {
    const TypeKind kind = expr.type.kind;
    if (kind == TypeKind::Unknown || kind == out) continue;
    if (out == TypeKind::Unknown) {
      out = kind;
      continue;
    }
    const bool numbers = Type{out}.is_number() && expr.type.is_number();
    if (!numbers && !(is_time(out) && is_time(kind))) {
      return unsupported("a mixture of " + std::string(type_name(out)) + " and " +
                         std::string(type_name(kind)));
    }
    out = std::max(out, kind);  // Kinds are in the order in which PostgreSQL widens them.
  }
  return out;
}

Result<Exprs> unified(const Exprs& exprs) {
  TM_ASSIGN(TypeKind kind, common_type(exprs));
  if (kind == TypeKind::Unknown) kind = TypeKind::Text;
  Exprs out;
  for (const Expr& expr : exprs) {
    TM_ASSIGN(Expr one, cast(expr, kind));
    out.push_back(std::move(one));
  }
  return out;
}

std::string key_of(const Expr& expr) {
  switch (expr.type.kind) {
    case TypeKind::Numeric: return call("num_key", {expr.sql});
    case TypeKind::Jsonb: return call("json_key", {expr.sql});
    case TypeKind::Interval: return call("iv_key", {expr.sql});
    default: return expr.sql;
  }
}

}  // namespace tidemark::verify
