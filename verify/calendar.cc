#include "verify/calendar.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tidemark::verify {

namespace {

constexpr int64_t kEpochDays = 10'957;  // From 1970-01-01 to 2000-01-01.

int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int days_in_month(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Reads from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  void skip_spaces() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string word() {
    std::string out;
    while (!text_.empty() && std::isalpha(static_cast<unsigned char>(text_[0]))) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[0])));
      text_.remove_prefix(1);
    }
    return out;
  }
  std::optional<int64_t> number(size_t* digits = nullptr) {
    size_t count = 0;
    int64_t out = 0;
    while (!text_.empty() && text_[0] >= '0' && text_[0] <= '9' && count < 18) {
      out = out * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
      ++count;
    }
    if (digits != nullptr) *digits = count;
    if (count == 0) return {};
    return out;
  }
  // Digits after a point, as microseconds; the seventh rounds.
  int64_t fraction() {
    size_t digits = 0;
    const auto value = number(&digits);
    if (!value) return 0;
    double micros = static_cast<double>(*value);
    for (size_t i = digits; i < 6; ++i) micros *= 10;
    for (size_t i = 6; i < digits; ++i) micros /= 10;
    return static_cast<int64_t>(micros + 0.5);
  }

 private:
  std::string_view text_;
};

std::optional<Civil> scan_civil(Scanner& in) {
  const auto year = in.number();
  if (!year || !in.take('-')) return {};
  const auto month = in.number();
  if (!month || !in.take('-')) return {};
  const auto day = in.number();
  if (!day || *month < 1 || *month > 12 || *day < 1) return {};
  return Civil{*year, static_cast<int>(*month), static_cast<int>(*day)};
}

// HH:MM[:SS[.ffffff]] as microseconds.
std::optional<int64_t> scan_clock(Scanner& in) {
  const auto hours = in.number();
  if (!hours || !in.take(':')) return {};
  const auto minutes = in.number();
  if (!minutes) return {};
  int64_t micros = (*hours * 60 + *minutes) * 60 * kMicrosPerSecond;
  if (in.take(':')) {
    const auto seconds = in.number();
    if (!seconds) return {};
    micros += *seconds * kMicrosPerSecond;
    if (in.take('.')) micros += in.fraction();
  }
  return micros;
}

std::optional<int64_t> scan_zone(Scanner& in) {
  const bool west = in.take('-');
  if (!west && !in.take('+')) return {};
  size_t digits = 0;
  auto hours = in.number(&digits);
  if (!hours) return {};
  int64_t seconds = digits > 2 ? (*hours / 100 * 60 + *hours % 100) * 60 : *hours * 3600;
  for (int64_t unit = 60; in.take(':'); unit /= 60) {
    const auto part = in.number();
    if (!part || unit == 0) return {};
    seconds += *part * unit;
  }
  return (west ? seconds : -seconds) * kMicrosPerSecond;
}

struct Moment {
  Civil date;
  int64_t micros = 0;  // Since midnight.
  int64_t zone = 0;
};

std::optional<Moment> scan_moment(Scanner in) {
  const auto date = scan_civil(in);
  if (!date) return {};
  Moment out{*date};
  if (in.take('T') || (in.skip_spaces(), !in.done())) {
    Scanner before = in;
    if (const auto clock = scan_clock(in)) {
      out.micros = *clock;
      in.skip_spaces();
      Scanner zoned = in;
      if (const auto zone = scan_zone(zoned)) {
        out.zone = *zone;
        in = zoned;
      }
    } else {
      in = before;
    }
    in.skip_spaces();
    std::string word = in.word();
    if (word == "z" || word == "utc") {
      in.skip_spaces();
      word = in.word();
    }
    if (word == "bc") {
      out.date.year = 1 - out.date.year;
    } else if (!word.empty() && word != "ad") {
      return {};
    }
  }
  if (!in.done() || out.date.day > days_in_month(out.date.year, out.date.month)) return {};
  return out;
}

