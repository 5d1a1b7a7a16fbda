#include "tests/sql/random_expressions.h"

#include <map>

#include "sql/types/text_format.h"
#include "tests/sql/oracle.h"

namespace tidemark::sql::testing {
namespace {

using Patterns = std::vector<std::string>;

const std::string kLiteralBegin = "\x01", kLiteralEnd = "\x02";

std::string short_name(TypeKind kind) {
  switch (kind) {
    case TypeKind::Boolean: return "bool";
    case TypeKind::SmallInt: return "i2";
    case TypeKind::Integer: return "i4";
    case TypeKind::BigInt: return "i8";
    case TypeKind::Numeric: return "num";
    case TypeKind::Double: return "f8";
    case TypeKind::Text: return "text";
    case TypeKind::Bytea: return "bytea";
    case TypeKind::Date: return "date";
    case TypeKind::Timestamp: return "ts";
    case TypeKind::TimestampTz: return "tz";
    case TypeKind::Uuid: return "uuid";
    case TypeKind::Jsonb: return "json";
    case TypeKind::Interval: return "iv";
    default: return "?";
  }
}

TypeKind kind_named(const std::string& name) {
  for (int i = 1; i < static_cast<int>(TypeKind::Unknown); ++i) {
    if (short_name(static_cast<TypeKind>(i)) == name) return static_cast<TypeKind>(i);
  }
  return TypeKind::Null;
}

// What holds for every type; $ is the type.
const Patterns& common_patterns() {
  static const Patterns patterns{"coalesce({$}, {$})",
                                 "nullif({$}, {$})",
                                 "greatest({$}, {$}, {$})",
                                 "least({$}, {$})",
                                 "case when {bool} then {$} else {$} end",
                                 "case when {bool} then {$} when {bool} then {$} end",
                                 "case {any1} when {any1} then {$} else {$} end",
                                 "({$})::$type",
                                 "({text})::$type",
                                 "cast({$} as $type)",
                                 "coalesce(null, {$})",
                                 "case {i4} when 1 then {$} when 2 then {$} end"};
  return patterns;
}

const std::map<TypeKind, Patterns>& patterns() {
  static const std::map<TypeKind, Patterns> all{
      {TypeKind::Boolean,
       {"({any1} = {any1})",
        "({number} < {number})",
        "({number} = {number})",
        "({number} >= {number})",
        "({text} < {text})",
        "({text} <> {text})",
        "({time} <= {time})",
        "({time} = {time})",
        "({bool} and {bool})",
        "({bool} or {bool})",
        "(not {bool})",
        "({bool} and {bool} and {bool})",
        "({any} is null)",
        "({any} is not null)",
        "({any1} is distinct from {any1})",
        "({any1} is not distinct from {any1})",
        "({number} in ({number}, {number}, {number}))",
        "({text} not in ({text}, {text}))",
        "({i4} in (1, 2, {i4}))",
        "({i4} in ({small} / {small}, {i4}, {small}, {i4}))",
        "({time} not in ({time}, {time}, {time}))",
        "({text} in ('a', 'b', 'ab'))",
        "({number} between {number} and {number})",
        "({time} not between {time} and {time})",
        "({number} between symmetric {number} and {number})",
        "({text} like {text})",
        "({text} not like '%a_')",
        "({text} ilike {text})",
        "({text} like '%' || {text} || '%')",
        "({text} like {text} escape '!')",
        "({text} like {text} escape '')",
        "({bool} is true)",
        "({bool} is not false)",
        "({bool} is unknown)",
        "starts_with({text}, {text})",
        "({json} = {json})",
        "({json} < {json})",
        "({uuid} > {uuid})",
        "({bytea} < {bytea})",
        "({iv} < {iv})",
        "({i4})::bool",
        "({number} > '5')",
        "({date} > '2001-05-05')",
        "({json} -> 'a')::bool",
        "({any1} < {any1})",
        "({any1} = null)",
        "(null <= {number})"}},
      {TypeKind::SmallInt,
       {"({i2} + {i2})", "({i2} - {i2})", "({i2} * {i2})", "({i2} / {i2})", "({i2} % {i2})", "(- {i2})",
        "abs({i2})", "({i4})::int2", "({i8})::int2", "({num})::int2", "({f8})::int2", "mod({i2}, {i2})"}},
      {TypeKind::Integer,
       {"({i4} + {i4})",
        "({i4} - {i2})",
        "({i2} * {i4})",
        "({i4} / {i4})",
        "({i4} % {i4})",
        "(- {i4})",
        "abs({i4})",
        "length({text})",
        "octet_length({text})",
        "length({bytea})",
        "strpos({text}, {text})",
        "position({text} in {text})",
        "position({bytea} in {bytea})",
        "ascii({text})",
        "({date} - {date})",
        "({i8})::int4",
        "({num})::int4",
        "({f8})::int4",
        "({bool})::int4",
        "mod({i4}, {i4})",
        "jsonb_array_length({json})",
        "({json} ->> 'a')::int4",
        "({json} -> 'b')::int4",
        "(+ {i4})",
        "({i4} + '7')"}},
      {TypeKind::BigInt,
       {"({i8} + {i8})", "({i8} - {i4})", "({i2} * {i8})", "({i8} / {i8})", "({i8} % {i4})", "(- {i8})",
        "abs({i8})", "({num})::int8", "({f8})::int8", "({i4})::int8", "mod({i8}, {i8})",
        "({i4} + 3000000000)"}},
      {TypeKind::Numeric,
       {"({num} + {num})",
        "({num} - {num})",
        "({num} * {num})",
        "({num} / {num})",
        "({num} % {num})",
        "(- {num})",
        "abs({num})",
        "round({num})",
        "round({num}, {small})",
        "trunc({num}, {small})",
        "trunc({num})",
        "ceil({num})",
        "floor({num})",
        "sign({num})",
        "sqrt({num})",
        "div({num}, {num})",
        "mod({num}, {num})",
        "({i8})::numeric",
        "({f8})::numeric",
        "({num})::numeric(10, 2)",
        "({num})::numeric(5)",
        "({num})::numeric(3, -2)",
        "({num})::numeric(3, 5)",
        "({num} + {i4})",
        "({i8} / {num})",
        "extract({field} from {ts})",
        "extract({field} from {tz})",
        "extract({dfield} from {date})",
        "({json} ->> 'a')::numeric",
        "({json} -> 0)::numeric",
        "(1.5 * {num})",
        "({i4} * 0.1)",
        "({text})::numeric(12, 3)"}},
      {TypeKind::Double,
       {"({f8} + {f8})",
        "({f8} - {f8})",
        "({f8} * {f8})",
        "({f8} / {f8})",
        "(- {f8})",
        "abs({f8})",
        "round({f8})",
        "trunc({f8})",
        "ceil({f8})",
        "floor({f8})",
        "sign({f8})",
        "sqrt({f8})",
        "exp({f8})",
        "ln({f8})",
        "log({f8})",
        "power({f8}, {f8})",
        "({f8} ^ {i4})",
        "({num})::float8",
        "({i8})::float8",
        "date_part({qfield}, {ts})",
        "date_part('hour', {date})",
        "({f8} + {num})",
        "({f8} * {i4})",
        "power({i4}, {i4})",
        "sqrt({i4})",
        "({json} -> 'a')::float8"}},
      {TypeKind::Text,
       {"({text} || {text})",
        "({text} || {any})",
        "({any} || {text})",
        "upper({text})",
        "lower({text})",
        "initcap({text})",
        "substr({text}, {small})",
        "substr({text}, {small}, {small})",
        "substring({text} from {small} for {small})",
        "left({text}, {small})",
        "right({text}, {small})",
        "lpad({text}, {small})",
        "rpad({text}, {small}, {text})",
        "lpad({text}, {small}, {text})",
        "trim({text})",
        "ltrim({text}, {text})",
        "rtrim({text}, {text})",
        "btrim({text}, {text})",
        "trim(leading 'a' from {text})",
        "replace({text}, {text}, {text})",
        "translate({text}, {text}, {text})",
        "reverse({text})",
        "repeat({text}, {small})",
        "split_part({text}, {text}, {small})",
        "concat({any}, {any}, {any})",
        "concat_ws({text}, {any}, {any})",
        "({any})::text",
        "({json} ->> 'a')",
        "({json} ->> {small})",
        "({json} -> 'b' ->> 'a')",
        "jsonb_typeof({json})",
        "({text})::varchar(3)",
        "chr({small})",
        "({bool})::text",
        "({num})::text",
        "({f8})::text"}},
      {TypeKind::Bytea,
       {"({bytea} || {bytea})", "'\\x00ff41'::bytea", "substr({bytea}, {small})",
        "substring({bytea} from {small} for {small})", "btrim({bytea}, {bytea})", "ltrim({bytea}, {bytea})",
        "trim(trailing {bytea} from {bytea})"}},
      {TypeKind::Date,
       {"({date} + {small})", "({small} + {date})", "({date} - {small})", "({ts})::date", "({tz})::date",
        "make_date({year}, {small}, {small})", "date({ts})", "({date} + {i4})"}},
      {TypeKind::Timestamp,
       {"({date})::timestamp", "({tz})::timestamp", "date_trunc({tfield}, {ts})", "({ts} + {iv})",
        "({ts} - {iv})", "({iv} + {ts})", "({date} + {iv})", "({iv} + {date})", "({tz} at time zone 'UTC')",
        "({ts})::timestamp(2)", "({ts})::timestamp(0)"}},
      {TypeKind::TimestampTz,
       {"({ts})::timestamptz", "({date})::timestamptz", "date_trunc({tfield}, {tz})", "({tz} + {iv})",
        "({iv} + {tz})", "to_timestamp({f8})", "to_timestamp({i4})", "({ts} at time zone 'utc')",
        "({tz})::timestamptz(3)"}},
      {TypeKind::Uuid, {"({uuid})"}},
      {TypeKind::Jsonb,
       {"({json} -> 'a')", "({json} -> {small})", "({json} -> 'b' -> 'a')", "({json} -> {text})",
        "({json} || {json})", "({json})"}},
      {TypeKind::Interval,
       {"({ts} - {ts})", "({tz} - {tz})", "({iv} + {iv})", "({iv} - {iv})", "(- {iv})", "({date} - {ts})"}},
  };
  return all;
}

std::string sql_type(TypeKind kind) {
  return std::string(type_name(kind));
}

}  // namespace

const std::vector<RandomColumn>& random_columns() {
  static const std::vector<RandomColumn> columns = [] {
    std::vector<RandomColumn> out;
    for (TypeKind kind : column_kinds()) {
      out.push_back({"a_" + short_name(kind), kind});
      out.push_back({"b_" + short_name(kind), kind});
    }
    return out;
  }();
  return columns;
}

std::string RandomExpressions::leaf(TypeKind kind) {
  if (random_.chance(4)) return "null::" + sql_type(kind);
  if (kind == TypeKind::Interval) {
    return "interval " + quote(random_.pick(Patterns{"1 day", "-3 hours", "1 mon 2 days 03:04:05.678",
                                                     "1 year", "00:00:01", "-1 mon +1 day"}));
  }
  if (random_.chance(75)) return (random_.chance(50) ? "a_" : "b_") + short_name(kind);
  return kLiteralBegin + literal(kind) + kLiteralEnd;
}

std::string RandomExpressions::literal(TypeKind kind) {
  switch (kind) {
    case TypeKind::Boolean: return random_.chance(50) ? "true" : "false";
    case TypeKind::SmallInt:
      return "'" + std::to_string(static_cast<int>(random_.below(20)) - 5) + "'::smallint";
    case TypeKind::Integer: return std::to_string(static_cast<int>(random_.below(20)) - 5);
    case TypeKind::BigInt: return "'" + std::to_string(static_cast<int>(random_.below(20)) - 5) + "'::bigint";
    case TypeKind::Numeric:
      return random_.pick(Patterns{"0.0", "1.50", "-2.25", "100.001", "0.00001", "12345678901234567890.5",
                                   "1e10", "7::numeric"});
    case TypeKind::Double:
      return random_.pick(Patterns{"0::float8", "1.5::float8", "'-2.25'::float8", "1e10::float8",
                                   "1e-10::float8", "'NaN'::float8"});
    case TypeKind::Text:
      if (random_.chance(60)) return quote(random_.text()) + "::text";
      return quote(random_.pick(Patterns{"%", "_%", "a%b", "!%", "abc", "b", ""})) + "::text";
    default: {
      Arena arena;
      std::string text;
      const Value value = random_.value(kind, arena);
      append_text(value, text);
      return quote(text) + "::" + sql_type(kind);
    }
  }
}

std::string with_literals(const std::string& sql,
                          const std::function<std::string(const std::string&)>& replace) {
  std::string out;
  for (size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] != kLiteralBegin[0]) {
      out.push_back(sql[at]);
      continue;
    }
    const size_t end = sql.find(kLiteralEnd, at);
    out += replace(sql.substr(at + 1, end - at - 1));
    at = end;
  }
  return out;
}

