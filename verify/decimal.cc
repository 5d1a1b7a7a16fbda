#include "verify/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/assert.h"

namespace tidemark::verify {

namespace {

constexpr int kScaleMax = 16383;         // Of a stored number.
constexpr int kQuotientScaleMax = 1000;  // What a division gives at most.
constexpr int kQuotientDigitsMin = 16;   // Significant digits that a division gives at least.
constexpr int kGroupDigits = 4;          // PostgreSQL counts in groups of four digits.

bool equals_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

std::string_view trimmed(std::string_view text) {
  const char* spaces = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

// The exponent of the first digit, in groups of four, and that group.
struct Leading {
  int64_t weight = 0;
  int64_t group = 0;
};

Leading leading(const Integer& unscaled, int scale) {
  if (mpz_sgn(unscaled.get()) == 0) return {};
  const std::string digits = unscaled.digits();
  const int64_t exponent = static_cast<int64_t>(digits.size()) - 1 - scale;
  const int64_t weight =
      exponent >= 0 ? exponent / kGroupDigits : -((-exponent + kGroupDigits - 1) / kGroupDigits);
  const size_t width = static_cast<size_t>(exponent - weight * kGroupDigits + 1);
  std::string group = digits.substr(0, width);
  group.resize(width, '0');
  return {weight, std::stoll(group)};
}

int quotient_scale(const Leading& a, int a_scale, const Leading& b, int b_scale) {
  int64_t weight = a.weight - b.weight;
  if (a.group <= b.group) --weight;
  const int64_t scale = std::max<int64_t>({kQuotientDigitsMin - weight * kGroupDigits, a_scale, b_scale, 0});
  return static_cast<int>(std::min<int64_t>(scale, kQuotientScaleMax));
}

// a / b, half away from zero.
void divide_rounded(mpz_ptr out, mpz_srcptr a, mpz_srcptr b) {
  Integer remainder, twice, magnitude;
  mpz_tdiv_qr(out, remainder.get(), a, b);
  mpz_mul_2exp(twice.get(), remainder.get(), 1);
  if (mpz_cmpabs(twice.get(), b) < 0) return;
  if ((mpz_sgn(a) < 0) == (mpz_sgn(b) < 0)) {
    mpz_add_ui(out, out, 1);
  } else {
    mpz_sub_ui(out, out, 1);
  }
}

// Like PostgreSQL, takes no digits that lie just between two doubles, though reading would give the right
// one.
std::string shortest_digits(double value) {
  char buffer[64];
  const auto shortest = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string out(buffer, shortest.ptr);
  const auto is_between = [&](double neighbour) {
    const long double middle = (static_cast<long double>(value) + neighbour) / 2;
    return std::strtold(out.c_str(), nullptr) == middle;
  };
  const auto point = out.find('.');
  size_t digits = point == std::string::npos ? 1 : out.find('e') - point;
  while (digits < 17 &&
         (is_between(std::nextafter(value, HUGE_VAL)) || is_between(std::nextafter(value, -HUGE_VAL)))) {
    const auto longer = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific,
                                      static_cast<int>(digits));
    out.assign(buffer, longer.ptr);
    ++digits;
  }
  return out;
}

}  // namespace

Integer Integer::power_of_ten(uint64_t exponent) {
  Integer out;
  mpz_ui_pow_ui(out.get(), 10, exponent);
  return out;
}

std::string Integer::digits() const {
  std::string out(mpz_sizeinbase(value_, 10) + 2, '\0');
  mpz_get_str(out.data(), 10, value_);
  out.resize(std::strlen(out.c_str()));
  if (out.front() == '-') out.erase(0, 1);
  return out;
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  text = trimmed(text);
  if (equals_word(text, "nan")) return Decimal(Kind::NaN);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (equals_word(text, "infinity") || equals_word(text, "inf")) {
    return Decimal(negative ? Kind::NegativeInfinity : Kind::PositiveInfinity);
  }
  std::string digits;
  int64_t scale = 0;
  size_t at = 0;
  bool after_point = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !after_point) {
      after_point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits += text[at];
      scale += after_point ? 1 : 0;
    } else {
      break;
    }
  }
  if (digits.empty()) return {};
  int64_t exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size()) return {};
  } else if (at != text.size()) {
    return {};
  }
  scale -= exponent;
  if (scale > kScaleMax || scale < -(1 << 17)) return {};
  if (scale < 0) {
    digits.append(static_cast<size_t>(-scale), '0');
    scale = 0;
  }
  Decimal out;
  mpz_set_str(out.unscaled_.get(), digits.c_str(), 10);
  if (negative) mpz_neg(out.unscaled_.get(), out.unscaled_.get());
  out.scale_ = static_cast<int>(scale);
  return out;
}

