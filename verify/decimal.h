// Exact decimal numbers with PostgreSQL's scales: what NUMERIC is to `verify`. Written apart from sql/types
// on purpose: two mistakes of different hands do not agree.
#pragma once

#include <gmp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::verify {

// An integer of any size.
class Integer {
 public:
  Integer() { mpz_init(value_); }
  explicit Integer(int64_t value) { mpz_init_set_si(value_, value); }
  Integer(const Integer& other) { mpz_init_set(value_, other.value_); }
  Integer& operator=(const Integer& other) {
    mpz_set(value_, other.value_);
    return *this;
  }
  ~Integer() { mpz_clear(value_); }

  mpz_ptr get() { return value_; }
  mpz_srcptr get() const { return value_; }
  static Integer power_of_ten(uint64_t exponent);
  // Decimal digits of the absolute value, no leading zeros; "0" for zero.
  std::string digits() const;

 private:
  mpz_t value_;
};

class Decimal {
 public:
  enum class Kind : uint8_t { NegativeInfinity, Finite, PositiveInfinity, NaN };  // In order.

  Decimal() = default;
  explicit Decimal(int64_t value) : unscaled_(value) {}
  static std::optional<Decimal> parse(std::string_view text);
  // As PostgreSQL casts: fifteen significant digits.
  static Decimal from_double(double value);

  std::string text() const;
  double to_double() const;
  // Rounded half away from zero; none if it does not fit.
  std::optional<int64_t> to_int() const;
  // Equal numbers have equal keys, and the bytes of keys are in the order of numbers.
  std::string key() const;
  // The same number without trailing zeros.
  Decimal normalized() const;

  Kind kind() const { return kind_; }
  bool is_zero() const { return kind_ == Kind::Finite && sign() == 0; }
  int sign() const;
  int scale() const { return scale_; }
  // Digits before the point; 0 or less for numbers below 1.
  int64_t integer_digits() const;

  // Half away from zero, toward zero, down, up; `scale` may be negative.
  enum class Rounding : uint8_t { HalfAway, Truncate, Floor, Ceiling };
  Decimal rounded(int scale, Rounding rounding) const;
  Decimal negated() const;
  Decimal absolute() const;

  friend Decimal operator+(const Decimal& a, const Decimal& b);
  friend Decimal operator-(const Decimal& a, const Decimal& b) { return a + b.negated(); }
  friend Decimal operator*(const Decimal& a, const Decimal& b);
  // None: division by zero. The scale is what PostgreSQL gives the quotient.
  static std::optional<Decimal> divide(const Decimal& a, const Decimal& b);
  static std::optional<Decimal> divide_to_integer(const Decimal& a, const Decimal& b);
  static std::optional<Decimal> remainder(const Decimal& a, const Decimal& b);

 private:
  static Decimal special(double like);
  Decimal(Kind kind) : kind_(kind) {}
  Integer scaled_to(int scale) const;  // REQUIRES: finite and scale >= scale_.

  Kind kind_ = Kind::Finite;
  Integer unscaled_;
  int scale_ = 0;
};

// A double as PostgreSQL prints it: the shortest digits that mean it.
std::string double_text(double value);

}  // namespace tidemark::verify
