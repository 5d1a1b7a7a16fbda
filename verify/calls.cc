#include <algorithm>

#include "verify/translator.h"

namespace tidemark::verify {

namespace {

constexpr TypeKind kBool = TypeKind::Boolean, kInt4 = TypeKind::Int4, kInt8 = TypeKind::Int8,
                   kNumeric = TypeKind::Numeric, kFloat = TypeKind::Float8, kText = TypeKind::Text;

// A function that takes its arguments as they are, once they have these types.
struct Plain {
  std::string_view name;
  std::string_view sqlite;
  TypeKind result;
  std::vector<TypeKind> arguments;
};

const std::vector<Plain>& plain_functions() {
  static const std::vector<Plain> functions = {
      {"lower", "t_lower", kText, {kText}},
      {"upper", "t_upper", kText, {kText}},
      {"initcap", "t_initcap", kText, {kText}},
      {"length", "t_length", kInt4, {kText}},
      {"char_length", "t_length", kInt4, {kText}},
      {"character_length", "t_length", kInt4, {kText}},
      {"octet_length", "t_octets", kInt4, {kText}},
      {"ascii", "t_ascii", kInt4, {kText}},
      {"chr", "t_chr", kText, {kInt4}},
      {"reverse", "t_reverse", kText, {kText}},
      {"btrim", "t_btrim", kText, {kText, kText}},
      {"ltrim", "t_ltrim", kText, {kText, kText}},
      {"rtrim", "t_rtrim", kText, {kText, kText}},
      {"lpad", "t_lpad", kText, {kText, kInt4, kText}},
      {"rpad", "t_rpad", kText, {kText, kInt4, kText}},
      {"left", "t_left", kText, {kText, kInt4}},
      {"right", "t_right", kText, {kText, kInt4}},
      {"repeat", "t_repeat", kText, {kText, kInt4}},
      {"replace", "t_replace", kText, {kText, kText, kText}},
      {"translate", "t_translate", kText, {kText, kText, kText}},
      {"split_part", "t_split_part", kText, {kText, kText, kInt4}},
      {"strpos", "t_position", kInt4, {kText, kText}},
      {"position", "t_position", kInt4, {kText, kText}},
      {"starts_with", "t_starts_with", kBool, {kText, kText}},
      {"substr", "t_substring", kText, {kText, kInt4, kInt4}},
      {"substring", "t_substring", kText, {kText, kInt4, kInt4}},
      {"like_escape", "t_like_escape", kText, {kText, kText}},
      {"sqrt", "f8_sqrt", kFloat, {kFloat}},
      {"exp", "f8_exp", kFloat, {kFloat}},
      {"ln", "f8_ln", kFloat, {kFloat}},
      {"log", "f8_log", kFloat, {kFloat}},
      {"log10", "f8_log", kFloat, {kFloat}},
      {"pow", "f8_power", kFloat, {kFloat, kFloat}},
      {"power", "f8_power", kFloat, {kFloat, kFloat}},
      {"div", "num_idiv", kNumeric, {kNumeric, kNumeric}},
      {"make_date", "make_date", TypeKind::Date, {kInt4, kInt4, kInt4}},
      {"to_timestamp", "ts_from_epoch", TypeKind::TimestampTz, {kFloat}},
      {"jsonb_typeof", "json_kind", kText, {TypeKind::Jsonb}},
      {"jsonb_array_length", "json_length", kInt4, {TypeKind::Jsonb}},
  };
  return functions;
}

// What an argument that is left out is.
Exprs with_defaults(const std::string& name, Exprs arguments) {
  const bool trims = name == "btrim" || name == "ltrim" || name == "rtrim";
  if (trims && arguments.size() == 1) arguments.push_back({"' '", {kText}});
  if ((name == "lpad" || name == "rpad") && arguments.size() == 2) arguments.push_back({"' '", {kText}});
  if ((name == "substr" || name == "substring") && arguments.size() == 2) {
    arguments.push_back({"2147483647", {kInt4}});
  }
  return arguments;
}

bool takes(const Plain& function, const Exprs& arguments) {
  if (function.arguments.size() != arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type given = arguments[i].type;
    const TypeKind wanted = function.arguments[i];
    if (given.kind == TypeKind::Unknown || given.kind == wanted) continue;
    // A numeric given to a function of floats is another function, with another answer.
    const bool widens = given.is_integer() && Type{wanted}.is_number() && given.kind <= wanted;
    if (!widens) return false;
  }
  return true;
}

std::string described(const std::string& name, const Exprs& arguments) {
  std::string out = name + "(";
  for (size_t i = 0; i < arguments.size(); ++i) {
    out += (i > 0 ? ", " : "") + std::string(type_name(arguments[i].type.kind));
  }
  return out + ")";
}

// abs, ceil, floor, round, sign, trunc: one for each kind of number.
Result<Expr> number_function(const std::string& name, const Exprs& arguments) {
  const std::string own = name == "ceiling" ? "ceil" : name;
  const Expr& number = arguments[0];
  if (own == "abs" && number.type.is_integer()) {
    return Expr{call("int_abs", {number.sql, std::to_string(integer_width(number.type.kind))}), number.type};
  }
  if (arguments.size() == 2 || number.type.kind == kNumeric) {
    TM_ASSIGN(Expr value, cast(number, kNumeric));
    std::vector<std::string> parts = {value.sql};
    if (own == "round" || own == "trunc") parts.push_back(arguments.size() == 2 ? arguments[1].sql : "0");
    return Expr{call("num_" + own, parts), value.type};
  }
  TM_ASSIGN(Expr value, cast(number, kFloat));
  return Expr{call("f8_" + own, {value.sql}), {kFloat}};
}

bool is_number_function(const std::string& name, const Exprs& arguments) {
  for (const char* known : {"abs", "ceil", "ceiling", "floor", "sign"}) {
    if (name == known) return arguments.size() == 1;
  }
  return (name == "round" || name == "trunc") && (arguments.size() == 1 || arguments.size() == 2);
}

Result<Expr> concat(const std::string& name, const Exprs& arguments) {
  const bool separated = name == "concat_ws";
  std::vector<std::string> parts;
  for (const Expr& argument : arguments) {
    Expr text = argument;
    if (argument.type.kind == kBool) {
      text = {"CASE " + argument.sql + " WHEN 1 THEN 't' WHEN 0 THEN 'f' END", {kText}};
    }
    TM_ASSIGN(text, cast(text, kText));
    parts.push_back(text.sql);
  }
  std::string out = "''";
  if (!separated) {
    for (const std::string& part : parts) out += " || coalesce(" + part + ", '')";
    return Expr{"(" + out + ")", {kText}};
  }
  if (parts.empty()) return unsupported("concat_ws()");
  // Each part with the separator before it; then the first separator goes.
  for (size_t i = 1; i < parts.size(); ++i) out += " || coalesce(" + parts[0] + " || " + parts[i] + ", '')";
  return Expr{"substr((" + out + "), length(" + parts[0] + ") + 1)", {kText}};
}

Result<Expr> extract(const std::string& name, const Exprs& arguments) {
  const Expr& field = arguments[0];
  Expr source = arguments[1];
  std::string function;
  switch (source.type.kind) {
    case TypeKind::Date:
      function = name == "extract" ? "date_extract" : "ts_extract";
      if (name != "extract") source.sql = call("ts_from_date", {source.sql});
      break;
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: function = "ts_extract"; break;
    case TypeKind::Interval: function = "iv_extract"; break;
    default: return unsupported(described(name, arguments));
  }
  const Expr number{call(function, {field.sql, source.sql}), {kNumeric}};
  return name == "extract" ? Result<Expr>(number) : cast(number, kFloat);
}

Result<Expr> date_trunc(const Exprs& arguments) {
  Expr source = arguments[1];
  if (source.type.kind == TypeKind::Date) {
    TM_ASSIGN(source, cast(source, TypeKind::TimestampTz));
  }
  if (source.type.kind != TypeKind::Timestamp && source.type.kind != TypeKind::TimestampTz) {
    return unsupported(described("date_trunc", arguments));
  }
  return Expr{call("ts_trunc", {arguments[0].sql, source.sql}), source.type};
}

Result<Expr> at_time_zone(const Exprs& arguments) {
  if (arguments[0].sql != "'UTC'" && arguments[0].sql != "'utc'")
    return unsupported("AT TIME ZONE of another zone than UTC");
  const TypeKind kind = arguments[1].type.kind;
  if (kind == TypeKind::TimestampTz) return Expr{arguments[1].sql, {TypeKind::Timestamp}};
  TM_ASSIGN(Expr moment, cast(arguments[1], TypeKind::Timestamp));
  return Expr{moment.sql, {kind == TypeKind::Date ? TypeKind::Timestamp : TypeKind::TimestampTz}};
}

}  // namespace

Result<Expr> function_call(const std::string& name, const Exprs& given) {
  const Exprs arguments = with_defaults(name, given);
  if (is_number_function(name, arguments) && arguments[0].type.is_number())
    return number_function(name, arguments);
  if (name == "mod" && arguments.size() == 2) return binary_operator("%", arguments[0], arguments[1]);
  if (name == "concat" || name == "concat_ws") return concat(name, arguments);
  if (name == "pi" && arguments.empty()) return Expr{"3.141592653589793", {kFloat}};
  if (name == "date" && arguments.size() == 1) return cast(arguments[0], TypeKind::Date);
  if ((name == "octet_length" || name == "length") && arguments.size() == 1 &&
      arguments[0].type.kind == TypeKind::Bytea) {
    return Expr{call("b_octets", {arguments[0].sql}), {kInt4}};
  }
  if (arguments.size() == 2) {
    if (name == "extract" || name == "date_part") return extract(name, arguments);
    if (name == "date_trunc") return date_trunc(arguments);
    if (name == "timezone") return at_time_zone(arguments);
  }
  for (const Plain& function : plain_functions()) {
    if (function.name != name || !takes(function, arguments)) continue;
    std::vector<std::string> parts;
    for (size_t i = 0; i < arguments.size(); ++i) {
      TM_ASSIGN(Expr argument, cast(arguments[i], function.arguments[i]));
      parts.push_back(argument.sql);
    }
    return Expr{call(function.sqlite, parts), {function.result}};
  }
  return unsupported(described(name, arguments));
}

bool is_aggregate(const std::string& name) {
  for (const char* known : {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every"}) {
    if (name == known) return true;
  }
  return false;
}

Result<Expr> aggregate_call(const std::string& name, const Expr& argument, bool distinct) {
  const Type type = argument.type;
  const std::string of = (distinct ? "DISTINCT " : "") + argument.sql;
  if (name == "count")
    return Expr{"count(" + std::string(distinct ? "DISTINCT " : "") + key_of(argument) + ")", {kInt8}};
  if (name == "bool_and" || name == "every") return Expr{"min(" + argument.sql + ")", {kBool}};
  if (name == "bool_or") return Expr{"max(" + argument.sql + ")", {kBool}};
  if (name == "min" || name == "max") {
    if (type.kind == kNumeric) return Expr{"num_" + name + "(" + argument.sql + ")", {kNumeric, true}};
    if (type.kind == TypeKind::Jsonb || type.kind == TypeKind::Interval) {
      return unsupported(described(name, {argument}));
    }
    return Expr{name + "(" + argument.sql + ")", {type.kind == TypeKind::Unknown ? kText : type.kind}};
  }
  const bool exact = type.is_integer() || (type.kind == kNumeric && !distinct);
  if (!exact) return unsupported((distinct ? "distinct " : "") + described(name, {argument}));
  // Of numerics, Tidemark keeps the longest scale that it has seen: the value is compared, not its zeros.
  const Type result{kNumeric, type.kind == kNumeric};
  if (name == "avg") return Expr{"avg_to_num(" + of + ")", result};
  if (type.kind == TypeKind::Int2 || type.kind == TypeKind::Int4)
    return Expr{"sum_to_int(" + of + ")", {kInt8}};
  return Expr{"sum_to_num(" + of + ")", result};
}

}  // namespace tidemark::verify
