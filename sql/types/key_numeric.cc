// Numeric in keys: class, then for numbers 0.d1d2d3... * 10^exponent with d1 not zero: the exponent in 3
// bytes, pairs of digits plus one, and 0 at the end; complemented for negative numbers.
#include <string>

#include "sql/types/key_encoding.h"
#include "sql/types/key_reader.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

enum NumericClass : uint8_t {
  kMinusInfinity = 1,
  kNegative = 2,
  kZero = 3,
  kPositive = 4,
  kPlusInfinity = 5,
  kNaN = 6,
};
constexpr int kExponentBias = 1 << 15;
constexpr int kExponentBytes = 3;

NumericClass class_of(const Numeric& number) {
  switch (number.form()) {
    case Numeric::Form::NaN: return kNaN;
    case Numeric::Form::PlusInfinity: return kPlusInfinity;
    case Numeric::Form::MinusInfinity: return kMinusInfinity;
    default: return number.sign() < 0 ? kNegative : number.sign() > 0 ? kPositive : kZero;
  }
}

}  // namespace

void append_numeric_key(const Numeric& number, std::string& out) {
  const NumericClass kind = class_of(number);
  out.push_back(static_cast<char>(kind));
  if (kind != kNegative && kind != kPositive) return;
  const uint8_t mask = kind == kNegative ? 0xff : 0;
  const auto put = [&out, mask](int byte) { out.push_back(static_cast<char>(byte ^ mask)); };
  const size_t start = out.size();
  // The digits go through `out` itself: short ones need no memory of their own.
  numeric_append_digits(number, out);
  size_t digits = out.size() - start;
  const int exponent = static_cast<int>(digits) - number.scale() + kExponentBias;
  while (out[start + digits - 1] == '0') --digits;
  char buffer[64];
  std::string large;
  const bool is_large = digits > sizeof(buffer);
  if (is_large) {
    large.assign(out, start, digits);
  } else {
    out.copy(buffer, digits, start);
  }
  const char* digit = is_large ? large.data() : buffer;
  out.resize(start);
  for (int i = kExponentBytes - 1; i >= 0; --i) put((exponent >> (8 * i)) & 0xff);
  for (size_t i = 0; i < digits; i += 2) {
    const int second = i + 1 < digits ? digit[i + 1] - '0' : 0;
    put((digit[i] - '0') * 10 + second + 1);
  }
  put(0);
}

namespace key_detail {

Fault read_numeric(KeyReader& in, Arena& arena, Numeric& out) {
  uint8_t kind = 0;
  if (!in.take_byte(kind)) return kCorruptKey;
  switch (kind) {
    case kMinusInfinity: out = Numeric::infinity(true); return kOk;
    case kPlusInfinity: out = Numeric::infinity(false); return kOk;
    case kNaN: out = Numeric::nan(); return kOk;
    case kZero: out = Numeric(); return kOk;
    case kNegative:
    case kPositive: break;
    default: return kCorruptKey;
  }
  const uint8_t mask = kind == kNegative ? 0xff : 0;
  uint64_t raw_exponent = 0;
  if (!in.take_number(kExponentBytes, raw_exponent)) return kCorruptKey;
  if (mask != 0) raw_exponent ^= 0xffffff;
  std::string text(kind == kNegative ? "-0." : "0.");
  for (;;) {
    uint8_t pair = 0;
    if (!in.take_byte(pair)) return kCorruptKey;
    pair ^= mask;
    if (pair == 0) break;
    if (pair > 100) return kCorruptKey;
    text.push_back(static_cast<char>('0' + (pair - 1) / 10));
    text.push_back(static_cast<char>('0' + (pair - 1) % 10));
  }
  if (!is_digit(text.back()) || text[kind == kNegative ? 3 : 2] == '0') return kCorruptKey;
  if (text.ends_with("00")) return kCorruptKey;
  if (text.back() == '0') text.pop_back();
  text += "e" + std::to_string(static_cast<int>(raw_exponent) - kExponentBias);
  return numeric_from_text(text, arena, out).ok() ? kOk : kCorruptKey;
}

}  // namespace key_detail
}  // namespace tidemark::sql
