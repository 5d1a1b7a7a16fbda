#include "verify/translator.h"

namespace tidemark::verify {

namespace {

struct Arithmetic {
  const char* name;
  const char* suffix;
};
constexpr Arithmetic kArithmetic[] = {{"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"%", "mod"}};

const char* suffix_of(const std::string& name) {
  for (const Arithmetic& known : kArithmetic) {
    if (name == known.name) return known.suffix;
  }
  return nullptr;
}

Error no_operator(const std::string& name, const Expr& left, const Expr& right) {
  return unsupported("the operator " + std::string(type_name(left.type.kind)) + " " + name + " " +
                     std::string(type_name(right.type.kind)));
}

Result<Expr> number_arithmetic(const std::string& name, const Expr& left, const Expr& right) {
  TM_ASSIGN(Exprs sides, unified({left, right}));
  const TypeKind kind = sides[0].type.kind;
  const Type type{kind, sides[0].type.any_of_equals || sides[1].type.any_of_equals};
  if (name == "^" && kind == TypeKind::Float8)
    return Expr{call("f8_power", {sides[0].sql, sides[1].sql}), type};
  const char* suffix = suffix_of(name);
  if (suffix == nullptr || (kind == TypeKind::Float8 && name == "%")) return no_operator(name, left, right);
  if (type.is_integer()) {
    return Expr{
        call(std::string("int_") + suffix, {sides[0].sql, sides[1].sql, std::to_string(integer_width(kind))}),
        type};
  }
  const std::string prefix = kind == TypeKind::Numeric ? "num_" : "f8_";
  return Expr{call(prefix + suffix, {sides[0].sql, sides[1].sql}), type};
}

bool is_timestamp(const Expr& expr) {
  return expr.type.kind == TypeKind::Timestamp || expr.type.kind == TypeKind::TimestampTz;
}

Result<Expr> time_arithmetic(const std::string& name, const Expr& left, const Expr& right) {
  const TypeKind a = left.type.kind, b = right.type.kind;
  const bool plus = name == "+";
  if (!plus && name != "-") return no_operator(name, left, right);
  if (a == TypeKind::Date && right.type.is_integer()) {
    return Expr{call("date_add", {left.sql, plus ? right.sql : "-(" + right.sql + ")"}), {a}};
  }
  if (plus && (left.type.is_integer() || a == TypeKind::Interval) && b != TypeKind::Interval) {
    return time_arithmetic(name, right, left);
  }
  if (b == TypeKind::Interval) {
    if (a == TypeKind::Interval) return Expr{call(plus ? "iv_add" : "iv_sub", {left.sql, right.sql}), {a}};
    TM_ASSIGN(Expr moment, cast(left, a == TypeKind::Date ? TypeKind::Timestamp : a));
    if (!is_timestamp(moment)) return no_operator(name, left, right);
    return Expr{call(plus ? "ts_add" : "ts_sub_iv", {moment.sql, right.sql}), moment.type};
  }
  if (plus) return no_operator(name, left, right);
  TM_ASSIGN(Exprs sides, unified({left, right}));
  if (sides[0].type.kind == TypeKind::Date) {
    return Expr{call("date_sub", {sides[0].sql, sides[1].sql}), {TypeKind::Int4}};
  }
  if (!is_timestamp(sides[0])) return no_operator(name, left, right);
  return Expr{call("ts_sub", {sides[0].sql, sides[1].sql}), {TypeKind::Interval}};
}

Result<Expr> concatenation(const Expr& left, const Expr& right) {
  if (left.type.kind == TypeKind::Jsonb || right.type.kind == TypeKind::Jsonb) {
    TM_ASSIGN(Expr a, cast(left, TypeKind::Jsonb));
    TM_ASSIGN(Expr b, cast(right, TypeKind::Jsonb));
    return Expr{call("json_concat", {a.sql, b.sql}),
                {TypeKind::Jsonb, a.type.any_of_equals || b.type.any_of_equals}};
  }
  if (left.type.kind == TypeKind::Bytea || right.type.kind == TypeKind::Bytea) {
    TM_ASSIGN(Expr a, cast(left, TypeKind::Bytea));
    TM_ASSIGN(Expr b, cast(right, TypeKind::Bytea));
    return Expr{call("b_concat", {a.sql, b.sql}), {TypeKind::Bytea}};
  }
  TM_ASSIGN(Expr a, cast(left, TypeKind::Text));
  TM_ASSIGN(Expr b, cast(right, TypeKind::Text));
  return Expr{"(" + a.sql + " || " + b.sql + ")", {TypeKind::Text}};
}

Result<Expr> json_part(const std::string& name, const Expr& left, const Expr& right) {
  if (left.type.kind != TypeKind::Jsonb) return no_operator(name, left, right);
  if (left.type.any_of_equals) return unsupported("a part of a group's jsonb");
  Expr where = right;
  if (!right.type.is_integer()) {
    TM_ASSIGN(where, cast(right, TypeKind::Text));
  }
  const bool text = name == "->>";
  return Expr{call(text ? "json_part_text" : "json_part", {left.sql, where.sql}),
              {text ? TypeKind::Text : TypeKind::Jsonb}};
}

Result<Expr> like(const std::string& name, const Expr& left, const Expr& right) {
  TM_ASSIGN(Expr text, cast(left, TypeKind::Text));
  TM_ASSIGN(Expr pattern, cast(right, TypeKind::Text));
  const bool any_case = name.find('*') != std::string::npos;
  if (any_case) {
    text.sql = call("t_lower", {text.sql});
    pattern.sql = call("t_lower", {pattern.sql});
  }
  const std::string matches = call("t_like", {text.sql, pattern.sql});
  return Expr{name[0] == '!' ? "(NOT " + matches + ")" : matches, {TypeKind::Boolean}};
}

bool is_time_like(const Expr& expr) {
  return expr.type.kind == TypeKind::Date || is_timestamp(expr) || expr.type.kind == TypeKind::Interval;
}

// A literal takes the type of what it meets.
Result<Expr> resolved(const Expr& literal, const Expr& other) {
  if (literal.type.kind != TypeKind::Unknown || other.type.kind == TypeKind::Unknown) return literal;
  return cast(literal, other.type.kind);
}

}  // namespace

Result<Expr> comparison(const std::string& name, const Expr& left, const Expr& right) {
  TM_ASSIGN(Exprs sides, unified({left, right}));
  const bool equality = name == "=" || name == "<>" || name == "!=";
  if (sides[0].type.kind == TypeKind::Jsonb && !equality) return unsupported("the order of jsonb");
  return Expr{"(" + key_of(sides[0]) + " " + name + " " + key_of(sides[1]) + ")", {TypeKind::Boolean}};
}

Result<Expr> binary_operator(const std::string& name, const Expr& left, const Expr& right) {
  if (name == "=" || name == "<>" || name == "!=" || name == "<" || name == "<=" || name == ">" ||
      name == ">=") {
    return comparison(name, left, right);
  }
  if (name == "||") return concatenation(left, right);
  if (name == "->" || name == "->>") return json_part(name, left, right);
  if (name == "~~" || name == "!~~" || name == "~~*" || name == "!~~*") return like(name, left, right);
  if (name == "+" && is_timestamp(left) && right.type.kind == TypeKind::Unknown) {
    // Two moments have no sum, so that the literal is no moment; a difference they have.
    TM_ASSIGN(Expr interval, cast(right, TypeKind::Interval));
    return time_arithmetic(name, left, interval);
  }
  TM_ASSIGN(Expr a, resolved(left, right));
  TM_ASSIGN(Expr b, resolved(right, left));
  if (a.type.is_number() && b.type.is_number()) return number_arithmetic(name, a, b);
  if (is_time_like(a) || is_time_like(b)) return time_arithmetic(name, a, b);
  return no_operator(name, a, b);
}

Result<Expr> unary_operator(const std::string& name, const Expr& operand) {
  if (name == "+" && operand.type.is_number()) return operand;
  if (name != "-") return unsupported("the operator " + name);
  if (operand.type.is_integer()) {
    return Expr{call("int_sub", {"0", operand.sql, std::to_string(integer_width(operand.type.kind))}),
                operand.type};
  }
  switch (operand.type.kind) {
    case TypeKind::Numeric: return Expr{call("num_neg", {operand.sql}), operand.type};
    case TypeKind::Float8: return Expr{call("f8_neg", {operand.sql}), operand.type};
    case TypeKind::Interval: return Expr{call("iv_neg", {operand.sql}), operand.type};
    default: return unsupported("the operator - of " + std::string(type_name(operand.type.kind)));
  }
}

}  // namespace tidemark::verify
