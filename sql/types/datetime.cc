#include "sql/types/datetime.h"

#include <cmath>
#include <cstdio>

#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

constexpr int64_t kDateMin = -2'451'545;                 // 4714-11-24 BC.
constexpr int64_t kDateEnd = 2'147'483'494 - 2'451'545;  // 5874898-01-01.
constexpr int64_t kTimestampMin = -211'813'488'000'000'000;
constexpr int64_t kTimestampEnd = 9'223'371'331'200'000'000;

constexpr Fault kBadFormat{sqlstate::kInvalidDatetimeFormat, nullptr};
constexpr Fault kFieldOverflow{sqlstate::kDatetimeFieldOverflow, nullptr};

bool is_leap(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Reads text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view lower) {
    if (!equals_ignoring_case(text_.substr(at_, lower.size()), lower)) return false;
    at_ += lower.size();
    return true;
  }
  void skip_spaces() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  // Up to `digits_max` digits; the number of digits read, 0 if there is none.
  int take_number(int digits_max, int64_t& out) {
    int digits = 0;
    out = 0;
    while (digits < digits_max && is_digit(peek())) {
      out = out * 10 + (peek() - '0');
      ++at_;
      ++digits;
    }
    return digits;
  }
  std::string_view take_digits() {
    const size_t start = at_;
    while (is_digit(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

struct Parsed {
  enum class Special : uint8_t { None, Infinity, MinusInfinity, Epoch } special = Special::None;
  int64_t days = 0;
  int64_t day_micros = 0;
  bool has_zone = false;
  int64_t zone_micros = 0;  // East of Greenwich is positive.
};

bool take_special(std::string_view text, Parsed& out) {
  if (equals_ignoring_case(text, "infinity") || equals_ignoring_case(text, "+infinity")) {
    out.special = Parsed::Special::Infinity;
  } else if (equals_ignoring_case(text, "-infinity")) {
    out.special = Parsed::Special::MinusInfinity;
  } else if (equals_ignoring_case(text, "epoch")) {
    out.special = Parsed::Special::Epoch;
  } else {
    return false;
  }
  return true;
}

int64_t fraction_micros(std::string_view digits) {
  double fraction = 0, unit = 1;
  for (char c : digits) {
    unit /= 10;
    fraction += (c - '0') * unit;
  }
  if (digits.size() <= 6) {
    int64_t micros = 0;
    for (size_t i = 0; i < 6; ++i) micros = micros * 10 + (i < digits.size() ? digits[i] - '0' : 0);
    return micros;
  }
  return static_cast<int64_t>(std::rint(fraction * 1e6));
}

Fault take_time(Scanner& in, Parsed& out) {
  int64_t hour = 0, minute = 0, second = 0, micros = 0;
  if (in.take_number(2, hour) == 0 || !in.take(':') || in.take_number(2, minute) == 0) return kBadFormat;
  if (in.take(':')) {
    if (in.take_number(2, second) == 0) return kBadFormat;
    if (in.take('.')) micros = fraction_micros(in.take_digits());
  }
  if (minute > 59 || second > 60) return kFieldOverflow;
  if (hour > 24 || (hour == 24 && (minute > 0 || second > 0 || micros > 0))) return kFieldOverflow;
  out.day_micros = ((hour * 60 + minute) * 60 + second) * kSecondMicros + micros;
  return kOk;
}

Fault take_zone(Scanner& in, Parsed& out) {
  out.has_zone = true;
  if (in.take_word("utc") || in.take_word("gmt") || in.take_word("zulu") || in.take_word("z")) return kOk;
  const bool west = in.peek() == '-';
  if (!in.take('+') && !in.take('-')) return kBadFormat;
  int64_t hour = 0, minute = 0, second = 0;
  const int digits = in.take_number(4, hour);
  if (digits == 0) return kBadFormat;
  if (digits > 2) {
    minute = hour % 100;
    hour /= 100;
  } else if (in.take(':')) {
    if (in.take_number(2, minute) == 0) return kBadFormat;
    if (in.take(':') && in.take_number(2, second) == 0) return kBadFormat;
  }
  constexpr Fault kBadZone{"22009", "time zone displacement out of range"};
  if (hour > 15 || minute > 59 || second > 59) return kBadZone;
  out.zone_micros = ((hour * 60 + minute) * 60 + second) * kSecondMicros * (west ? -1 : 1);
  return kOk;
}

Fault take_datetime(std::string_view text, Parsed& out) {
  text = trim_spaces(text);
  if (take_special(text, out)) return kOk;
  Scanner in(text);
  int64_t year = 0, month = 0, day = 0;
  if (in.take_number(7, year) < 4 || !in.take('-') || in.take_number(2, month) == 0 || !in.take('-') ||
      in.take_number(2, day) == 0) {
    return kBadFormat;
  }
  const bool joined = in.take('T') || in.take('t');
  in.skip_spaces();
  if (is_digit(in.peek())) {
    TM_SQL_TRY(take_time(in, out));
    in.skip_spaces();
  } else if (joined) {
    return kBadFormat;
  }
  if (!in.at_end() && in.peek() != 'b' && in.peek() != 'B') {
    TM_SQL_TRY(take_zone(in, out));
    in.skip_spaces();
  }
  const bool before_christ = in.take_word("bc");
  if (!in.at_end()) return kBadFormat;
  if (year == 0) return kFieldOverflow;
  if (before_christ) year = 1 - year;
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, static_cast<int>(month)))
    return kFieldOverflow;
  out.days = days_of_civil({year, static_cast<int>(month), static_cast<int>(day)});
  return kOk;
}

void append_padded(int64_t value, int width, std::string& out) {
  char buffer[32];
  out.append(buffer, std::snprintf(buffer, sizeof(buffer), "%0*lld", width, static_cast<long long>(value)));
}

void append_civil(const CivilDate& date, std::string& out) {
  append_padded(date.year > 0 ? date.year : 1 - date.year, 4, out);
  out.push_back('-');
  append_padded(date.month, 2, out);
  out.push_back('-');
  append_padded(date.day, 2, out);
}

bool append_infinity(int64_t micros, std::string& out) {
  if (is_finite_timestamp(micros)) return false;
  out += micros == kTimestampInfinity ? "infinity" : "-infinity";
  return true;
}

void append_timestamp(int64_t micros, std::string_view zone, std::string& out) {
  if (append_infinity(micros, out)) return;
  const int64_t days = floor_divide(micros, kDayMicros);
  const int64_t time = micros - days * kDayMicros;
  const CivilDate date = civil_of_days(days);
  append_civil(date, out);
  out.push_back(' ');
  append_time_of_day(time, out);
  out += zone;
  if (date.year <= 0) out += " BC";
}

}  // namespace

