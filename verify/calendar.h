// Dates, timestamps and intervals as PostgreSQL counts and prints them (ISO style, UTC).
// Days and microseconds count from 2000-01-01.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "verify/decimal.h"

namespace tidemark::verify {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;
inline constexpr int64_t kDateInfinity = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kDateMinusInfinity = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kTimeInfinity = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kTimeMinusInfinity = std::numeric_limits<int64_t>::min();

struct Civil {
  int64_t year;  // 0 is 1 BC.
  int month;
  int day;
};
int64_t days_of(const Civil& date);
Civil civil_of(int64_t days);

struct Interval {
  int64_t months = 0;
  int64_t days = 0;
  int64_t micros = 0;

  // Between our functions: 'months days microseconds'.
  std::string packed() const;
  static Interval unpack(const std::string& packed);
  // For comparing: a month has 30 days, a day 24 hours.
  Decimal total_micros() const;
};

enum class Zone : bool { Ignored, Applied };

// What PostgreSQL prints, and what people write of it: 2024-02-29 12:00:00.5+02, BC, infinity, epoch.
std::optional<int64_t> parse_date(std::string_view text);
std::optional<int64_t> parse_timestamp(std::string_view text, Zone zone);
// '1 day 02:00:00', '3 months', '-1 hour': words and clocks; no ISO 8601, no fractions of months and days.
std::optional<Interval> parse_interval(std::string_view text);

std::string date_text(int64_t days);
std::string timestamp_text(int64_t micros, Zone zone);

int64_t date_to_timestamp(int64_t days);
int64_t timestamp_to_date(int64_t micros);
int64_t plus(int64_t micros, const Interval& interval);
Interval minus(int64_t a, int64_t b);
// To so many digits after the second.
int64_t rounded_time(int64_t micros, int digits);

// A field that grows with time is infinite there too; others have no value.
enum class Sign : bool { Plus, Minus };
std::optional<Decimal> field_of_infinity(std::string_view field, Sign sign);
Result<int64_t> date_trunc(std::string_view field, int64_t micros);
// REQUIRES: not an infinity.
Result<Decimal> extract_timestamp(std::string_view field, int64_t micros);
Result<Decimal> extract_date(std::string_view field, int64_t days);
Result<Decimal> extract_interval(std::string_view field, const Interval& interval);

}  // namespace tidemark::verify
