// PostgreSQL's numeric: exact, unbounded decimal numbers that remember how many digits after the point they
// are shown with ("scale"), and NaN and the infinities.
//
// A number is coefficient * 10^-scale. Coefficients of up to 127 bits are inline, and arithmetic on them
// allocates nothing; larger ones are little-endian bytes in memory owned elsewhere (an arena or a row).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/arena.h"
#include "sql/types/fault.h"

namespace tidemark::sql {

__extension__ using int128_t = __int128;
__extension__ using uint128_t = unsigned __int128;

class Numeric {
 public:
  enum class Form : uint8_t { Small, BigPositive, BigNegative, NaN, PlusInfinity, MinusInfinity };

  static constexpr int kScaleMax = 16383;
  static constexpr int kIntegerDigitsMax = 131072;

  constexpr Numeric() = default;
  static Numeric from_int(int64_t value) { return small(value, 0); }
  static Numeric small(int128_t coefficient, uint16_t scale) {
    Numeric out;
    out.low_ = static_cast<uint64_t>(coefficient);
    out.high_ = static_cast<uint64_t>(static_cast<uint128_t>(coefficient) >> 64);
    out.scale_ = scale;
    return out;
  }
  // A coefficient beyond 127 bits. REQUIRES: it does not fit small(), and magnitude has no leading zeros.
  static Numeric big(std::string_view magnitude, bool negative, uint16_t scale) {
    Numeric out;
    out.low_ = reinterpret_cast<uintptr_t>(magnitude.data());
    out.high_ = magnitude.size();
    out.scale_ = scale;
    out.form_ = negative ? Form::BigNegative : Form::BigPositive;
    return out;
  }
  static Numeric special(Form form) {
    Numeric out;
    out.form_ = form;
    return out;
  }
  static Numeric nan() { return special(Form::NaN); }
  static Numeric infinity(bool negative) {
    return special(negative ? Form::MinusInfinity : Form::PlusInfinity);
  }

  Form form() const { return form_; }
  bool is_small() const { return form_ == Form::Small; }
  bool is_big() const { return form_ == Form::BigPositive || form_ == Form::BigNegative; }
  bool is_nan() const { return form_ == Form::NaN; }
  bool is_infinite() const { return form_ == Form::PlusInfinity || form_ == Form::MinusInfinity; }
  bool is_finite() const { return is_small() || is_big(); }
  bool is_zero() const { return is_small() && (low_ | high_) == 0; }
  // -1, 0 or 1; 0 for NaN.
  int sign() const;

  uint16_t scale() const { return scale_; }
  // REQUIRES: is_small().
  int128_t coefficient() const { return static_cast<int128_t>((static_cast<uint128_t>(high_) << 64) | low_); }
  // REQUIRES: is_big(). Little-endian bytes of the absolute coefficient.
  std::string_view magnitude() const {
    return {reinterpret_cast<const char*>(static_cast<uintptr_t>(low_)), static_cast<size_t>(high_)};
  }

 private:
  friend class Value;

  uint64_t low_ = 0;   // Or the address of the magnitude.
  uint64_t high_ = 0;  // Or its size.
  uint16_t scale_ = 0;
  Form form_ = Form::Small;
};

// Arithmetic by PostgreSQL's rules of scale. Results that do not fit inline lie in `arena`.
Fault numeric_add(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
Fault numeric_subtract(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
Fault numeric_multiply(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
Fault numeric_divide(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
Fault numeric_modulo(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
// The integer part of the quotient, as PostgreSQL's div().
Fault numeric_integer_divide(const Numeric& a, const Numeric& b, Arena& arena, Numeric& out);
Fault numeric_negate(const Numeric& a, Numeric& out);
Numeric numeric_absolute(const Numeric& a);

enum class Rounding : uint8_t { HalfAwayFromZero, TowardZero, Floor, Ceiling };
// To `scale` digits after the point; a negative scale rounds before it.
Fault numeric_round(const Numeric& a, int scale, Rounding rounding, Arena& arena, Numeric& out);
Fault numeric_sqrt(const Numeric& a, Arena& arena, Numeric& out);

// Total order of values: -Infinity < numbers < Infinity < NaN; scale does not count.
int numeric_compare(const Numeric& a, const Numeric& b);

// As a column of numeric(precision, scale) takes it.
Fault numeric_fit(const Numeric& a, int precision, int scale, Arena& arena, Numeric& out);

// Without zeros at the end of the fraction.
Numeric numeric_normalized(const Numeric& a, Arena& arena);

Fault numeric_from_text(std::string_view text, Arena& arena, Numeric& out);
void numeric_append_text(const Numeric& a, std::string& out);
// The digits of the absolute coefficient, without leading zeros; empty for zero.
void numeric_append_digits(const Numeric& a, std::string& out);

// Nearest bigint, halves away from zero; refused when out of range, NaN or infinite. The caller words it.
enum class IntegerFit : uint8_t { Fits, OutOfRange, IsNan, IsInfinite };
IntegerFit numeric_to_int64(const Numeric& a, int64_t& out);
Fault numeric_to_double(const Numeric& a, double& out);
Fault numeric_from_double(double value, Arena& arena, Numeric& out);

// PostgreSQL's binary wire format.
void numeric_append_binary(const Numeric& a, std::string& out);
Fault numeric_from_binary(std::string_view bytes, Arena& arena, Numeric& out);

}  // namespace tidemark::sql
