#include <cmath>

#include "sql/expr/function.h"
#include "sql/types/datetime.h"

namespace tidemark::sql {
namespace {

template <TypeKind K>
struct IntegerOf;
template <>
struct IntegerOf<TypeKind::SmallInt> {
  using Type = int16_t;
  static constexpr Fault kRange{sqlstate::kNumericValueOutOfRange, "smallint out of range"};
};
template <>
struct IntegerOf<TypeKind::Integer> {
  using Type = int32_t;
  static constexpr Fault kRange{sqlstate::kNumericValueOutOfRange, "integer out of range"};
};
template <>
struct IntegerOf<TypeKind::BigInt> {
  using Type = int64_t;
  static constexpr Fault kRange{sqlstate::kNumericValueOutOfRange, "bigint out of range"};
};

enum class Arithmetic : uint8_t { Add, Subtract, Multiply, Divide, Modulo };

template <TypeKind K, Arithmetic A>
Fault integer_arithmetic(Evaluation&, const Value* args, int, Value& out) {
  using Type = typename IntegerOf<K>::Type;
  const auto a = static_cast<Type>(args[0].as_int()), b = static_cast<Type>(args[1].as_int());
  Type result = 0;
  bool overflow = false;
  if constexpr (A == Arithmetic::Add) {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if constexpr (A == Arithmetic::Subtract) {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if constexpr (A == Arithmetic::Multiply) {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) return kDivisionByZero;
    if constexpr (A == Arithmetic::Divide) {
      if (b == -1) {
        overflow = __builtin_sub_overflow(Type{0}, a, &result);
      } else {
        result = static_cast<Type>(a / b);
      }
    } else {
      result = b == -1 ? Type{0} : static_cast<Type>(a % b);
    }
  }
  if (overflow) [[unlikely]]
    return IntegerOf<K>::kRange;
  out = Value::of_int(K, result);
  return kOk;
}

template <TypeKind K, bool And>
Fault integer_bits(Evaluation&, const Value* args, int, Value& out) {
  const int64_t a = args[0].as_int(), b = args[1].as_int();
  out = Value::of_int(K, And ? a & b : a | b);
  return kOk;
}

template <TypeKind K>
Fault integer_negate(Evaluation&, const Value* args, int, Value& out) {
  using Type = typename IntegerOf<K>::Type;
  Type result = 0;
  if (__builtin_sub_overflow(Type{0}, static_cast<Type>(args[0].as_int()), &result))
    return IntegerOf<K>::kRange;
  out = Value::of_int(K, result);
  return kOk;
}

template <TypeKind K>
Fault integer_absolute(Evaluation& evaluation, const Value* args, int count, Value& out) {
  if (args[0].as_int() < 0) return integer_negate<K>(evaluation, args, count, out);
  out = args[0];
  return kOk;
}

template <Fault (*F)(const Numeric&, const Numeric&, Arena&, Numeric&)>
Fault numeric_arithmetic(Evaluation& evaluation, const Value* args, int, Value& out) {
  Numeric result;
  TM_SQL_TRY(F(args[0].as_numeric(), args[1].as_numeric(), evaluation.arena, result));
  out = Value::numeric(result);
  return kOk;
}

constexpr Fault kOverflow{sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
constexpr Fault kUnderflow{sqlstate::kNumericValueOutOfRange, "value out of range: underflow"};

template <Arithmetic A>
Fault double_arithmetic(Evaluation&, const Value* args, int, Value& out) {
  const double a = args[0].as_double(), b = args[1].as_double();
  double result = 0;
  if constexpr (A == Arithmetic::Add) result = a + b;
  if constexpr (A == Arithmetic::Subtract) result = a - b;
  if constexpr (A == Arithmetic::Multiply) {
    result = a * b;
    if (result == 0 && a != 0 && b != 0) return kUnderflow;
  }
  if constexpr (A == Arithmetic::Divide) {
    if (b == 0 && !std::isnan(a)) return kDivisionByZero;
    result = a / b;
    if (result == 0 && a != 0 && !std::isinf(b)) return kUnderflow;
    if (std::isinf(result) && !std::isinf(a)) return kOverflow;
  } else {
    if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) return kOverflow;
  }
  out = Value::float8(result);
  return kOk;
}

Fault double_negate(Evaluation&, const Value* args, int, Value& out) {
  out = Value::float8(-args[0].as_double());
  return kOk;
}
Fault double_absolute(Evaluation&, const Value* args, int, Value& out) {
  out = Value::float8(std::fabs(args[0].as_double()));
  return kOk;
}
Fault negate_numeric(Evaluation&, const Value* args, int, Value& out) {
  Numeric result;
  TM_SQL_TRY(numeric_negate(args[0].as_numeric(), result));
  out = Value::numeric(result);
  return kOk;
}
Fault absolute_numeric(Evaluation&, const Value* args, int, Value& out) {
  out = Value::numeric(numeric_absolute(args[0].as_numeric()));
  return kOk;
}
Fault same(Evaluation&, const Value* args, int, Value& out) {
  out = args[0];
  return kOk;
}

Fault shift_date(int64_t days, int64_t by, Value& out) {
  if (!is_finite_date(days)) {
    out = Value::date(static_cast<int32_t>(days));
    return kOk;
  }
  if (!is_valid_date(days + by)) return kDateOutOfRange;
  out = Value::date(static_cast<int32_t>(days + by));
  return kOk;
}
Fault date_plus_days(Evaluation&, const Value* args, int, Value& out) {
  return shift_date(args[0].as_int(), args[1].as_int(), out);
}
Fault date_minus_days(Evaluation&, const Value* args, int, Value& out) {
  return shift_date(args[0].as_int(), -args[1].as_int(), out);
}
Fault date_minus_date(Evaluation&, const Value* args, int, Value& out) {
  if (!is_finite_date(args[0].as_int()) || !is_finite_date(args[1].as_int())) {
    return {sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite dates"};
  }
  out = Value::integer(static_cast<int32_t>(args[0].as_int() - args[1].as_int()));
  return kOk;
}

bool negate_interval(Interval& interval) {
  return !__builtin_sub_overflow(int64_t{0}, interval.micros, &interval.micros) &&
         !__builtin_sub_overflow(0, interval.days, &interval.days) &&
         !__builtin_sub_overflow(0, interval.months, &interval.months);
}
constexpr Fault kIntervalRange{sqlstate::kDatetimeFieldOverflow, "interval out of range"};

// A timestamp or date and an interval.
template <bool Minus>
Fault time_and_interval(Evaluation&, const Value* args, int, Value& out) {
  const Value& time = args[0];
  Interval interval = args[1].as_interval();
  if (Minus && !negate_interval(interval)) return kIntervalRange;
  const bool is_date = time.kind() == TypeKind::Date;
  int64_t micros = time.as_int();
  if (is_date) TM_SQL_TRY(date_to_timestamp(static_cast<int32_t>(time.as_int()), micros));
  TM_SQL_TRY(timestamp_plus_interval(micros, interval, micros));
  out = Value::of_int(is_date ? TypeKind::Timestamp : time.kind(), micros);
  return kOk;
}

Fault timestamp_minus_timestamp(Evaluation&, const Value* args, int, Value& out) {
  Interval interval;
  TM_SQL_TRY(timestamp_difference(args[0].as_int(), args[1].as_int(), interval));
  out = Value::interval(interval);
  return kOk;
}

template <bool Minus>
Fault interval_and_interval(Evaluation&, const Value* args, int, Value& out) {
  Interval a = args[0].as_interval(), b = args[1].as_interval();
  if ((Minus && !negate_interval(b)) || __builtin_add_overflow(a.micros, b.micros, &a.micros) ||
      __builtin_add_overflow(a.days, b.days, &a.days) ||
      __builtin_add_overflow(a.months, b.months, &a.months)) {
    return kIntervalRange;
  }
  out = Value::interval(a);
  return kOk;
}
Fault interval_negate(Evaluation&, const Value* args, int, Value& out) {
  Interval interval = args[0].as_interval();
  if (!negate_interval(interval)) return kIntervalRange;
  out = Value::interval(interval);
  return kOk;
}

template <TypeKind K>
void add_integer(std::vector<Function>& out) {
  out.push_back(Function::of("+", {K, K}, K, integer_arithmetic<K, Arithmetic::Add>));
  out.push_back(Function::of("-", {K, K}, K, integer_arithmetic<K, Arithmetic::Subtract>));
  out.push_back(Function::of("*", {K, K}, K, integer_arithmetic<K, Arithmetic::Multiply>));
  out.push_back(Function::of("/", {K, K}, K, integer_arithmetic<K, Arithmetic::Divide>));
  out.push_back(Function::of("%", {K, K}, K, integer_arithmetic<K, Arithmetic::Modulo>));
  out.push_back(Function::of("&", {K, K}, K, integer_bits<K, true>));
  out.push_back(Function::of("|", {K, K}, K, integer_bits<K, false>));
  out.push_back(Function::of("mod", {K, K}, K, integer_arithmetic<K, Arithmetic::Modulo>));
  out.push_back(Function::of("-", {K}, K, integer_negate<K>));
  out.push_back(Function::of("+", {K}, K, same));
  out.push_back(Function::of("abs", {K}, K, integer_absolute<K>));
}

void add_numeric(std::vector<Function>& out) {
  constexpr TypeKind K = TypeKind::Numeric;
  out.push_back(Function::of("+", {K, K}, K, numeric_arithmetic<numeric_add>));
  out.push_back(Function::of("-", {K, K}, K, numeric_arithmetic<numeric_subtract>));
  out.push_back(Function::of("*", {K, K}, K, numeric_arithmetic<numeric_multiply>));
  out.push_back(Function::of("/", {K, K}, K, numeric_arithmetic<numeric_divide>));
  out.push_back(Function::of("%", {K, K}, K, numeric_arithmetic<numeric_modulo>));
  out.push_back(Function::of("mod", {K, K}, K, numeric_arithmetic<numeric_modulo>));
  out.push_back(Function::of("div", {K, K}, K, numeric_arithmetic<numeric_integer_divide>));
  out.push_back(Function::of("-", {K}, K, negate_numeric));
  out.push_back(Function::of("+", {K}, K, same));
  out.push_back(Function::of("abs", {K}, K, absolute_numeric));
}

void add_double(std::vector<Function>& out) {
  constexpr TypeKind K = TypeKind::Double;
  out.push_back(Function::of("+", {K, K}, K, double_arithmetic<Arithmetic::Add>));
  out.push_back(Function::of("-", {K, K}, K, double_arithmetic<Arithmetic::Subtract>));
  out.push_back(Function::of("*", {K, K}, K, double_arithmetic<Arithmetic::Multiply>));
  out.push_back(Function::of("/", {K, K}, K, double_arithmetic<Arithmetic::Divide>));
  out.push_back(Function::of("-", {K}, K, double_negate));
  out.push_back(Function::of("+", {K}, K, same));
  out.push_back(Function::of("abs", {K}, K, double_absolute));
}

// As in PostgreSQL, where interval + date is a function whose body is date + interval.
Function mirrored(std::string_view name, std::initializer_list<TypeKind> args, TypeKind result) {
  Function out = Function::of(name, args, result, nullptr);
  out.mirrored = true;
  return out;
}

void add_time(std::vector<Function>& out) {
  constexpr TypeKind kDate = TypeKind::Date, kInteger = TypeKind::Integer, kSpan = TypeKind::Interval;
  out.push_back(Function::of("+", {kDate, kInteger}, kDate, date_plus_days));
  out.push_back(mirrored("+", {kInteger, kDate}, kDate));
  out.push_back(Function::of("-", {kDate, kInteger}, kDate, date_minus_days));
  out.push_back(Function::of("-", {kDate, kDate}, kInteger, date_minus_date));
  for (TypeKind time : {TypeKind::Date, TypeKind::Timestamp, TypeKind::TimestampTz}) {
    const TypeKind result = time == TypeKind::Date ? TypeKind::Timestamp : time;
    out.push_back(Function::of("+", {time, kSpan}, result, time_and_interval<false>));
    out.push_back(mirrored("+", {kSpan, time}, result));
    out.push_back(Function::of("-", {time, kSpan}, result, time_and_interval<true>));
    if (time != TypeKind::Date)
      out.push_back(Function::of("-", {time, time}, kSpan, timestamp_minus_timestamp));
  }
  out.push_back(Function::of("+", {kSpan, kSpan}, kSpan, interval_and_interval<false>));
  out.push_back(Function::of("-", {kSpan, kSpan}, kSpan, interval_and_interval<true>));
  out.push_back(Function::of("-", {kSpan}, kSpan, interval_negate));
}

}  // namespace

std::vector<Function> arithmetic_functions() {
  std::vector<Function> out;
  add_integer<TypeKind::SmallInt>(out);
  add_integer<TypeKind::Integer>(out);
  add_integer<TypeKind::BigInt>(out);
  add_numeric(out);
  add_double(out);
  add_time(out);
  return out;
}

}  // namespace tidemark::sql
