#include <cmath>
#include <numbers>

#include "sql/expr/function.h"

namespace tidemark::sql {
namespace {

constexpr Fault kOverflow{sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
constexpr Fault kUnderflow{sqlstate::kNumericValueOutOfRange, "value out of range: underflow"};

template <Rounding R>
Fault round_numeric(Evaluation& evaluation, const Value* args, int count, Value& out) {
  Numeric result;
  const int scale = count > 1 ? static_cast<int>(args[1].as_int()) : 0;
  TM_SQL_TRY(numeric_round(args[0].as_numeric(), scale, R, evaluation.arena, result));
  out = Value::numeric(result);
  return kOk;
}

template <double (*F)(double)>
Fault round_double(Evaluation&, const Value* args, int, Value& out) {
  out = Value::float8(F(args[0].as_double()));
  return kOk;
}

Fault sign_numeric(Evaluation&, const Value* args, int, Value& out) {
  const Numeric number = args[0].as_numeric();
  out = Value::numeric(number.is_nan() ? number : Numeric::from_int(number.sign()));
  return kOk;
}
Fault sign_double(Evaluation&, const Value* args, int, Value& out) {
  const double value = args[0].as_double();
  out = Value::float8(value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0);
  return kOk;
}

Fault sqrt_numeric(Evaluation& evaluation, const Value* args, int, Value& out) {
  Numeric result;
  TM_SQL_TRY(numeric_sqrt(args[0].as_numeric(), evaluation.arena, result));
  out = Value::numeric(result);
  return kOk;
}
Fault sqrt_double(Evaluation&, const Value* args, int, Value& out) {
  const double value = args[0].as_double();
  if (value < 0) return {sqlstate::kInvalidArgumentForPower, "cannot take square root of a negative number"};
  out = Value::float8(std::sqrt(value));
  return kOk;
}

Fault exp_double(Evaluation&, const Value* args, int, Value& out) {
  const double value = args[0].as_double();
  const double result = std::exp(value);
  if (std::isinf(result) && !std::isinf(value)) return kOverflow;
  if (result == 0 && !std::isinf(value)) return kUnderflow;
  out = Value::float8(result);
  return kOk;
}

template <double (*F)(double)>
Fault logarithm(Evaluation&, const Value* args, int, Value& out) {
  const double value = args[0].as_double();
  if (value == 0) return {sqlstate::kInvalidArgumentForLogarithm, "cannot take logarithm of zero"};
  if (value < 0)
    return {sqlstate::kInvalidArgumentForLogarithm, "cannot take logarithm of a negative number"};
  out = Value::float8(F(value));
  return kOk;
}

Fault power_double(Evaluation&, const Value* args, int, Value& out) {
  const double base = args[0].as_double(), exponent = args[1].as_double();
  if (base == 0 && exponent < 0) {
    return {sqlstate::kInvalidArgumentForPower, "zero raised to a negative power is undefined"};
  }
  if (base < 0 && std::floor(exponent) != exponent && !std::isnan(exponent)) {
    return {sqlstate::kInvalidArgumentForPower,
            "a negative number raised to a non-integer power yields a complex result"};
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && !std::isinf(base) && !std::isinf(exponent)) return kOverflow;
  if (result == 0 && base != 0 && !std::isinf(base) && !std::isinf(exponent)) return kUnderflow;
  out = Value::float8(result);
  return kOk;
}

Fault pi(Evaluation&, const Value*, int, Value& out) {
  out = Value::float8(std::numbers::pi);
  return kOk;
}

double half_even(double value) {
  return std::rint(value);
}
double up(double value) {
  return std::ceil(value);
}
double down(double value) {
  return std::floor(value);
}
double toward_zero(double value) {
  return std::trunc(value);
}
double natural(double value) {
  return std::log(value);
}
double decimal(double value) {
  return std::log10(value);
}

Function refused(std::string_view name, std::initializer_list<TypeKind> args) {
  Function out = Function::of(name, args, TypeKind::Numeric, nullptr);
  out.hint = "Cast the arguments to double precision.";
  return out;
}

}  // namespace

std::vector<Function> math_functions() {
  constexpr TypeKind N = TypeKind::Numeric, D = TypeKind::Double, I = TypeKind::Integer;
  return {
      Function::of("round", {N}, N, round_numeric<Rounding::HalfAwayFromZero>),
      Function::of("round", {N, I}, N, round_numeric<Rounding::HalfAwayFromZero>),
      Function::of("round", {D}, D, round_double<half_even>),
      Function::of("trunc", {N}, N, round_numeric<Rounding::TowardZero>),
      Function::of("trunc", {N, I}, N, round_numeric<Rounding::TowardZero>),
      Function::of("trunc", {D}, D, round_double<toward_zero>),
      Function::of("ceil", {N}, N, round_numeric<Rounding::Ceiling>),
      Function::of("ceil", {D}, D, round_double<up>),
      Function::of("ceiling", {N}, N, round_numeric<Rounding::Ceiling>),
      Function::of("ceiling", {D}, D, round_double<up>),
      Function::of("floor", {N}, N, round_numeric<Rounding::Floor>),
      Function::of("floor", {D}, D, round_double<down>),
      Function::of("sign", {N}, N, sign_numeric),
      Function::of("sign", {D}, D, sign_double),
      Function::of("sqrt", {N}, N, sqrt_numeric),
      Function::of("sqrt", {D}, D, sqrt_double),
      Function::of("exp", {D}, D, exp_double),
      Function::of("ln", {D}, D, logarithm<natural>),
      Function::of("log", {D}, D, logarithm<decimal>),
      Function::of("log10", {D}, D, logarithm<decimal>),
      Function::of("power", {D, D}, D, power_double),
      Function::of("pow", {D, D}, D, power_double),
      Function::of("^", {D, D}, D, power_double),
      Function::of("pi", {}, D, pi),
      refused("exp", {N}),
      refused("ln", {N}),
      refused("log", {N}),
      refused("log", {N, N}),
      refused("log10", {N}),
      refused("power", {N, N}),
      refused("pow", {N, N}),
      refused("^", {N, N}),
  };
}

}  // namespace tidemark::sql
