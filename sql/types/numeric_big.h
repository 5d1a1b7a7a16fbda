// Internal to numeric: coefficients of any size, on GMP. Allocates; the fast paths never come here.
#pragma once

#include <gmp.h>

#include "sql/types/numeric.h"

namespace tidemark::sql::numeric_detail {

// An mpz_t that frees itself.
class BigInteger {
 public:
  BigInteger() { mpz_init(value_); }
  BigInteger(const BigInteger&) = delete;
  BigInteger& operator=(const BigInteger&) = delete;
  ~BigInteger() { mpz_clear(value_); }

  mpz_ptr get() { return value_; }
  mpz_srcptr get() const { return value_; }

 private:
  mpz_t value_;
};

inline constexpr int kGroupDigits = 4;  // PostgreSQL counts in groups of decimal digits.
inline constexpr int kPowerMax = 38;
// 10^exponent. REQUIRES: 0 <= exponent <= kPowerMax.
uint128_t power_of_ten(int exponent);
// Decimal digits of `value`; 0 for 0.
int count_digits(uint128_t value);

// The coefficient of a finite number, times 10^shift.
void to_big(const Numeric& a, unsigned shift, BigInteger& out);
// The number of decimal digits of |value|; 0 for 0.
size_t count_digits(const BigInteger& value);
// Checks PostgreSQL's limits and stores the coefficient inline if it fits, else in `arena`.
Fault from_big(const BigInteger& coefficient, int scale, Arena& arena, Numeric& out);
// value := round(value / 10^digits).
void divide_by_power(BigInteger& value, unsigned digits, Rounding rounding);
// quotient := numerator / denominator, halves away from zero. REQUIRES: denominator is not 0.
void divide_rounding(const BigInteger& numerator, const BigInteger& denominator, BigInteger& quotient);

// Where the first digit of a finite number stands, as PostgreSQL sees it: in base 10000.
struct Leading {
  int weight = 0;    // Of the first digit in base 10000; 0 for zero.
  int digit = 0;     // That digit; 0 for zero.
  int exponent = 0;  // Of the first decimal digit.
};
Leading leading_of(const Numeric& a);

}  // namespace tidemark::sql::numeric_detail
