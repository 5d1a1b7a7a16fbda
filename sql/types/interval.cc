#include <array>
#include <cmath>
#include <cstdlib>

#include "sql/types/datetime.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

constexpr Fault kNoInterval{sqlstate::kInvalidDatetimeFormat, nullptr};
constexpr Fault kIntervalOutOfRange{"22015", "interval field value out of range"};

// What one unit is in months, days or microseconds; exactly one of them is set.
struct Unit {
  std::string_view name;
  int months, days;
  int64_t micros;
};

constexpr std::array<Unit, 40> kUnits{{
    {"microsecond", 0, 0, 1},
    {"microseconds", 0, 0, 1},
    {"us", 0, 0, 1},
    {"millisecond", 0, 0, 1000},
    {"milliseconds", 0, 0, 1000},
    {"ms", 0, 0, 1000},
    {"second", 0, 0, 1000000},
    {"seconds", 0, 0, 1000000},
    {"sec", 0, 0, 1000000},
    {"secs", 0, 0, 1000000},
    {"s", 0, 0, 1000000},
    {"minute", 0, 0, 60000000},
    {"minutes", 0, 0, 60000000},
    {"min", 0, 0, 60000000},
    {"mins", 0, 0, 60000000},
    {"m", 0, 0, 60000000},
    {"hour", 0, 0, 3600000000},
    {"hours", 0, 0, 3600000000},
    {"hr", 0, 0, 3600000000},
    {"hrs", 0, 0, 3600000000},
    {"h", 0, 0, 3600000000},
    {"day", 0, 1, 0},
    {"days", 0, 1, 0},
    {"d", 0, 1, 0},
    {"week", 0, 7, 0},
    {"weeks", 0, 7, 0},
    {"w", 0, 7, 0},
    {"month", 1, 0, 0},
    {"months", 1, 0, 0},
    {"mon", 1, 0, 0},
    {"mons", 1, 0, 0},
    {"year", 12, 0, 0},
    {"years", 12, 0, 0},
    {"yr", 12, 0, 0},
    {"yrs", 12, 0, 0},
    {"y", 12, 0, 0},
    {"decade", 120, 0, 0},
    {"decades", 120, 0, 0},
    {"century", 1200, 0, 0},
    {"centuries", 1200, 0, 0},
}};

const Unit* find_unit(std::string_view word) {
  for (const Unit& unit : kUnits) {
    if (equals_ignoring_case(word, unit.name)) return &unit;
  }
  return nullptr;
}

struct Amount {
  int64_t whole = 0;
  double fraction = 0;  // With the sign of the amount.
  bool negative = false;
};

bool add_to(int64_t value, int32_t& field) {
  int64_t sum;
  if (__builtin_add_overflow(value, static_cast<int64_t>(field), &sum) || sum > INT32_MAX ||
      sum < INT32_MIN) {
    return false;
  }
  field = static_cast<int32_t>(sum);
  return true;
}

// Adds amount * unit; a fraction of a month goes to days of 30 to it, a fraction of a day to the time.
bool add_amount(const Amount& amount, const Unit& unit, Interval& out) {
  int64_t whole;
  double days = 0;
  if (unit.months != 0) {
    if (__builtin_mul_overflow(amount.whole, static_cast<int64_t>(unit.months), &whole)) return false;
    const double months = amount.fraction * unit.months;
    if (!add_to(whole, out.months)) return false;
    if (unit.months > 1) return add_to(static_cast<int64_t>(std::rint(months)), out.months);
    days = months * 30;
  } else if (unit.days != 0) {
    if (__builtin_mul_overflow(amount.whole, static_cast<int64_t>(unit.days), &whole)) return false;
    if (!add_to(whole, out.days)) return false;
    days = amount.fraction * unit.days;
  } else {
    if (__builtin_mul_overflow(amount.whole, unit.micros, &whole)) return false;
    const auto rest = static_cast<int64_t>(std::rint(amount.fraction * static_cast<double>(unit.micros)));
    return !__builtin_add_overflow(out.micros, whole, &out.micros) &&
           !__builtin_add_overflow(out.micros, rest, &out.micros);
  }
  const auto whole_days = static_cast<int64_t>(days);
  const auto rest = static_cast<int64_t>(std::rint((days - static_cast<double>(whole_days)) * kDayMicros));
  return add_to(whole_days, out.days) && !__builtin_add_overflow(out.micros, rest, &out.micros);
}

class IntervalReader {
 public:
  explicit IntervalReader(std::string_view text) : text_(trim_spaces(text)) {}

