#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "sql/types/numeric.h"
#include "sql/types/numeric_big.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

using numeric_detail::BigInteger;
using numeric_detail::kGroupDigits;

constexpr int kSmallDigits = 38;

// The digits of a number as it was written, the point taken out.
struct Written {
  std::string digits;  // Used only beyond kSmallDigits.
  uint128_t small = 0;
  int count = 0;  // Significant digits seen.
  int scale = 0;
  bool negative = false;
};

void take_digit(Written& number, char digit) {
  if (number.count == 0 && digit == '0') return;
  if (number.count < kSmallDigits) {
    number.small = number.small * 10 + static_cast<unsigned>(digit - '0');
  } else {
    if (number.count == kSmallDigits) {
      numeric_append_digits(Numeric::small(static_cast<int128_t>(number.small), 0), number.digits);
    }
    number.digits.push_back(digit);
  }
  ++number.count;
}

// Digits with an optional point. Returns false if there is no digit.
bool take_digits(std::string_view text, size_t& at, Written& number) {
  bool any = false, point = false;
  for (; at < text.size(); ++at) {
    if (is_digit(text[at])) {
      any = true;
      take_digit(number, text[at]);
      if (point) ++number.scale;
    } else if (text[at] == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  return any;
}

Fault take_exponent(std::string_view text, size_t& at, Written& number) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return kOk;
  ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at >= text.size() || !is_digit(text[at])) return kInvalidText;
  int64_t exponent = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (exponent < INT32_MAX / 2) exponent = exponent * 10 + (text[at] - '0');
  }
  if (exponent >= INT32_MAX / 2) return kNumericOverflow;
  number.scale += static_cast<int>(negative ? exponent : -exponent);
  return kOk;
}

Fault finish(Written& number, Arena& arena, Numeric& out) {
  if (number.scale > Numeric::kScaleMax) return kNumericOverflow;
  int zeros = 0;
  if (number.scale < 0) {
    zeros = -number.scale;
    number.scale = 0;
  }
  if (number.count == 0) {
    out = Numeric::small(0, static_cast<uint16_t>(number.scale));
    return kOk;
  }
  if (number.count + zeros - number.scale > Numeric::kIntegerDigitsMax) return kNumericOverflow;
  if (number.count + zeros <= kSmallDigits) [[likely]] {
    const auto value = static_cast<int128_t>(number.small * numeric_detail::power_of_ten(zeros));
    out = Numeric::small(number.negative ? -value : value, static_cast<uint16_t>(number.scale));
    return kOk;
  }
  BigInteger value;
  if (number.count > kSmallDigits) {
    mpz_set_str(value.get(), number.digits.c_str(), 10);
  } else {
    numeric_detail::to_big(Numeric::small(static_cast<int128_t>(number.small), 0), 0, value);
  }
  if (zeros > 0) {
    BigInteger power;
    mpz_ui_pow_ui(power.get(), 10, zeros);
    mpz_mul(value.get(), value.get(), power.get());
  }
  if (number.negative) mpz_neg(value.get(), value.get());
  return numeric_detail::from_big(value, number.scale, arena, out);
}

bool take_special(std::string_view text, Numeric& out) {
  if (equals_ignoring_case(text, "nan")) {
    out = Numeric::nan();
    return true;
  }
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (!equals_ignoring_case(text, "infinity") && !equals_ignoring_case(text, "inf")) return false;
  out = Numeric::infinity(negative);
  return true;
}

}  // namespace

Fault numeric_from_text(std::string_view text, Arena& arena, Numeric& out) {
  text = trim_spaces(text);
  if (take_special(text, out)) return kOk;
  Written number;
  size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[0] == '-';
    at = 1;
  }
  if (!take_digits(text, at, number)) return kInvalidText;
  TM_SQL_TRY(take_exponent(text, at, number));
  if (at != text.size()) return kInvalidText;
  return finish(number, arena, out);
}

void numeric_append_digits(const Numeric& a, std::string& out) {
  if (!a.is_small()) {
    BigInteger value;
    numeric_detail::to_big(a, 0, value);
    mpz_abs(value.get(), value.get());
    const size_t start = out.size();
    out.resize(start + mpz_sizeinbase(value.get(), 10) + 2);
    mpz_get_str(out.data() + start, 10, value.get());
    out.resize(start + std::char_traits<char>::length(out.data() + start));
    return;
  }
  const int128_t coefficient = a.coefficient();
  uint128_t magnitude =
      coefficient < 0 ? -static_cast<uint128_t>(coefficient) : static_cast<uint128_t>(coefficient);
  char buffer[40];
  char* at = buffer + sizeof(buffer);
  while (magnitude > UINT64_MAX) {
    *--at = static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  }
  for (auto low = static_cast<uint64_t>(magnitude); low != 0; low /= 10)
    *--at = static_cast<char>('0' + low % 10);
  out.append(at, buffer + sizeof(buffer));
}

void numeric_append_text(const Numeric& a, std::string& out) {
  switch (a.form()) {
    case Numeric::Form::NaN: out += "NaN"; return;
    case Numeric::Form::PlusInfinity: out += "Infinity"; return;
    case Numeric::Form::MinusInfinity: out += "-Infinity"; return;
    default: break;
  }
  if (a.sign() < 0) out.push_back('-');
  const size_t start = out.size();
  numeric_append_digits(a, out);
  const size_t digits = out.size() - start;
  if (digits <= a.scale()) out.insert(start, a.scale() + 1 - digits, '0');
  if (a.scale() > 0) out.insert(out.size() - a.scale(), 1, '.');
}

