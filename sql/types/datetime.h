// Dates and timestamps: PostgreSQL's ranges, input and output, in the proleptic Gregorian calendar. Time
// zones are offsets; the session's zone is UTC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Days and microseconds count from 2000-01-01; the extremes are the infinities.
inline constexpr int32_t kDateInfinity = INT32_MAX;
inline constexpr int32_t kDateMinusInfinity = INT32_MIN;
inline constexpr int64_t kTimestampInfinity = INT64_MAX;
inline constexpr int64_t kTimestampMinusInfinity = INT64_MIN;
inline constexpr int64_t kSecondMicros = 1'000'000;
inline constexpr int64_t kDayMicros = 86'400 * kSecondMicros;
// From 1970-01-01 to 2000-01-01.
inline constexpr int64_t kUnixEpochDays = 10'957;
inline constexpr int64_t kUnixEpochMicros = kUnixEpochDays * kDayMicros;

inline constexpr Fault kDateOutOfRange{sqlstate::kDatetimeFieldOverflow, "date out of range"};
inline constexpr Fault kTimestampOutOfRange{sqlstate::kDatetimeFieldOverflow, "timestamp out of range"};

struct CivilDate {
  int64_t year;  // 0 is 1 BC.
  int month, day;
};
CivilDate civil_of_days(int64_t days);
int64_t days_of_civil(const CivilDate& date);
int days_in_month(int64_t year, int month);

constexpr bool is_finite_date(int64_t days) {
  return days != kDateInfinity && days != kDateMinusInfinity;
}
constexpr bool is_finite_timestamp(int64_t micros) {
  return micros != kTimestampInfinity && micros != kTimestampMinusInfinity;
}
bool is_valid_date(int64_t days);
bool is_valid_timestamp(int64_t micros);

// Whether `value` is one of `kind`: a date or timestamp in range or infinite, or anything of another kind.
bool is_valid_datetime(TypeKind kind, int64_t value);

// Rounds toward minus infinity, unlike C++.
constexpr int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

Fault date_to_timestamp(int32_t days, int64_t& micros);
int32_t timestamp_to_date(int64_t micros);

Fault date_from_text(std::string_view text, int32_t& days);
// A zone in the text of a timestamp without time zone is ignored, as PostgreSQL does.
enum class ZoneUse : uint8_t { Ignore, Apply };
Fault timestamp_from_text(std::string_view text, ZoneUse zone, int64_t& micros);
// To `digits` digits of a fraction of a second; -1: as it is.
int64_t timestamp_round(int64_t micros, int digits);

// HH:MM:SS with the digits of the fraction that are not zero at its end. REQUIRES: 0 <= micros.
void append_time_of_day(int64_t micros, std::string& out);
void date_append_text(int32_t days, std::string& out);
void timestamp_append_text(int64_t micros, std::string& out);
void timestamptz_append_text(int64_t micros, std::string& out);

Fault interval_from_text(std::string_view text, Interval& out);
void interval_append_text(const Interval& interval, std::string& out);
// The day is clipped to the length of the month arrived at.
Fault timestamp_plus_interval(int64_t micros, const Interval& interval, int64_t& out);
// Days and time of day; no months.
Fault timestamp_difference(int64_t a, int64_t b, Interval& out);

}  // namespace tidemark::sql
