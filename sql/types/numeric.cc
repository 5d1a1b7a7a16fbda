#include "sql/types/numeric.h"

#include <algorithm>
#include <cstdlib>

#include "base/assert.h"
#include "sql/types/numeric_big.h"

namespace tidemark::sql {
namespace {

using numeric_detail::BigInteger;
using numeric_detail::count_digits;
using numeric_detail::from_big;
using numeric_detail::kGroupDigits;
using numeric_detail::Leading;
using numeric_detail::leading_of;
using numeric_detail::power_of_ten;
using numeric_detail::to_big;

constexpr int kMinSignificantDigits = 16;
constexpr int kMaxDisplayScale = 1000;
constexpr int kMaxResultScale = 2000;

// Whether a coefficient is inline: |c| < 2^127, so that negation always stays inline.
bool fits_small(int128_t coefficient) {
  return coefficient != static_cast<int128_t>(static_cast<uint128_t>(1) << 127);
}

uint128_t magnitude_of(int128_t coefficient) {
  return coefficient < 0 ? -static_cast<uint128_t>(coefficient) : static_cast<uint128_t>(coefficient);
}

// coefficient * 10^digits, if it stays inline. REQUIRES: digits >= 0.
bool scale_up(int128_t coefficient, int digits, int128_t& out) {
  if (digits == 0) {
    out = coefficient;
    return true;
  }
  if (digits > numeric_detail::kPowerMax) {
    out = 0;
    return coefficient == 0;
  }
  return !__builtin_mul_overflow(coefficient, static_cast<int128_t>(power_of_ten(digits)), &out) &&
         fits_small(out);
}

struct Aligned {
  int128_t a, b;
  uint16_t scale;
};

// Both coefficients at the larger scale, if that stays inline.
bool align(const Numeric& a, const Numeric& b, Aligned& out) {
  if (!a.is_small() || !b.is_small()) return false;
  out.scale = std::max(a.scale(), b.scale());
  return scale_up(a.coefficient(), out.scale - a.scale(), out.a) &&
         scale_up(b.coefficient(), out.scale - b.scale(), out.b);
}

int align_big(const Numeric& a, const Numeric& b, BigInteger& big_a, BigInteger& big_b) {
  const int scale = std::max(a.scale(), b.scale());
  to_big(a, scale - a.scale(), big_a);
  to_big(b, scale - b.scale(), big_b);
  return scale;
}

// The sum where at least one is not finite.
Numeric add_special(const Numeric& a, const Numeric& b) {
  if (a.is_nan() || b.is_nan()) return Numeric::nan();
  if (a.is_finite()) return b;
  if (b.is_finite() || a.form() == b.form()) return a;
  return Numeric::nan();
}

uint128_t divide_half_away(uint128_t numerator, uint128_t denominator) {
  const uint128_t quotient = numerator / denominator;
  const uint128_t remainder = numerator % denominator;
  return remainder >= denominator - remainder ? quotient + 1 : quotient;
}

int128_t divide_small(int128_t coefficient, uint128_t power, Rounding rounding) {
  const uint128_t magnitude = magnitude_of(coefficient);
  const bool negative = coefficient < 0;
  uint128_t quotient = magnitude / power;
  const bool exact = quotient * power == magnitude;
  switch (rounding) {
    case Rounding::HalfAwayFromZero: quotient = divide_half_away(magnitude, power); break;
    case Rounding::TowardZero: break;
    case Rounding::Floor: quotient += negative && !exact ? 1 : 0; break;
    case Rounding::Ceiling: quotient += !negative && !exact ? 1 : 0; break;
  }
  return negative ? -static_cast<int128_t>(quotient) : static_cast<int128_t>(quotient);
}

Leading leading_small(const Numeric& a) {
  if (a.is_zero()) return {};
  const uint128_t magnitude = magnitude_of(a.coefficient());
  const int digits = count_digits(magnitude);
  const int exponent = digits - 1 - a.scale();
  const int weight =
      exponent >= 0 ? exponent / kGroupDigits : -((-exponent + kGroupDigits - 1) / kGroupDigits);
  const int count = exponent - kGroupDigits * weight + 1;
  const uint128_t first =
      count <= digits ? magnitude / power_of_ten(digits - count) : magnitude * power_of_ten(count - digits);
  return {weight, static_cast<int>(first), exponent};
}

Leading leading(const Numeric& a) {
  return a.is_small() ? leading_small(a) : leading_of(a);
}

// The scale of a quotient: at least 16 significant digits, counted in groups of 4 as PostgreSQL does.
int quotient_scale(const Numeric& a, const Numeric& b) {
  const Leading first = leading(a);
  const Leading second = leading(b);
  int weight = first.weight - second.weight;
  if (first.digit <= second.digit) --weight;
  const int scale = std::max({kMinSignificantDigits - weight * kGroupDigits, static_cast<int>(a.scale()),
                              static_cast<int>(b.scale()), 0});
  return std::min(scale, kMaxDisplayScale);
}

// The quotient where at least one is not finite. REQUIRES: not both finite.
Fault divide_special(const Numeric& a, const Numeric& b, Numeric& out) {
  if (a.is_nan() || b.is_nan()) {
    out = Numeric::nan();
  } else if (a.is_infinite()) {
    if (b.is_zero()) return kDivisionByZero;
    out = b.is_infinite() ? Numeric::nan() : Numeric::infinity(a.sign() * b.sign() < 0);
  } else {
    out = Numeric();
  }
  return kOk;
}

}  // namespace

int Numeric::sign() const {
  switch (form_) {
    case Form::Small: return static_cast<int64_t>(high_) < 0 ? -1 : (low_ | high_) != 0 ? 1 : 0;
    case Form::BigPositive:
    case Form::PlusInfinity: return 1;
    case Form::BigNegative:
    case Form::MinusInfinity: return -1;
    case Form::NaN: return 0;
  }
  TM_UNREACHABLE();
}

Fault numeric_add(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  Aligned aligned;
  if (align(a, b, aligned)) [[likely]] {
    int128_t sum;
    if (!__builtin_add_overflow(aligned.a, aligned.b, &sum) && fits_small(sum)) {
      out = Numeric::small(sum, aligned.scale);
      return kOk;
    }
  }
  if (!a.is_finite() || !b.is_finite()) {
    out = add_special(a, b);
    return kOk;
  }
  BigInteger big_a, big_b;
  const int scale = align_big(a, b, big_a, big_b);
  mpz_add(big_a.get(), big_a.get(), big_b.get());
  return from_big(big_a, scale, arena, out);
}

Fault numeric_subtract(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  Numeric negated;
  TM_SQL_TRY(numeric_negate(b, negated));
  return numeric_add(a, negated, arena, out);
}

Fault numeric_multiply(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  if (!a.is_finite() || !b.is_finite()) {
    const bool is_nan = a.is_nan() || b.is_nan() || a.sign() == 0 || b.sign() == 0;
    out = is_nan ? Numeric::nan() : Numeric::infinity(a.sign() * b.sign() < 0);
    return kOk;
  }
  const int scale = a.scale() + b.scale();
  if (a.is_small() && b.is_small() && scale <= Numeric::kScaleMax) [[likely]] {
    int128_t product;
    if (!__builtin_mul_overflow(a.coefficient(), b.coefficient(), &product) && fits_small(product)) {
      out = Numeric::small(product, static_cast<uint16_t>(scale));
      return kOk;
    }
  }
  BigInteger big_a, big_b;
  to_big(a, 0, big_a);
  to_big(b, 0, big_b);
  mpz_mul(big_a.get(), big_a.get(), big_b.get());
  if (scale > Numeric::kScaleMax) {
    numeric_detail::divide_by_power(big_a, scale - Numeric::kScaleMax, Rounding::HalfAwayFromZero);
  }
  return from_big(big_a, std::min(scale, Numeric::kScaleMax), arena, out);
}

Fault numeric_divide(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  if (!a.is_finite() || !b.is_finite()) return divide_special(a, b, out);
  if (b.is_zero()) return kDivisionByZero;
  const int scale = quotient_scale(a, b);
  const int shift = scale - a.scale() + b.scale();  // Negative: `a` has more decimals than a quotient may.
  int128_t numerator;
  if (shift >= 0 && a.is_small() && b.is_small() && scale_up(a.coefficient(), shift, numerator)) [[likely]] {
    const bool negative = (numerator < 0) != (b.coefficient() < 0);
    const auto quotient =
        static_cast<int128_t>(divide_half_away(magnitude_of(numerator), magnitude_of(b.coefficient())));
    out = Numeric::small(negative ? -quotient : quotient, static_cast<uint16_t>(scale));
    return kOk;
  }
  BigInteger big_a, big_b, quotient;
  to_big(a, static_cast<unsigned>(std::max(shift, 0)), big_a);
  to_big(b, static_cast<unsigned>(std::max(-shift, 0)), big_b);
  numeric_detail::divide_rounding(big_a, big_b, quotient);
  return from_big(quotient, scale, arena, out);
}

Fault numeric_modulo(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  if (!a.is_finite() || !b.is_finite()) {
    if (a.is_nan() || b.is_nan()) {
      out = Numeric::nan();
    } else if (a.is_infinite()) {
      if (b.is_zero()) return kDivisionByZero;
      out = Numeric::nan();
    } else {
      out = a;
    }
    return kOk;
  }
  if (b.is_zero()) return kDivisionByZero;
  Aligned aligned;
  if (align(a, b, aligned)) {
    out = Numeric::small(aligned.a % aligned.b, aligned.scale);
    return kOk;
  }
  BigInteger big_a, big_b;
  const int scale = align_big(a, b, big_a, big_b);
  mpz_tdiv_r(big_a.get(), big_a.get(), big_b.get());
  return from_big(big_a, scale, arena, out);
}

Fault numeric_integer_divide(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out) {
  if (!a.is_finite() || !b.is_finite()) return divide_special(a, b, out);
  if (b.is_zero()) return kDivisionByZero;
  Aligned aligned;
  if (align(a, b, aligned)) {
    out = Numeric::small(aligned.a / aligned.b, 0);
    return kOk;
  }
  BigInteger big_a, big_b;
  align_big(a, b, big_a, big_b);
  mpz_tdiv_q(big_a.get(), big_a.get(), big_b.get());
  return from_big(big_a, 0, arena, out);
}

Fault numeric_negate(const Numeric& a, Numeric& out) {
  switch (a.form()) {
    case Numeric::Form::Small: out = Numeric::small(-a.coefficient(), a.scale()); break;
    case Numeric::Form::BigPositive: out = Numeric::big(a.magnitude(), true, a.scale()); break;
    case Numeric::Form::BigNegative: out = Numeric::big(a.magnitude(), false, a.scale()); break;
    case Numeric::Form::NaN: out = a; break;
    case Numeric::Form::PlusInfinity: out = Numeric::infinity(true); break;
    case Numeric::Form::MinusInfinity: out = Numeric::infinity(false); break;
  }
  return kOk;
}

Numeric numeric_absolute(const Numeric& a) {
  Numeric out = a;
  if (a.sign() < 0) {
    const Fault fault = numeric_negate(a, out);
    TM_ASSERT(fault.ok());
  }
  return out;
}

Fault numeric_round(const Numeric& a, int scale, Rounding rounding, Arena& arena, Numeric& out) {
  if (!a.is_finite()) {
    out = a;
    return kOk;
  }
  scale = std::clamp(scale, -kMaxResultScale, kMaxResultScale);
  const int shown = std::max(scale, 0);
  const int dropped = a.scale() - scale;
  if (dropped <= 0 && a.is_small()) {
    int128_t coefficient;
    if (scale_up(a.coefficient(), -dropped, coefficient)) {
      out = Numeric::small(coefficient, static_cast<uint16_t>(shown));
      return kOk;
    }
  }
  if (dropped > 0 && dropped <= numeric_detail::kPowerMax && a.is_small()) [[likely]] {
    const int128_t kept = divide_small(a.coefficient(), power_of_ten(dropped), rounding);
    int128_t coefficient;
    if (scale_up(kept, shown - scale, coefficient)) {
      out = Numeric::small(coefficient, static_cast<uint16_t>(shown));
      return kOk;
    }
  }
  BigInteger value;
  to_big(a, dropped < 0 ? -dropped : 0, value);
  if (dropped > 0) {
    numeric_detail::divide_by_power(value, dropped, rounding);
    if (scale < 0) {
      BigInteger power;
      mpz_ui_pow_ui(power.get(), 10, -scale);
      mpz_mul(value.get(), value.get(), power.get());
    }
  }
  return from_big(value, shown, arena, out);
}

Fault numeric_sqrt(const Numeric& a, Arena& arena, Numeric& out) {
  if (a.sign() < 0)
    return {sqlstate::kInvalidArgumentForPower, "cannot take square root of a negative number"};
  if (!a.is_finite()) {
    out = a;
    return kOk;
  }
  const int weight = leading(a).weight;
  const int root_digits = weight >= 0 ? weight * kGroupDigits / 2 + 1 : 1 - (1 - weight * kGroupDigits) / 2;
  const int scale = std::min(std::max({kMinSignificantDigits - root_digits, static_cast<int>(a.scale()), 0}),
                             kMaxDisplayScale);
  // root(c * 10^-s) * 10^scale = root(c * 10^(2 * scale - s)); one more digit decides the rounding.
  BigInteger value;
  const int shift = 2 * (scale + 1) - a.scale();
  to_big(a, std::max(shift, 0), value);
  if (shift < 0) numeric_detail::divide_by_power(value, -shift, Rounding::TowardZero);
  mpz_sqrt(value.get(), value.get());
  numeric_detail::divide_by_power(value, 1, Rounding::HalfAwayFromZero);
  return from_big(value, scale, arena, out);
}

int numeric_compare(const Numeric& a, const Numeric& b) {
  Aligned aligned;
  if (align(a, b, aligned)) [[likely]] {
    return aligned.a < aligned.b ? -1 : aligned.a > aligned.b ? 1 : 0;
  }
  if (!a.is_finite() || !b.is_finite()) {
    const auto rank = [](const Numeric& n) { return n.is_nan() ? 2 : n.is_finite() ? 0 : n.sign(); };
    return rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0;
  }
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  BigInteger big_a, big_b;
  align_big(a, b, big_a, big_b);
  const int order = mpz_cmp(big_a.get(), big_b.get());
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Fault numeric_fit(const Numeric& a, int precision, int scale, Arena& arena, Numeric& out) {
  constexpr Fault kOverflow{sqlstate::kNumericValueOutOfRange, "numeric field overflow"};
  if (a.is_nan()) {
    out = a;
    return kOk;
  }
  if (a.is_infinite()) return kOverflow;
  TM_SQL_TRY(numeric_round(a, scale, Rounding::HalfAwayFromZero, arena, out));
  if (!out.is_zero() && leading(out).exponent + 1 > precision - scale) return kOverflow;
  return kOk;
}

Numeric numeric_normalized(const Numeric& a, Arena& arena) {
  if (!a.is_finite() || a.scale() == 0) return a;
  if (a.is_small()) {
    int128_t coefficient = a.coefficient();
    if (coefficient == 0) return Numeric();
    uint16_t scale = a.scale();
    while (scale > 0 && coefficient % 10 == 0) {
      coefficient /= 10;
      --scale;
    }
    return Numeric::small(coefficient, scale);
  }
  std::string digits;
  numeric_append_digits(a, digits);
  size_t zeros = 0;
  while (zeros < a.scale() && digits[digits.size() - 1 - zeros] == '0') ++zeros;
  if (zeros == 0) return a;
  BigInteger value;
  to_big(a, 0, value);
  numeric_detail::divide_by_power(value, static_cast<unsigned>(zeros), Rounding::TowardZero);
  Numeric out;
  const Fault fault = from_big(value, static_cast<int>(a.scale() - zeros), arena, out);
  TM_ASSERT(fault.ok());
  return out;
}

IntegerFit numeric_to_int64(const Numeric& a, int64_t& out) {
  if (a.is_nan()) return IntegerFit::IsNan;
  if (a.is_infinite()) return IntegerFit::IsInfinite;
  Arena arena;
  Numeric rounded = a;
  if (a.scale() > 0) {
    const Fault fault = numeric_round(a, 0, Rounding::HalfAwayFromZero, arena, rounded);
    if (!fault.ok()) return IntegerFit::OutOfRange;
  }
  if (!rounded.is_small()) return IntegerFit::OutOfRange;
  const int128_t value = rounded.coefficient();
  if (value < INT64_MIN || value > INT64_MAX) return IntegerFit::OutOfRange;
  out = static_cast<int64_t>(value);
  return IntegerFit::Fits;
}

}  // namespace tidemark::sql