  Fault read(Interval& out) {
    if (text_.empty()) return kNoInterval;
    bool any = false;
    while (at_ < text_.size()) {
      if (take_ago(out)) return any ? kOk : kNoInterval;
      TM_SQL_TRY(read_field(out));
      any = true;
      skip_spaces();
    }
    return kOk;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool take_ago(Interval& out) {
    if (!equals_ignoring_case(text_.substr(at_), "ago")) return false;
    out = {-out.micros, -out.days, -out.months};
    return true;
  }

  Fault read_field(Interval& out) {
    Amount amount;
    TM_SQL_TRY(take_amount(amount));
    if (peek() == ':') return read_time(amount, out);
    skip_spaces();
    const size_t start = at_;
    while ((to_lower(peek()) >= 'a' && to_lower(peek()) <= 'z')) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    const Unit* unit = word.empty() ? find_unit("second") : find_unit(word);
    if (unit == nullptr || (word.empty() && at_ < text_.size())) return kNoInterval;
    return add_amount(amount, *unit, out) ? kOk : kIntervalOutOfRange;
  }

  Fault take_amount(Amount& out) {
    out.negative = peek() == '-';
    if (peek() == '-' || peek() == '+') ++at_;
    if (!is_digit(peek()) && peek() != '.') return kNoInterval;
    for (; is_digit(peek()); ++at_) {
      if (__builtin_mul_overflow(out.whole, int64_t{10}, &out.whole) ||
          __builtin_add_overflow(out.whole, static_cast<int64_t>(peek() - '0'), &out.whole)) {
        return kIntervalOutOfRange;
      }
    }
    if (peek() == '.') {
      const size_t start = at_++;
      while (is_digit(peek())) ++at_;
      out.fraction =
          at_ - start > 1 ? std::strtod(std::string(text_.substr(start, at_ - start)).c_str(), nullptr) : 0;
    }
    if (out.negative) {
      out.whole = -out.whole;
      out.fraction = -out.fraction;
    }
    return kOk;
  }

  // [sign]HH:MM[:SS[.fraction]], the hours already taken.
  Fault read_time(const Amount& hours, Interval& out) {
    ++at_;
    Amount minutes, seconds;
    TM_SQL_TRY(take_amount(minutes));
    if (peek() == ':') {
      ++at_;
      TM_SQL_TRY(take_amount(seconds));
    }
    if (minutes.whole < 0 || minutes.whole > 59 || seconds.whole < 0 || seconds.whole > 59)
      return kIntervalOutOfRange;
    int64_t micros;
    if (__builtin_mul_overflow(std::abs(hours.whole), int64_t{3'600'000'000}, &micros))
      return kIntervalOutOfRange;
    micros += minutes.whole * 60'000'000 + seconds.whole * kSecondMicros +
              static_cast<int64_t>(std::rint(seconds.fraction * 1e6));
    if (__builtin_add_overflow(out.micros, hours.negative ? -micros : micros, &out.micros))
      return kIntervalOutOfRange;
    return kOk;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct TextParts {
  bool is_zero = true;       // Nothing was written yet.
  bool after_minus = false;  // The part before is negative: a positive one shows its sign.
};

void append_part(int value, std::string_view unit, TextParts& parts, std::string& out) {
  if (value == 0) return;
  if (!parts.is_zero) out.push_back(' ');
  if (parts.after_minus && value > 0) out.push_back('+');
  out += std::to_string(value);
  out.push_back(' ');
  out += unit;
  if (value != 1) out.push_back('s');
  parts.after_minus = value < 0;
  parts.is_zero = false;
}

}  // namespace

Fault interval_from_text(std::string_view text, Interval& out) {
  out = Interval{};
  return IntervalReader(text).read(out);
}

void interval_append_text(const Interval& interval, std::string& out) {
  TextParts parts;
  append_part(interval.months / 12, "year", parts, out);
  append_part(interval.months % 12, "mon", parts, out);
  append_part(interval.days, "day", parts, out);
  if (interval.micros == 0 && !parts.is_zero) return;
  if (!parts.is_zero) out.push_back(' ');
  if (interval.micros < 0) {
    out.push_back('-');
  } else if (parts.after_minus) {
    out.push_back('+');
  }
  append_time_of_day(interval.micros == INT64_MIN ? INT64_MAX : std::abs(interval.micros), out);
}

Fault timestamp_plus_interval(int64_t micros, const Interval& interval, int64_t& out) {
  if (!is_finite_timestamp(micros)) {
    out = micros;
    return kOk;
  }
  int64_t days = floor_divide(micros, kDayMicros);
  const int64_t time = micros - days * kDayMicros;
  if (interval.months != 0) {
    CivilDate date = civil_of_days(days);
    const int64_t months = date.year * 12 + date.month - 1 + interval.months;
    date.year = floor_divide(months, 12);
    date.month = static_cast<int>(months - date.year * 12) + 1;
    date.day = std::min(date.day, days_in_month(date.year, date.month));
    days = days_of_civil(date);
  }
  days += interval.days;
  if (__builtin_mul_overflow(days, kDayMicros, &out) || __builtin_add_overflow(out, time, &out) ||
      __builtin_add_overflow(out, interval.micros, &out) || !is_valid_timestamp(out)) {
    return kTimestampOutOfRange;
  }
  return kOk;
}

Fault timestamp_difference(int64_t a, int64_t b, Interval& out) {
  if (!is_finite_timestamp(a) || !is_finite_timestamp(b)) {
    return {sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite timestamps"};
  }
  int64_t micros;
  if (__builtin_sub_overflow(a, b, &micros))
    return {sqlstate::kDatetimeFieldOverflow, "interval out of range"};
  out = {micros % kDayMicros, static_cast<int32_t>(micros / kDayMicros), 0};
  return kOk;
}

}  // namespace tidemark::sql
