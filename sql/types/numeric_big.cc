#include "sql/types/numeric_big.h"

#include <array>
#include <string>

namespace tidemark::sql::numeric_detail {
namespace {

constexpr std::array<uint128_t, kPowerMax + 1> make_powers() {
  std::array<uint128_t, kPowerMax + 1> out{};
  out[0] = 1;
  for (int i = 1; i <= kPowerMax; ++i) out[i] = out[i - 1] * 10;
  return out;
}
constexpr std::array<uint128_t, kPowerMax + 1> kPowers = make_powers();

constexpr uint128_t kSmallMax = ~static_cast<uint128_t>(0) >> 1;

}  // namespace

uint128_t power_of_ten(int exponent) {
  return kPowers[exponent];
}

int count_digits(uint128_t value) {
  int digits = 0;
  if (value >= kPowers[19]) {
    value /= kPowers[19];
    digits = 19;
  }
  auto low = static_cast<uint64_t>(value);
  if (value > UINT64_MAX) return value >= kPowers[20] ? digits + 21 : digits + 20;
  while (low >= 10000) {
    low /= 10000;
    digits += 4;
  }
  return digits + (low >= 1000 ? 4 : low >= 100 ? 3 : low >= 10 ? 2 : low >= 1 ? 1 : 0);
}

void to_big(const Numeric& a, unsigned shift, BigInteger& out) {
  if (a.is_small()) {
    const int128_t coefficient = a.coefficient();
    const uint128_t magnitude = coefficient < 0 ? -static_cast<uint128_t>(coefficient) : coefficient;
    const std::array<uint64_t, 2> words{static_cast<uint64_t>(magnitude),
                                        static_cast<uint64_t>(magnitude >> 64)};
    mpz_import(out.get(), words.size(), -1, sizeof(uint64_t), 0, 0, words.data());
    if (coefficient < 0) mpz_neg(out.get(), out.get());
  } else {
    mpz_import(out.get(), a.magnitude().size(), -1, 1, 0, 0, a.magnitude().data());
    if (a.form() == Numeric::Form::BigNegative) mpz_neg(out.get(), out.get());
  }
  if (shift > 0) {
    BigInteger power;
    mpz_ui_pow_ui(power.get(), 10, shift);
    mpz_mul(out.get(), out.get(), power.get());
  }
}

size_t count_digits(const BigInteger& value) {
  if (mpz_sgn(value.get()) == 0) return 0;
  const size_t digits = mpz_sizeinbase(value.get(), 10);  // Exact or one too many.
  BigInteger power;
  mpz_ui_pow_ui(power.get(), 10, digits - 1);
  return mpz_cmpabs(value.get(), power.get()) < 0 ? digits - 1 : digits;
}

Fault from_big(const BigInteger& coefficient, int scale, Arena& arena, Numeric& out) {
  if (scale > Numeric::kScaleMax) return kNumericOverflow;
  const size_t bits = mpz_sizeinbase(coefficient.get(), 2);
  const bool negative = mpz_sgn(coefficient.get()) < 0;
  if (bits <= 127) {
    std::array<uint64_t, 2> words{};
    mpz_export(words.data(), nullptr, -1, sizeof(uint64_t), 0, 0, coefficient.get());
    const uint128_t magnitude = (static_cast<uint128_t>(words[1]) << 64) | words[0];
    TM_SQL_TRY(magnitude <= kSmallMax ? kOk : kNumericOverflow);
    const auto value = static_cast<int128_t>(magnitude);
    out = Numeric::small(negative ? -value : value, static_cast<uint16_t>(scale));
    return kOk;
  }
  constexpr size_t kBitsSure = 435411;  // Fewer bits than 10^131072 has.
  if (bits > kBitsSure &&
      count_digits(coefficient) > size_t{Numeric::kIntegerDigitsMax} + static_cast<size_t>(scale)) {
    return kNumericOverflow;
  }
  const size_t size = (bits + 7) / 8;
  char* bytes = arena.allocate(size);
  mpz_export(bytes, nullptr, -1, 1, 0, 0, coefficient.get());
  out = Numeric::big({bytes, size}, negative, static_cast<uint16_t>(scale));
  return kOk;
}

void divide_rounding(const BigInteger& numerator, const BigInteger& denominator, BigInteger& quotient) {
  BigInteger remainder;
  const bool negative = (mpz_sgn(numerator.get()) < 0) != (mpz_sgn(denominator.get()) < 0);
  mpz_tdiv_qr(quotient.get(), remainder.get(), numerator.get(), denominator.get());
  mpz_mul_2exp(remainder.get(), remainder.get(), 1);
  if (mpz_cmpabs(remainder.get(), denominator.get()) < 0) return;
  if (negative) {
    mpz_sub_ui(quotient.get(), quotient.get(), 1);
  } else {
    mpz_add_ui(quotient.get(), quotient.get(), 1);
  }
}

void divide_by_power(BigInteger& value, unsigned digits, Rounding rounding) {
  BigInteger power;
  mpz_ui_pow_ui(power.get(), 10, digits);
  switch (rounding) {
    case Rounding::HalfAwayFromZero: {
      BigInteger quotient;
      divide_rounding(value, power, quotient);
      mpz_swap(value.get(), quotient.get());
      return;
    }
    case Rounding::TowardZero: mpz_tdiv_q(value.get(), value.get(), power.get()); return;
    case Rounding::Floor: mpz_fdiv_q(value.get(), value.get(), power.get()); return;
    case Rounding::Ceiling: mpz_cdiv_q(value.get(), value.get(), power.get()); return;
  }
}

Leading leading_of(const Numeric& a) {
  if (a.is_zero()) return {};
  std::string digits;
  numeric_append_digits(a, digits);
  const int exponent = static_cast<int>(digits.size()) - 1 - a.scale();
  const int weight =
      exponent >= 0 ? exponent / kGroupDigits : -((-exponent + kGroupDigits - 1) / kGroupDigits);
  const int count = exponent - kGroupDigits * weight + 1;
  int first = 0;
  for (int i = 0; i < count; ++i)
    first = first * 10 + (i < static_cast<int>(digits.size()) ? digits[i] - '0' : 0);
  return {weight, first, exponent};
}

}  // namespace tidemark::sql::numeric_detail