void append_time_of_day(int64_t micros, std::string& out) {
  const int64_t seconds = micros / kSecondMicros;
  append_padded(seconds / 3600, 2, out);
  out.push_back(':');
  append_padded(seconds / 60 % 60, 2, out);
  out.push_back(':');
  append_padded(seconds % 60, 2, out);
  const int64_t fraction = micros % kSecondMicros;
  if (fraction == 0) return;
  out.push_back('.');
  append_padded(fraction, 6, out);
  while (out.back() == '0') out.pop_back();
}

int days_in_month(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

// Years are counted from March, in eras of 400 years.
int64_t days_of_civil(const CivilDate& date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = floor_divide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 730'425;
}

CivilDate civil_of_days(int64_t days) {
  const int64_t from_march_0 = days + 730'425;
  const int64_t era = floor_divide(from_march_0, 146'097);
  const int64_t day_of_era = from_march_0 - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto shifted_month = static_cast<int>((5 * day_of_year + 2) / 153);
  const auto day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const int month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

bool is_valid_date(int64_t days) {
  return days >= kDateMin && days < kDateEnd;
}
bool is_valid_timestamp(int64_t micros) {
  return micros >= kTimestampMin && micros < kTimestampEnd;
}

bool is_valid_datetime(TypeKind kind, int64_t value) {
  switch (kind) {
    case TypeKind::Date: return !is_finite_date(value) || is_valid_date(value);
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return !is_finite_timestamp(value) || is_valid_timestamp(value);
    default: return true;
  }
}

Fault date_to_timestamp(int32_t days, int64_t& micros) {
  if (!is_finite_date(days)) {
    micros = days == kDateInfinity ? kTimestampInfinity : kTimestampMinusInfinity;
    return kOk;
  }
  if (days >= kTimestampEnd / kDayMicros) {
    return {sqlstate::kDatetimeFieldOverflow, "date out of range for timestamp"};
  }
  micros = days * kDayMicros;
  return kOk;
}

int32_t timestamp_to_date(int64_t micros) {
  if (micros == kTimestampInfinity) return kDateInfinity;
  if (micros == kTimestampMinusInfinity) return kDateMinusInfinity;
  return static_cast<int32_t>(floor_divide(micros, kDayMicros));
}

Fault date_from_text(std::string_view text, int32_t& days) {
  Parsed parsed;
  TM_SQL_TRY(take_datetime(text, parsed));
  switch (parsed.special) {
    case Parsed::Special::None: break;
    case Parsed::Special::Infinity: days = kDateInfinity; return kOk;
    case Parsed::Special::MinusInfinity: days = kDateMinusInfinity; return kOk;
    case Parsed::Special::Epoch: days = -static_cast<int32_t>(kUnixEpochDays); return kOk;
  }
  if (!is_valid_date(parsed.days)) return kDateOutOfRange;
  days = static_cast<int32_t>(parsed.days);
  return kOk;
}

Fault timestamp_from_text(std::string_view text, ZoneUse zone, int64_t& micros) {
  Parsed parsed;
  TM_SQL_TRY(take_datetime(text, parsed));
  switch (parsed.special) {
    case Parsed::Special::None: break;
    case Parsed::Special::Infinity: micros = kTimestampInfinity; return kOk;
    case Parsed::Special::MinusInfinity: micros = kTimestampMinusInfinity; return kOk;
    case Parsed::Special::Epoch: micros = -kUnixEpochMicros; return kOk;
  }
  if (__builtin_mul_overflow(parsed.days, kDayMicros, &micros) ||
      __builtin_add_overflow(micros, parsed.day_micros, &micros)) {
    return kTimestampOutOfRange;
  }
  if (zone == ZoneUse::Apply && __builtin_sub_overflow(micros, parsed.zone_micros, &micros)) {
    return kTimestampOutOfRange;
  }
  return is_valid_timestamp(micros) ? kOk : kTimestampOutOfRange;
}

int64_t timestamp_round(int64_t micros, int digits) {
  if (digits < 0 || digits >= 6 || !is_finite_timestamp(micros)) return micros;
  int64_t unit = 1;
  for (int i = digits; i < 6; ++i) unit *= 10;
  return micros >= 0 ? (micros + unit / 2) / unit * unit : -((-micros + unit / 2) / unit * unit);
}

void date_append_text(int32_t days, std::string& out) {
  if (!is_finite_date(days)) {
    out += days == kDateInfinity ? "infinity" : "-infinity";
    return;
  }
  const CivilDate date = civil_of_days(days);
  append_civil(date, out);
  if (date.year <= 0) out += " BC";
}

void timestamp_append_text(int64_t micros, std::string& out) {
  append_timestamp(micros, "", out);
}
void timestamptz_append_text(int64_t micros, std::string& out) {
  append_timestamp(micros, "+00", out);
}

}  // namespace tidemark::sql