Fault numeric_to_double(const Numeric& a, double& out) {
  constexpr Fault kOutOfRange{sqlstate::kNumericValueOutOfRange,
                              "value is out of range for type double precision"};
  switch (a.form()) {
    case Numeric::Form::NaN: out = std::nan(""); return kOk;
    case Numeric::Form::PlusInfinity: out = HUGE_VAL; return kOk;
    case Numeric::Form::MinusInfinity: out = -HUGE_VAL; return kOk;
    default: break;
  }
  constexpr int64_t kExactInteger = int64_t{1} << 53;
  constexpr int kExactPower = 22;
  if (a.is_small() && a.scale() <= kExactPower && a.coefficient() <= kExactInteger &&
      a.coefficient() >= -kExactInteger) {
    // Both are exact doubles, so the quotient is rounded once.
    out = static_cast<double>(static_cast<int64_t>(a.coefficient())) /
          static_cast<double>(numeric_detail::power_of_ten(a.scale()));
    return kOk;
  }
  std::string text;
  numeric_append_text(a, text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc::result_out_of_range) return kOutOfRange;
  return kOk;
}

Fault numeric_from_double(double value, Arena& arena, Numeric& out) {
  if (std::isnan(value)) {
    out = Numeric::nan();
    return kOk;
  }
  if (std::isinf(value)) {
    out = Numeric::infinity(value < 0);
    return kOk;
  }
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof(buffer), "%.15g", value);  // PostgreSQL keeps 15 digits.
  return numeric_from_text({buffer, static_cast<size_t>(size)}, arena, out);
}

namespace {

void append_int16(int value, std::string& out) {
  out.push_back(static_cast<char>((value >> 8) & 0xff));
  out.push_back(static_cast<char>(value & 0xff));
}

int read_int16(std::string_view bytes, size_t at) {
  return static_cast<int16_t>((static_cast<uint8_t>(bytes[at]) << 8) | static_cast<uint8_t>(bytes[at + 1]));
}

constexpr int kSignPositive = 0x0000, kSignNegative = 0x4000, kSignNan = 0xC000, kSignInfinity = 0xD000,
              kSignMinusInfinity = 0xF000;

void append_special(int sign, std::string& out) {
  append_int16(0, out);
  append_int16(0, out);
  append_int16(sign, out);
  append_int16(0, out);
}

}  // namespace

void numeric_append_binary(const Numeric& a, std::string& out) {
  switch (a.form()) {
    case Numeric::Form::NaN: return append_special(kSignNan, out);
    case Numeric::Form::PlusInfinity: return append_special(kSignInfinity, out);
    case Numeric::Form::MinusInfinity: return append_special(kSignMinusInfinity, out);
    default: break;
  }
  std::string digits;
  numeric_append_digits(a, digits);
  int weight = 0;
  if (!digits.empty()) {
    // Pad the fraction to whole groups of four digits, then the integer part to the left.
    digits.append((kGroupDigits - a.scale() % kGroupDigits) % kGroupDigits, '0');
    const int groups_after = (a.scale() + kGroupDigits - 1) / kGroupDigits;
    digits.insert(0, (kGroupDigits - digits.size() % kGroupDigits) % kGroupDigits, '0');
    weight = static_cast<int>(digits.size()) / kGroupDigits - groups_after - 1;
    while (!digits.empty() && digits.ends_with("0000")) digits.resize(digits.size() - kGroupDigits);
  }
  append_int16(static_cast<int>(digits.size()) / kGroupDigits, out);
  append_int16(weight, out);
  append_int16(a.sign() < 0 ? kSignNegative : kSignPositive, out);
  append_int16(a.scale(), out);
  for (size_t i = 0; i < digits.size(); i += kGroupDigits) {
    append_int16(std::atoi(digits.substr(i, kGroupDigits).c_str()), out);
  }
}

Fault numeric_from_binary(std::string_view bytes, Arena& arena, Numeric& out) {
  constexpr size_t kHeader = 8;
  if (bytes.size() < kHeader) return kInvalidBinary;
  const int groups = static_cast<uint16_t>(read_int16(bytes, 0));
  const int weight = read_int16(bytes, 2);
  const int sign = static_cast<uint16_t>(read_int16(bytes, 4));
  const int scale = static_cast<uint16_t>(read_int16(bytes, 6));
  if (bytes.size() != kHeader + 2 * static_cast<size_t>(groups) || scale > Numeric::kScaleMax)
    return kInvalidBinary;
  switch (sign) {
    case kSignNan: out = Numeric::nan(); return kOk;
    case kSignInfinity: out = Numeric::infinity(false); return kOk;
    case kSignMinusInfinity: out = Numeric::infinity(true); return kOk;
    case kSignPositive:
    case kSignNegative: break;
    default: return kInvalidBinary;
  }
  std::string text(sign == kSignNegative ? "-" : "");
  text.push_back('0');
  for (int i = 0; i < groups; ++i) {
    const int group = read_int16(bytes, kHeader + 2 * static_cast<size_t>(i));
    if (group < 0 || group > 9999) return kInvalidBinary;
    char buffer[8];
    std::snprintf(buffer, sizeof(buffer), "%04d", group);
    text += buffer;
  }
  text += "e" + std::to_string((weight + 1 - groups) * kGroupDigits);
  Numeric exact;
  TM_SQL_TRY(numeric_from_text(text, arena, exact));
  if (!exact.is_finite() || scale == exact.scale()) {
    out = exact;
    return kOk;
  }
  // PostgreSQL truncates what the sender hides behind the scale it tells.
  BigInteger value;
  numeric_detail::to_big(exact, scale > exact.scale() ? scale - exact.scale() : 0, value);
  if (scale < exact.scale())
    numeric_detail::divide_by_power(value, exact.scale() - scale, Rounding::TowardZero);
  return numeric_detail::from_big(value, scale, arena, out);
}

}  // namespace tidemark::sql