Decimal Decimal::from_double(double value) {
  if (!std::isfinite(value)) return special(value);
  char text[64];
  std::snprintf(text, sizeof text, "%.15g", value);
  return *parse(text);
}

Decimal Decimal::special(double like) {
  return std::isnan(like) ? Kind::NaN : like > 0 ? Kind::PositiveInfinity : Kind::NegativeInfinity;
}

std::string Decimal::text() const {
  switch (kind_) {
    case Kind::NaN: return "NaN";
    case Kind::PositiveInfinity: return "Infinity";
    case Kind::NegativeInfinity: return "-Infinity";
    case Kind::Finite: break;
  }
  std::string digits = unscaled_.digits();
  const size_t scale = static_cast<size_t>(scale_);
  if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - scale, 1, '.');
  return mpz_sgn(unscaled_.get()) < 0 ? "-" + digits : digits;
}

double Decimal::to_double() const {
  switch (kind_) {
    case Kind::NaN: return std::nan("");
    case Kind::PositiveInfinity: return HUGE_VAL;
    case Kind::NegativeInfinity: return -HUGE_VAL;
    case Kind::Finite: return std::strtod(text().c_str(), nullptr);
  }
  TM_UNREACHABLE();
}

std::optional<int64_t> Decimal::to_int() const {
  if (kind_ != Kind::Finite) return {};
  const Decimal whole = rounded(0, Rounding::HalfAway);
  if (!mpz_fits_slong_p(whole.unscaled_.get())) return {};
  return mpz_get_si(whole.unscaled_.get());
}

Decimal Decimal::normalized() const {
  Decimal out = *this;
  while (kind_ == Kind::Finite && out.scale_ > 0 && mpz_divisible_ui_p(out.unscaled_.get(), 10)) {
    mpz_divexact_ui(out.unscaled_.get(), out.unscaled_.get(), 10);
    --out.scale_;
  }
  return out;
}

std::string Decimal::key() const {
  const int order = kind_ == Kind::NaN                ? 5
                    : kind_ == Kind::PositiveInfinity ? 4
                    : kind_ == Kind::NegativeInfinity ? 0
                                                      : 2 + sign();
  std::string out(1, static_cast<char>('0' + order));
  if (kind_ != Kind::Finite || sign() == 0) return out;
  std::string digits = unscaled_.digits();
  const int64_t exponent = static_cast<int64_t>(digits.size()) - scale_ + (1 << 20);  // Never negative.
  digits.erase(digits.find_last_not_of('0') + 1);
  char head[32];
  std::snprintf(head, sizeof head, "%08lld", static_cast<long long>(exponent));
  std::string rest = head + digits;
  if (sign() < 0) {  // The larger, the smaller: nines' complement, and a longer one comes first.
    for (char& c : rest) c = static_cast<char>('0' + '9' - c);
    rest += '~';
  }
  return out + rest;
}

int Decimal::sign() const {
  switch (kind_) {
    case Kind::NaN:
    case Kind::PositiveInfinity: return 1;
    case Kind::NegativeInfinity: return -1;
    case Kind::Finite: return mpz_sgn(unscaled_.get());
  }
  TM_UNREACHABLE();
}

int64_t Decimal::integer_digits() const {
  if (sign() == 0) return 0;
  return static_cast<int64_t>(unscaled_.digits().size()) - scale_;
}

Integer Decimal::scaled_to(int scale) const {
  TM_ASSERT(kind_ == Kind::Finite && scale >= scale_);
  Integer out = Integer::power_of_ten(static_cast<uint64_t>(scale - scale_));
  mpz_mul(out.get(), out.get(), unscaled_.get());
  return out;
}

Decimal Decimal::rounded(int scale, Rounding rounding) const {
  if (kind_ != Kind::Finite) return *this;
  Decimal out;
  out.scale_ = std::max(scale, 0);
  if (scale >= scale_) {
    out.unscaled_ = scaled_to(scale);
    return out;
  }
  const Integer unit = Integer::power_of_ten(static_cast<uint64_t>(scale_ - scale));
  mpz_ptr quotient = out.unscaled_.get();
  switch (rounding) {
    case Rounding::HalfAway: divide_rounded(quotient, unscaled_.get(), unit.get()); break;
    case Rounding::Truncate: mpz_tdiv_q(quotient, unscaled_.get(), unit.get()); break;
    case Rounding::Floor: mpz_fdiv_q(quotient, unscaled_.get(), unit.get()); break;
    case Rounding::Ceiling: mpz_cdiv_q(quotient, unscaled_.get(), unit.get()); break;
  }
  if (scale < 0) mpz_mul(quotient, quotient, Integer::power_of_ten(static_cast<uint64_t>(-scale)).get());
  return out;
}