std::string trimmed_lower(std::string_view text) {
  std::string out(text);
  out.erase(0, out.find_first_not_of(" \t\n"));
  out.erase(out.find_last_not_of(" \t\n") + 1);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string civil_text(const Civil& date) {
  char buffer[48];
  const int64_t year = date.year > 0 ? date.year : 1 - date.year;
  std::snprintf(buffer, sizeof buffer, "%04lld-%02d-%02d", static_cast<long long>(year), date.month,
                date.day);
  return buffer;
}

int64_t iso_week_monday(int64_t year) {  // The Monday of week 1.
  const int64_t fourth = days_of({year, 1, 4});
  return fourth - (((fourth + 5) % 7 + 7) % 7);  // 2000-01-01 was a Saturday: day 0 is 5 days after Monday.
}

int64_t iso_year(int64_t days) {
  const int64_t year = civil_of(days).year;
  if (days < iso_week_monday(year)) return year - 1;
  return days >= iso_week_monday(year + 1) ? year + 1 : year;
}

int64_t century_of(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

// Of a date alone; none: not a field of dates.
std::optional<int64_t> date_field(std::string_view field, int64_t days) {
  const Civil date = civil_of(days);
  if (field == "year") return date.year > 0 ? date.year : date.year - 1;
  if (field == "month") return date.month;
  if (field == "day") return date.day;
  if (field == "quarter") return (date.month - 1) / 3 + 1;
  if (field == "doy") return days - days_of({date.year, 1, 1}) + 1;
  if (field == "dow") return ((days + 6) % 7 + 7) % 7;
  if (field == "isodow") return ((days + 5) % 7 + 7) % 7 + 1;
  if (field == "week") return (days - iso_week_monday(iso_year(days))) / 7 + 1;
  if (field == "isoyear") return iso_year(days) > 0 ? iso_year(days) : iso_year(days) - 1;
  if (field == "decade") return floor_div(date.year, 10);
  if (field == "century") return century_of(date.year, 100);
  if (field == "millennium") return century_of(date.year, 1000);
  return {};
}

Decimal scaled(int64_t unscaled, int digits) {
  std::string text = std::to_string(unscaled < 0 ? -unscaled : unscaled);
  const size_t width = static_cast<size_t>(digits);
  if (text.size() <= width) text.insert(0, width + 1 - text.size(), '0');
  text.insert(text.size() - width, 1, '.');
  return *Decimal::parse(unscaled < 0 ? "-" + text : text);
}

// Of the time within a day; `micros` may be negative in intervals.
std::optional<Decimal> clock_field(std::string_view field, int64_t micros) {
  const int64_t within_minute = micros % (60 * kMicrosPerSecond);
  if (field == "hour") return Decimal(micros / (3600 * kMicrosPerSecond));
  if (field == "minute") return Decimal(micros / (60 * kMicrosPerSecond) % 60);
  if (field == "second") return scaled(within_minute, 6);
  if (field == "milliseconds") return scaled(within_minute, 3);
  if (field == "microseconds") return Decimal(within_minute);
  return {};
}

std::string canonical_field(std::string_view field) {
  std::string out = trimmed_lower(field);
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"years", "year"},
                                                                       {"months", "month"},
                                                                       {"days", "day"},
                                                                       {"hours", "hour"},
                                                                       {"minutes", "minute"},
                                                                       {"seconds", "second"},
                                                                       {"weeks", "week"},
                                                                       {"quarters", "quarter"},
                                                                       {"msec", "milliseconds"},
                                                                       {"usec", "microseconds"},
                                                                       {"millisecond", "milliseconds"},
                                                                       {"microsecond", "microseconds"},
                                                                       {"min", "minute"},
                                                                       {"sec", "second"},
                                                                       {"mins", "minute"},
                                                                       {"secs", "second"},
                                                                       {"hr", "hour"},
                                                                       {"hrs", "hour"},
                                                                       {"decades", "decade"},
                                                                       {"centuries", "century"},
                                                                       {"mon", "month"},
                                                                       {"mons", "month"},
                                                                       {"h", "hour"},
                                                                       {"m", "minute"},
                                                                       {"s", "second"},
                                                                       {"d", "day"},
                                                                       {"y", "year"},
                                                                       {"w", "week"}};
  for (const auto& [other, own] : kOthers) {
    if (out == other) return std::string(own);
  }
  return out;
}

Error unknown_field(std::string_view field) {
  return Error{"no field \"" + std::string(field) + "\" is known here"};
}

}  // namespace