std::string RandomExpressions::placeholder(const std::string& name, int depth) {
  if (name == "any") return of_any(depth);
  if (name == "number") {
    return of(random_.pick(std::vector<TypeKind>{TypeKind::SmallInt, TypeKind::Integer, TypeKind::BigInt,
                                                 TypeKind::Numeric, TypeKind::Double}),
              depth);
  }
  if (name == "time")
    return of(random_.pick(std::vector<TypeKind>{TypeKind::Date, TypeKind::Timestamp, TypeKind::TimestampTz}),
              depth);
  if (name == "small")
    return kLiteralBegin + std::to_string(static_cast<int>(random_.below(12)) - 3) + kLiteralEnd;
  if (name == "year") return std::to_string(static_cast<int>(random_.below(3000)) - 200);
  static const Patterns date_fields{"year",    "month",   "day",    "dow",     "isodow",     "doy",  "week",
                                    "quarter", "isoyear", "decade", "century", "millennium", "epoch"};
  static const Patterns time_fields{"hour", "minute", "second", "milliseconds", "microseconds"};
  if (name == "dfield") return random_.pick(date_fields);
  if (name == "field") return random_.pick(random_.chance(70) ? date_fields : time_fields);
  if (name == "qfield") return quote(random_.pick(random_.chance(60) ? date_fields : time_fields));
  if (name == "tfield") {
    return quote(
        random_.pick(Patterns{"microseconds", "milliseconds", "second", "minute", "hour", "day", "week",
                              "month", "quarter", "year", "decade", "century", "millennium"}));
  }
  return of(kind_named(name), depth);
}

