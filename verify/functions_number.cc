#include <cmath>

#include "base/assert.h"
#include "verify/decimal.h"
#include "verify/functions.h"

namespace tidemark::verify {

double as_double(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nan("");  // The TEXT 'NaN'.
}

namespace {

using Rounding = Decimal::Rounding;

Error division_by_zero() {
  return {"division by zero"};
}
Error out_of_range(const char* what) {
  return {std::string(what) + " out of range"};
}

// Into an integer of so many bytes.
Result<Value> fit(Int128 value, const Value& width) {
  const int bits = static_cast<int>(as_int(width)) * 8;
  const Int128 limit = static_cast<Int128>(1) << (bits - 1);
  if (value < -limit || value >= limit) return out_of_range("integer");
  return Value(static_cast<int64_t>(value));
}

Decimal decimal(const Value& value) {
  const auto out = Decimal::parse(as_text(value));
  TM_ASSERT(out.has_value());
  return *out;
}

Result<Value> text(const std::optional<Decimal>& number) {
  if (!number) return division_by_zero();
  return Value(number->text());
}

// A float's result: an infinity that comes of finite numbers is an error.
Result<Value> real(double result, std::initializer_list<double> of) {
  bool infinite = false;
  for (double argument : of) infinite = infinite || std::isinf(argument);
  if (std::isinf(result) && !infinite) return out_of_range("double precision");
  return Value(result);
}

Result<Value> to_integer(double value, const Value& width) {
  const double rounded = std::nearbyint(value);
  if (!(rounded >= -9.3e18 && rounded <= 9.3e18)) return out_of_range("integer");
  return fit(static_cast<Int128>(rounded), width);
}

void register_integers(Database& database) {
  auto binary = [&](const char* name, Int128 (*compute)(Int128, Int128)) {
    database.add_function(name, 3, Nulls::Strict,
                          [compute](Values v) { return fit(compute(as_int(v[0]), as_int(v[1])), v[2]); });
  };
  binary("int_add", [](Int128 a, Int128 b) { return a + b; });
  binary("int_sub", [](Int128 a, Int128 b) { return a - b; });
  binary("int_mul", [](Int128 a, Int128 b) { return a * b; });
  database.add_function("int_div", 3, Nulls::Strict, [](Values v) -> Result<Value> {
    if (as_int(v[1]) == 0) return division_by_zero();
    return fit(static_cast<Int128>(as_int(v[0])) / as_int(v[1]), v[2]);
  });
  database.add_function("int_mod", 3, Nulls::Strict, [](Values v) -> Result<Value> {
    if (as_int(v[1]) == 0) return division_by_zero();
    return fit(static_cast<Int128>(as_int(v[0])) % as_int(v[1]), v[2]);
  });
  database.add_function("int_fit", 2, Nulls::Strict, [](Values v) { return fit(as_int(v[0]), v[1]); });
  database.add_function("int_abs", 2, Nulls::Strict, [](Values v) {
    const Int128 value = as_int(v[0]);
    return fit(value < 0 ? -value : value, v[1]);
  });
}

void register_numerics(Database& database) {
  auto binary = [&](const char* name, std::optional<Decimal> (*compute)(const Decimal&, const Decimal&)) {
    database.add_function(name, 2, Nulls::Strict,
                          [compute](Values v) { return text(compute(decimal(v[0]), decimal(v[1]))); });
  };
  using D = const Decimal&;
  binary("num_add", [](D a, D b) { return std::optional(a + b); });
  binary("num_sub", [](D a, D b) { return std::optional(a - b); });
  binary("num_mul", [](D a, D b) { return std::optional(a * b); });
  binary("num_div", [](D a, D b) { return Decimal::divide(a, b); });
  binary("num_mod", [](D a, D b) { return Decimal::remainder(a, b); });
  binary("num_idiv", [](D a, D b) { return Decimal::divide_to_integer(a, b); });
  auto unary = [&](const char* name, Decimal (*compute)(const Decimal&)) {
    database.add_function(name, 1, Nulls::Strict,
                          [compute](Values v) { return text(compute(decimal(v[0]))); });
  };
  unary("num_neg", [](D a) { return a.negated(); });
  unary("num_abs", [](D a) { return a.absolute(); });
  unary("num_ceil", [](D a) { return a.rounded(0, Rounding::Ceiling); });
  unary("num_floor", [](D a) { return a.rounded(0, Rounding::Floor); });
  unary("num_sign", [](D a) { return a.kind() == Decimal::Kind::NaN ? a : Decimal(a.sign()); });
  database.add_function("num_round", 2, Nulls::Strict, [](Values v) {
    return text(decimal(v[0]).rounded(static_cast<int>(as_int(v[1])), Rounding::HalfAway));
  });
  database.add_function("num_trunc", 2, Nulls::Strict, [](Values v) {
    return text(decimal(v[0]).rounded(static_cast<int>(as_int(v[1])), Rounding::Truncate));
  });
  // numeric(precision, scale)
  database.add_function("num_fit", 3, Nulls::Strict, [](Values v) -> Result<Value> {
    const Decimal out = decimal(v[0]).rounded(static_cast<int>(as_int(v[2])), Rounding::HalfAway);
    const bool infinite = out.kind() != Decimal::Kind::Finite && out.kind() != Decimal::Kind::NaN;
    if (infinite || out.integer_digits() > as_int(v[1]) - as_int(v[2])) return out_of_range("numeric");
    return Value(out.text());
  });
  database.add_function("num_key", 1, Nulls::Strict,
                        [](Values v) -> Result<Value> { return Value(decimal(v[0]).key()); });
}

void register_floats(Database& database) {
  auto binary = [&](const char* name, double (*compute)(double, double)) {
    database.add_function(name, 2, Nulls::Strict, [compute](Values v) {
      const double a = as_double(v[0]), b = as_double(v[1]);
      return real(compute(a, b), {a, b});
    });
  };
  binary("f8_add", [](double a, double b) { return a + b; });
  binary("f8_sub", [](double a, double b) { return a - b; });
  binary("f8_mul", [](double a, double b) { return a * b; });
  binary("f8_power", [](double a, double b) { return std::pow(a, b); });
  database.add_function("f8_div", 2, Nulls::Strict, [](Values v) -> Result<Value> {
    const double a = as_double(v[0]), b = as_double(v[1]);
    if (b == 0 && !std::isnan(a)) return division_by_zero();
    return real(a / b, {a, b});
  });
  auto unary = [&](const char* name, double (*compute)(double)) {
    database.add_function(name, 1, Nulls::Strict, [compute](Values v) {
      const double a = as_double(v[0]);
      return real(compute(a), {a});
    });
  };
  unary("f8_neg", [](double a) { return -a; });
  unary("f8_abs", [](double a) { return std::fabs(a); });
  unary("f8_ceil", [](double a) { return std::ceil(a); });
  unary("f8_floor", [](double a) { return std::floor(a); });
  unary("f8_round", [](double a) { return std::nearbyint(a); });
  unary("f8_trunc", [](double a) { return std::trunc(a); });
  unary("f8_sign", [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
  unary("f8_exp", [](double a) { return std::exp(a); });
  auto of_domain = [&](const char* name, double (*compute)(double), bool zero) {
    database.add_function(name, 1, Nulls::Strict, [compute, zero](Values v) -> Result<Value> {
      const double a = as_double(v[0]);
      if (a < 0 || (a == 0 && !zero)) return Error{"the function is not defined there"};
      return Value(compute(a));
    });
  };
  of_domain(
      "f8_sqrt", [](double a) { return std::sqrt(a); }, true);
  of_domain(
      "f8_ln", [](double a) { return std::log(a); }, false);
  of_domain(
      "f8_log", [](double a) { return std::log10(a); }, false);
}

void register_casts(Database& database) {
  database.add_function("num_from_int", 1, Nulls::Strict,
                        [](Values v) -> Result<Value> { return Value(std::to_string(as_int(v[0]))); });
  database.add_function("num_from_f8", 1, Nulls::Strict, [](Values v) -> Result<Value> {
    return Value(Decimal::from_double(as_double(v[0])).text());
  });
  database.add_function("f8_from_int", 1, Nulls::Strict,
                        [](Values v) -> Result<Value> { return Value(static_cast<double>(as_int(v[0]))); });
  database.add_function("f8_from_num", 1, Nulls::Strict, [](Values v) {
    return real(decimal(v[0]).to_double(), {decimal(v[0]).kind() == Decimal::Kind::Finite ? 0 : HUGE_VAL});
  });
  database.add_function("int_from_f8", 2, Nulls::Strict,
                        [](Values v) { return to_integer(as_double(v[0]), v[1]); });
  database.add_function("int_from_num", 2, Nulls::Strict, [](Values v) -> Result<Value> {
    const auto value = decimal(v[0]).to_int();
    if (!value) return out_of_range("integer");
    return fit(*value, v[1]);
  });
}

}  // namespace

void register_number_functions(Database& database) {
  register_integers(database);
  register_numerics(database);
  register_floats(database);
  register_casts(database);
}

}  // namespace tidemark::verify