Decimal Decimal::negated() const {
  if (kind_ != Kind::Finite) return special(-to_double());
  Decimal out = *this;
  mpz_neg(out.unscaled_.get(), out.unscaled_.get());
  return out;
}

Decimal Decimal::absolute() const {
  return sign() < 0 ? negated() : *this;
}

Decimal operator+(const Decimal& a, const Decimal& b) {
  if (a.kind_ != Decimal::Kind::Finite || b.kind_ != Decimal::Kind::Finite) {
    return Decimal::special(a.to_double() + b.to_double());
  }
  Decimal out;
  out.scale_ = std::max(a.scale_, b.scale_);
  mpz_add(out.unscaled_.get(), a.scaled_to(out.scale_).get(), b.scaled_to(out.scale_).get());
  return out;
}

Decimal operator*(const Decimal& a, const Decimal& b) {
  if (a.kind_ != Decimal::Kind::Finite || b.kind_ != Decimal::Kind::Finite) {
    // Signs are enough beside an infinity, and a large double may be one by itself.
    auto small = [](const Decimal& x) { return x.kind_ == Decimal::Kind::Finite ? x.sign() : x.to_double(); };
    return Decimal::special(small(a) * small(b));
  }
  Decimal out;
  out.scale_ = a.scale_ + b.scale_;
  mpz_mul(out.unscaled_.get(), a.unscaled_.get(), b.unscaled_.get());
  return out.scale_ > kScaleMax ? out.rounded(kScaleMax, Decimal::Rounding::HalfAway) : out;
}

std::optional<Decimal> Decimal::divide(const Decimal& a, const Decimal& b) {
  if (a.kind_ == Kind::NaN || b.kind_ == Kind::NaN) return Decimal(Kind::NaN);
  if (b.is_zero()) return {};
  if (a.kind_ != Kind::Finite) {
    return b.kind_ == Kind::Finite ? special(a.sign() * b.sign() * HUGE_VAL) : Decimal(Kind::NaN);
  }
  if (b.kind_ != Kind::Finite) return Decimal();
  Decimal out;
  out.scale_ =
      quotient_scale(leading(a.unscaled_, a.scale_), a.scale_, leading(b.unscaled_, b.scale_), b.scale_);
  // (a / 10^sa) / (b / 10^sb) * 10^scale = a * 10^(scale + sb - sa) / b, and scale >= sa.
  Integer dividend = Integer::power_of_ten(static_cast<uint64_t>(out.scale_ + b.scale_ - a.scale_));
  mpz_mul(dividend.get(), dividend.get(), a.unscaled_.get());
  divide_rounded(out.unscaled_.get(), dividend.get(), b.unscaled_.get());
  return out;
}

std::optional<Decimal> Decimal::divide_to_integer(const Decimal& a, const Decimal& b) {
  if (a.kind_ != Kind::Finite || b.kind_ != Kind::Finite) return divide(a, b);
  if (b.is_zero()) return {};
  const int scale = std::max(a.scale_, b.scale_);
  Decimal out;
  mpz_tdiv_q(out.unscaled_.get(), a.scaled_to(scale).get(), b.scaled_to(scale).get());
  return out;
}

std::optional<Decimal> Decimal::remainder(const Decimal& a, const Decimal& b) {
  if (a.kind_ == Kind::NaN || b.kind_ == Kind::NaN) return Decimal(Kind::NaN);
  if (b.is_zero()) return {};
  if (a.kind_ != Kind::Finite) return Decimal(Kind::NaN);
  if (b.kind_ != Kind::Finite) return a;
  Decimal out;
  out.scale_ = std::max(a.scale_, b.scale_);
  mpz_tdiv_r(out.unscaled_.get(), a.scaled_to(out.scale_).get(), b.scaled_to(out.scale_).get());
  return out;
}

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const std::string text = shortest_digits(value);
  const int exponent = std::atoi(text.substr(text.find('e') + 1).c_str());
  if (exponent < -4 || exponent >= 15) return text;
  char buffer[64];
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  return std::string(buffer, fixed.ptr);
}

}  // namespace tidemark::verify
