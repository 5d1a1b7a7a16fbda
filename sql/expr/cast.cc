#include <cmath>

#include "sql/expr/function.h"
#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {
namespace {

constexpr Fault range_fault(TypeKind kind) {
  switch (kind) {
    case TypeKind::SmallInt: return {sqlstate::kNumericValueOutOfRange, "smallint out of range"};
    case TypeKind::Integer: return {sqlstate::kNumericValueOutOfRange, "integer out of range"};
    default: return {sqlstate::kNumericValueOutOfRange, "bigint out of range"};
  }
}

template <TypeKind To>
Fault store_integer(int64_t value, Value& out) {
  if constexpr (To == TypeKind::SmallInt) {
    if (value != static_cast<int16_t>(value)) return range_fault(To);
  } else if constexpr (To == TypeKind::Integer) {
    if (value != static_cast<int32_t>(value)) return range_fault(To);
  }
  out = Value::of_int(To, value);
  return kOk;
}

template <TypeKind To>
Fault integer_to_integer(Evaluation&, const Value* args, int, Value& out) {
  return store_integer<To>(args[0].as_int(), out);
}

template <TypeKind To>
Fault numeric_to_integer(const Numeric& number, Value& out) {
  int64_t value = 0;
  switch (numeric_to_int64(number, value)) {
    case IntegerFit::Fits: return store_integer<To>(value, out);
    case IntegerFit::OutOfRange: return range_fault(To);
    case IntegerFit::IsNan: return {sqlstate::kFeatureNotSupported, "cannot convert NaN to an integer"};
    case IntegerFit::IsInfinite:
      return {sqlstate::kFeatureNotSupported, "cannot convert infinity to an integer"};
  }
  TM_UNREACHABLE();
}

template <TypeKind To>
Fault from_numeric(Evaluation&, const Value* args, int, Value& out) {
  return numeric_to_integer<To>(args[0].as_numeric(), out);
}

template <TypeKind To>
Fault double_to_integer(Evaluation&, const Value* args, int, Value& out) {
  const double value = std::rint(args[0].as_double());
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(value) || value < -kLimit || value >= kLimit) return range_fault(To);
  return store_integer<To>(static_cast<int64_t>(value), out);
}

Fault integer_to_numeric(Evaluation&, const Value* args, int, Value& out) {
  out = Value::numeric(Numeric::from_int(args[0].as_int()));
  return kOk;
}
Fault integer_to_double(Evaluation&, const Value* args, int, Value& out) {
  out = Value::float8(static_cast<double>(args[0].as_int()));
  return kOk;
}
Fault cast_numeric_to_double(Evaluation& evaluation, const Value* args, int, Value& out) {
  double value = 0;
  if (!numeric_to_double(args[0].as_numeric(), value).ok()) {
    return evaluation.fail(sqlstate::kNumericValueOutOfRange,
                           "\"" + to_text(args[0]) + "\" is out of range for type double precision");
  }
  out = Value::float8(value);
  return kOk;
}
Fault double_to_numeric(Evaluation& evaluation, const Value* args, int, Value& out) {
  Numeric number;
  TM_SQL_TRY(numeric_from_double(args[0].as_double(), evaluation.arena, number));
  out = Value::numeric(number);
  return kOk;
}
Fault boolean_to_integer(Evaluation&, const Value* args, int, Value& out) {
  out = Value::integer(args[0].as_bool() ? 1 : 0);
  return kOk;
}
Fault integer_to_boolean(Evaluation&, const Value* args, int, Value& out) {
  out = Value::boolean(args[0].as_int() != 0);
  return kOk;
}

Fault any_to_text(Evaluation& evaluation, const Value* args, int, Value& out) {
  if (args[0].kind() == TypeKind::Boolean) {
    out = Value::text(args[0].as_bool() ? "true" : "false");
    return kOk;
  }
  if (args[0].kind() == TypeKind::Jsonb) {
    out = Value::text(args[0].as_bytes());
    return kOk;
  }
  evaluation.scratch.clear();
  append_text(args[0], evaluation.scratch);
  out = Value::text(evaluation.arena.copy(evaluation.scratch));
  return kOk;
}

template <TypeKind To>
Fault text_to_any(Evaluation& evaluation, const Value* args, int, Value& out) {
  constexpr SqlType kType = SqlType::of(To);
  Value value;
  if (const Fault fault = value_from_text(kType, args[0].as_bytes(), evaluation.arena, value); !fault.ok()) {
    evaluation.error = input_error(fault, kType, args[0].as_bytes());
    return fault;
  }
  out = value;
  return kOk;
}