// Replaces {name}. The kind of {any1} is the same throughout the pattern.
std::string RandomExpressions::expand(const std::string& pattern, int depth) {
  const std::string same = short_name(random_.pick(column_kinds()));
  std::string out;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '{') {
      out.push_back(pattern[at]);
      continue;
    }
    const size_t end = pattern.find('}', at);
    const std::string name = pattern.substr(at + 1, end - at - 1);
    out += placeholder(name == "any1" ? same : name, depth);
    at = end;
  }
  return out;
}

std::string RandomExpressions::of(TypeKind kind, int depth) {
  if (random_.chance(1)) kind = random_.pick(column_kinds());
  if (depth <= 0 || random_.chance(15)) return leaf(kind);
  const bool common = random_.chance(25);
  std::string pattern = random_.pick(common ? common_patterns() : patterns().at(kind));
  for (size_t at = pattern.find('$'); at != std::string::npos; at = pattern.find('$')) {
    const bool is_type = pattern.compare(at, 5, "$type") == 0;
    pattern.replace(at, is_type ? 5 : 1, is_type ? sql_type(kind) : short_name(kind));
  }
  return expand(pattern, depth - 1);
}

std::string RandomExpressions::of_any(int depth) {
  return of(random_.pick(column_kinds()), depth);
}

}  // namespace tidemark::sql::testing