int64_t days_of(const Civil& date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = floor_div(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468 - kEpochDays;
}

Civil civil_of(int64_t days) {
  const int64_t shifted = days + kEpochDays + 719'468;
  const int64_t era = floor_div(shifted, 146'097);
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_index = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * month_index + 2) / 5 + 1);
  const int month = static_cast<int>(month_index < 10 ? month_index + 3 : month_index - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::string Interval::packed() const {
  return std::to_string(months) + " " + std::to_string(days) + " " + std::to_string(micros);
}

Interval Interval::unpack(const std::string& packed) {
  Interval out;
  char* at = nullptr;
  out.months = std::strtoll(packed.c_str(), &at, 10);
  out.days = std::strtoll(at, &at, 10);
  out.micros = std::strtoll(at, nullptr, 10);
  return out;
}

Decimal Interval::total_micros() const {
  return Decimal(months * 30 + days) * Decimal(kMicrosPerDay) + Decimal(micros);
}

std::optional<int64_t> parse_date(std::string_view text) {
  const std::string word = trimmed_lower(text);
  if (word == "infinity") return kDateInfinity;
  if (word == "-infinity") return kDateMinusInfinity;
  if (word == "epoch") return -kEpochDays;
  std::string upper = word;
  for (char& c : upper) c = c == 't' ? 'T' : c;
  const auto moment = scan_moment(Scanner(upper));
  if (!moment) return {};
  return days_of(moment->date);
}

std::optional<int64_t> parse_timestamp(std::string_view text, Zone zone) {
  const std::string word = trimmed_lower(text);
  if (word == "infinity") return kTimeInfinity;
  if (word == "-infinity") return kTimeMinusInfinity;
  if (word == "epoch") return -kEpochDays * kMicrosPerDay;
  std::string upper = word;
  for (char& c : upper) c = c == 't' ? 'T' : c;
  const auto moment = scan_moment(Scanner(upper));
  if (!moment) return {};
  const int64_t shift = zone == Zone::Applied ? moment->zone : 0;
  return days_of(moment->date) * kMicrosPerDay + moment->micros + shift;
}

std::optional<Interval> parse_interval(std::string_view text) {
  const std::string lower = trimmed_lower(text);
  Scanner in(lower);
  Interval out;
  for (in.skip_spaces(); !in.done(); in.skip_spaces()) {
    const bool negative = in.take('-');
    if (!negative) in.take('+');
    const int64_t sign = negative ? -1 : 1;
    Scanner clock = in;
    if (const auto micros = scan_clock(clock)) {
      out.micros += sign * *micros;
      in = clock;
      continue;
    }
    const auto number = in.number();
    if (!number) return {};
    const int64_t fraction = in.take('.') ? in.fraction() : 0;
    in.skip_spaces();
    const std::string unit = canonical_field(in.word());
    const int64_t count = sign * *number;
    const bool is_clock = unit == "hour" || unit == "minute" || unit == "second";
    if (fraction != 0 && !is_clock) return {};
    if (is_clock) {
      const int64_t seconds = unit == "hour" ? 3600 : unit == "minute" ? 60 : 1;
      out.micros += seconds * (count * kMicrosPerSecond + sign * fraction);
    } else if (unit == "milliseconds") {
      out.micros += count * 1000;
    } else if (unit == "microseconds") {
      out.micros += count;
    } else if (unit == "day" || unit == "week") {
      out.days += unit == "week" ? 7 * count : count;
    } else if (unit == "month" || unit == "year" || unit == "decade") {
      out.months += unit == "month" ? count : unit == "year" ? 12 * count : 120 * count;
    } else {
      return {};
    }
  }
  return out;
}

std::string date_text(int64_t days) {
  if (days == kDateInfinity) return "infinity";
  if (days == kDateMinusInfinity) return "-infinity";
  const Civil date = civil_of(days);
  return civil_text(date) + (date.year > 0 ? "" : " BC");
}

std::string timestamp_text(int64_t micros, Zone zone) {
  if (micros == kTimeInfinity) return "infinity";
  if (micros == kTimeMinusInfinity) return "-infinity";
  const int64_t days = floor_div(micros, kMicrosPerDay);
  const int64_t rest = micros - days * kMicrosPerDay;
  const Civil date = civil_of(days);
  const int64_t seconds = rest / kMicrosPerSecond;
  char clock[32];
  std::snprintf(clock, sizeof clock, " %02d:%02d:%02d", static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  std::string out = civil_text(date) + clock;
  if (const int64_t fraction = rest % kMicrosPerSecond; fraction != 0) {
    std::string digits = std::to_string(fraction + kMicrosPerSecond);
    digits[0] = '.';
    digits.erase(digits.find_last_not_of('0') + 1);
    out += digits;
  }
  if (zone == Zone::Applied) out += "+00";
  return date.year > 0 ? out : out + " BC";
}

int64_t date_to_timestamp(int64_t days) {
  if (days == kDateInfinity) return kTimeInfinity;
  if (days == kDateMinusInfinity) return kTimeMinusInfinity;
  // Dates reach further than timestamps; compared with one, such a date is later.
  if (days > kTimeInfinity / kMicrosPerDay) return kTimeInfinity - 1;
  return days * kMicrosPerDay;
}

int64_t timestamp_to_date(int64_t micros) {
  if (micros == kTimeInfinity) return kDateInfinity;
  if (micros == kTimeMinusInfinity) return kDateMinusInfinity;
  return floor_div(micros, kMicrosPerDay);
}

int64_t plus(int64_t micros, const Interval& interval) {
  if (micros == kTimeInfinity || micros == kTimeMinusInfinity) return micros;
  int64_t days = floor_div(micros, kMicrosPerDay);
  const int64_t rest = micros - days * kMicrosPerDay;
  if (interval.months != 0) {
    Civil date = civil_of(days);
    const int64_t months = date.year * 12 + (date.month - 1) + interval.months;
    date.year = floor_div(months, 12);
    date.month = static_cast<int>(months - date.year * 12) + 1;
    date.day = std::min(date.day, days_in_month(date.year, date.month));
    days = days_of(date);
  }
  return (days + interval.days) * kMicrosPerDay + rest + interval.micros;
}

Interval minus(int64_t a, int64_t b) {
  const int64_t micros = a - b;
  return {0, micros / kMicrosPerDay, micros % kMicrosPerDay};
}

int64_t rounded_time(int64_t micros, int digits) {
  if (micros == kTimeInfinity || micros == kTimeMinusInfinity) return micros;
  int64_t unit = 1;
  for (int i = digits; i < 6; ++i) unit *= 10;
  return micros >= 0 ? (micros + unit / 2) / unit * unit : -((-micros + unit / 2) / unit * unit);
}

std::optional<Decimal> field_of_infinity(std::string_view field, Sign sign) {
  const std::string name = canonical_field(field);
  for (const char* growing : {"epoch", "year", "isoyear", "decade", "century", "millennium"}) {
    if (name == growing) return Decimal::parse(sign == Sign::Minus ? "-Infinity" : "Infinity");
  }
  return {};
}

Result<int64_t> date_trunc(std::string_view field, int64_t micros) {
  if (micros == kTimeInfinity || micros == kTimeMinusInfinity) return micros;
  const std::string name = canonical_field(field);
  auto down_to = [&](int64_t unit) { return floor_div(micros, unit) * unit; };
  if (name == "microseconds") return micros;
  if (name == "milliseconds") return down_to(1000);
  if (name == "second") return down_to(kMicrosPerSecond);
  if (name == "minute") return down_to(60 * kMicrosPerSecond);
  if (name == "hour") return down_to(3600 * kMicrosPerSecond);
  if (name == "day") return down_to(kMicrosPerDay);
  const int64_t days = floor_div(micros, kMicrosPerDay);
  if (name == "week") return (days - ((days + 5) % 7 + 7) % 7) * kMicrosPerDay;
  Civil date = civil_of(days);
  date.day = 1;
  if (name == "month") return days_of(date) * kMicrosPerDay;
  if (name == "quarter") {
    date.month = (date.month - 1) / 3 * 3 + 1;
    return days_of(date) * kMicrosPerDay;
  }
  date.month = 1;
  if (name == "year") return days_of(date) * kMicrosPerDay;
  if (name == "decade") return days_of({floor_div(date.year, 10) * 10, 1, 1}) * kMicrosPerDay;
  auto first_year = [&](int64_t length) {
    return date.year > 0 ? (date.year + length - 1) / length * length - (length - 1)
                         : -((length - 1 - (date.year - 1)) / length) * length + 1;
  };
  if (name == "century") return days_of({first_year(100), 1, 1}) * kMicrosPerDay;
  if (name == "millennium") return days_of({first_year(1000), 1, 1}) * kMicrosPerDay;
  return unknown_field(field);
}

Result<Decimal> extract_timestamp(std::string_view field, int64_t micros) {
  const std::string name = canonical_field(field);
  if (name == "epoch") return scaled(micros + kEpochDays * kMicrosPerDay, 6);
  const int64_t days = floor_div(micros, kMicrosPerDay);
  if (const auto part = clock_field(name, micros - days * kMicrosPerDay)) return *part;
  if (const auto part = date_field(name, days)) return Decimal(*part);
  return unknown_field(field);
}

Result<Decimal> extract_date(std::string_view field, int64_t days) {
  const std::string name = canonical_field(field);
  if (name == "epoch") return Decimal((days + kEpochDays) * 86'400);
  if (const auto part = date_field(name, days)) return Decimal(*part);
  return unknown_field(field);
}

Result<Decimal> extract_interval(std::string_view field, const Interval& interval) {
  const std::string name = canonical_field(field);
  if (name == "year") return Decimal(interval.months / 12);
  if (name == "month") return Decimal(interval.months % 12);
  if (name == "day") return Decimal(interval.days);
  if (name == "epoch") {
    // A year has 365.25 days here, a month 30.
    const Decimal quarter_days(interval.months / 12 * 1461 + interval.months % 12 * 120 + interval.days * 4);
    return quarter_days * Decimal(21'600) + scaled(interval.micros, 6);
  }
  if (const auto part = clock_field(name, interval.micros)) return *part;
  return unknown_field(field);
}

}  // namespace tidemark::verify