template <TypeKind To>
Fault cast_date_to_timestamp(Evaluation&, const Value* args, int, Value& out) {
  int64_t micros = 0;
  TM_SQL_TRY(date_to_timestamp(static_cast<int32_t>(args[0].as_int()), micros));
  out = Value::of_int(To, micros);
  return kOk;
}
Fault cast_timestamp_to_date(Evaluation&, const Value* args, int, Value& out) {
  out = Value::date(timestamp_to_date(args[0].as_int()));
  return kOk;
}
// The session's zone is UTC: with and without a zone are the same moment.
template <TypeKind To>
Fault relabel(Evaluation&, const Value* args, int, Value& out) {
  out = Value::of_int(To, args[0].as_int());
  return kOk;
}

constexpr Fault kNotNumber{sqlstate::kInvalidParameterValue, "cannot cast this jsonb to a number"};

template <TypeKind To>
Fault jsonb_to_number(Evaluation& evaluation, const Value* args, int, Value& out) {
  if (jsonb_kind(args[0].as_bytes()) != JsonKind::Number) return kNotNumber;
  Numeric number;
  TM_SQL_TRY(numeric_from_text(args[0].as_bytes(), evaluation.arena, number));
  if constexpr (To == TypeKind::Numeric) {
    out = Value::numeric(number);
    return kOk;
  } else if constexpr (To == TypeKind::Double) {
    const Value value = Value::numeric(number);
    return cast_numeric_to_double(evaluation, &value, 1, out);
  } else {
    return numeric_to_integer<To>(number, out);
  }
}
Fault jsonb_to_boolean(Evaluation&, const Value* args, int, Value& out) {
  if (jsonb_kind(args[0].as_bytes()) != JsonKind::Boolean) {
    return {sqlstate::kInvalidParameterValue, "cannot cast this jsonb to boolean"};
  }
  out = Value::boolean(args[0].as_bytes() == "true");
  return kOk;
}

template <TypeKind To>
void add_text_to(std::vector<Function>& out) {
  out.push_back(Function::of("cast", {TypeKind::Text}, To, text_to_any<To>));
}

}  // namespace

std::vector<Function> cast_functions() {
  using enum TypeKind;
  std::vector<Function> out;
  const auto add = [&out](TypeKind from, TypeKind to, ScalarCall call) {
    out.push_back(Function::of("cast", {from}, to, call));
  };
  for (TypeKind from : {SmallInt, Integer, BigInt}) {
    if (from != SmallInt) add(from, SmallInt, integer_to_integer<SmallInt>);
    if (from != Integer) add(from, Integer, integer_to_integer<Integer>);
    if (from != BigInt) add(from, BigInt, integer_to_integer<BigInt>);
    add(from, Numeric, integer_to_numeric);
    add(from, Double, integer_to_double);
  }
  add(Numeric, SmallInt, from_numeric<SmallInt>);
  add(Numeric, Integer, from_numeric<Integer>);
  add(Numeric, BigInt, from_numeric<BigInt>);
  add(Numeric, Double, cast_numeric_to_double);
  add(Double, SmallInt, double_to_integer<SmallInt>);
  add(Double, Integer, double_to_integer<Integer>);
  add(Double, BigInt, double_to_integer<BigInt>);
  add(Double, Numeric, double_to_numeric);
  add(Boolean, Integer, boolean_to_integer);
  add(Integer, Boolean, integer_to_boolean);
  add(Date, Timestamp, cast_date_to_timestamp<Timestamp>);
  add(Date, TimestampTz, cast_date_to_timestamp<TimestampTz>);
  add(Timestamp, Date, cast_timestamp_to_date);
  add(TimestampTz, Date, cast_timestamp_to_date);
  add(Timestamp, TimestampTz, relabel<TimestampTz>);
  add(TimestampTz, Timestamp, relabel<Timestamp>);
  add(Jsonb, Boolean, jsonb_to_boolean);
  add(Jsonb, SmallInt, jsonb_to_number<SmallInt>);
  add(Jsonb, Integer, jsonb_to_number<Integer>);
  add(Jsonb, BigInt, jsonb_to_number<BigInt>);
  add(Jsonb, Numeric, jsonb_to_number<Numeric>);
  add(Jsonb, Double, jsonb_to_number<Double>);
  for (int kind = 1; kind < static_cast<int>(Unknown); ++kind) {
    if (static_cast<TypeKind>(kind) != Text) add(static_cast<TypeKind>(kind), Text, any_to_text);
  }
  add_text_to<Boolean>(out);
  add_text_to<SmallInt>(out);
  add_text_to<Integer>(out);
  add_text_to<BigInt>(out);
  add_text_to<Numeric>(out);
  add_text_to<Double>(out);
  add_text_to<Bytea>(out);
  add_text_to<Date>(out);
  add_text_to<Timestamp>(out);
  add_text_to<TimestampTz>(out);
  add_text_to<Uuid>(out);
  add_text_to<Jsonb>(out);
  add_text_to<Interval>(out);
  return out;
}

}  // namespace tidemark::sql
