// extract, date_part, date_trunc and making dates.
#include <cmath>

#include "sql/expr/function.h"
#include "sql/types/datetime.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

enum class Field : uint8_t {
  Microseconds,
  Milliseconds,
  Second,
  Minute,
  Hour,
  Day,
  Week,
  Month,
  Quarter,
  Year,
  Decade,
  Century,
  Millennium,
  IsoYear,
  Dow,
  IsoDow,
  Doy,
  Epoch,
  None
};

struct FieldName {
  std::string_view name;
  Field field;
};
constexpr FieldName kFieldNames[] = {{"microsecond", Field::Microseconds},
                                     {"millisecond", Field::Milliseconds},
                                     {"second", Field::Second},
                                     {"minute", Field::Minute},
                                     {"hour", Field::Hour},
                                     {"day", Field::Day},
                                     {"week", Field::Week},
                                     {"month", Field::Month},
                                     {"quarter", Field::Quarter},
                                     {"year", Field::Year},
                                     {"decade", Field::Decade},
                                     {"century", Field::Century},
                                     {"millennium", Field::Millennium},
                                     {"isoyear", Field::IsoYear},
                                     {"dow", Field::Dow},
                                     {"isodow", Field::IsoDow},
                                     {"doy", Field::Doy},
                                     {"epoch", Field::Epoch},
                                     {"centuries", Field::Century},
                                     {"millennia", Field::Millennium}};

Field field_named(std::string_view text) {
  for (const FieldName& candidate : kFieldNames) {
    if (equals_ignoring_case(text, candidate.name)) return candidate.field;
    if (text.size() == candidate.name.size() + 1 && to_lower(text.back()) == 's' &&
        equals_ignoring_case(text.substr(0, text.size() - 1), candidate.name)) {
      return candidate.field;
    }
  }
  return Field::None;
}

bool is_of_time(Field field) {
  return field <= Field::Hour;
}

// Grows with time without end, so that it has a value at infinity.
bool is_monotonic(Field field) {
  switch (field) {
    case Field::Year:
    case Field::Decade:
    case Field::Century:
    case Field::Millennium:
    case Field::IsoYear:
    case Field::Epoch: return true;
    default: return false;
  }
}

Fault bad_field(Evaluation& evaluation, std::string_view field, TypeKind kind, bool known) {
  return evaluation.fail(known ? sqlstate::kFeatureNotSupported : sqlstate::kInvalidParameterValue,
                         "unit \"" + std::string(field) + (known ? "\" not supported" : "\" not recognized") +
                             " for type " + std::string(type_name(kind)));
}

int64_t positive_modulo(int64_t a, int64_t b) {
  return a - floor_divide(a, b) * b;
}

struct IsoWeek {
  int64_t year, week;
};
// The week of a day is that of its Thursday.
IsoWeek iso_week(int64_t days) {
  const int64_t thursday = days - positive_modulo(days + 5, 7) + 3;
  const int64_t year = civil_of_days(thursday).year;
  return {year, (thursday - days_of_civil({year, 1, 1})) / 7 + 1};
}

// Year 0 is 1 BC; there is no year 0 to show, and centuries count from 1.
int64_t shown_year(int64_t year) {
  return year > 0 ? year : year - 1;
}
int64_t group_of_years(int64_t year, int64_t size) {
  return year > 0 ? (year + size - 1) / size : -((size - 1 - (year - 1)) / size);
}
int64_t decade_of(int64_t year) {
  return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
}

Numeric field_of(Field field, int64_t days, int64_t time) {
  const CivilDate date = civil_of_days(days);
  const int64_t minute_micros = time % (60 * kSecondMicros);
  const auto whole = [](int64_t value) { return Numeric::from_int(value); };
  switch (field) {
    case Field::Microseconds: return whole(minute_micros);
    case Field::Milliseconds: return Numeric::small(minute_micros, 3);
    case Field::Second: return Numeric::small(minute_micros, 6);
    case Field::Minute: return whole(time / (60 * kSecondMicros) % 60);
    case Field::Hour: return whole(time / (3600 * kSecondMicros));
    case Field::Day: return whole(date.day);
    case Field::Week: return whole(iso_week(days).week);
    case Field::Month: return whole(date.month);
    case Field::Quarter: return whole((date.month - 1) / 3 + 1);
    case Field::Year: return whole(shown_year(date.year));
    case Field::Decade: return whole(decade_of(date.year));
    case Field::Century: return whole(group_of_years(date.year, 100));
    case Field::Millennium: return whole(group_of_years(date.year, 1000));
    case Field::IsoYear: return whole(shown_year(iso_week(days).year));
    case Field::Dow: return whole(positive_modulo(days + 6, 7));
    case Field::IsoDow: return whole(positive_modulo(days + 5, 7) + 1);
    case Field::Doy: return whole(days - days_of_civil({date.year, 1, 1}) + 1);
    case Field::Epoch:
      return Numeric::small(static_cast<int128_t>(days + kUnixEpochDays) * kDayMicros + time, 6);
    case Field::None: break;
  }
  TM_UNREACHABLE();
}

Fault extract_infinite(Field field, bool negative, Value& out) {
  out = is_monotonic(field) ? Value::numeric(Numeric::infinity(negative)) : Value::null();
  return kOk;
}

Fault extract_timestamp(Evaluation& evaluation, const Value* args, int, Value& out) {
  const Field field = field_named(args[0].as_bytes());
  if (field == Field::None) return bad_field(evaluation, args[0].as_bytes(), args[1].kind(), false);
  const int64_t micros = args[1].as_int();
  if (!is_finite_timestamp(micros)) return extract_infinite(field, micros < 0, out);
  const int64_t days = floor_divide(micros, kDayMicros);
  out = Value::numeric(field_of(field, days, micros - days * kDayMicros));
  return kOk;
}

Fault extract_date(Evaluation& evaluation, const Value* args, int, Value& out) {
  const Field field = field_named(args[0].as_bytes());
  if (field == Field::None || is_of_time(field)) {
    return bad_field(evaluation, args[0].as_bytes(), TypeKind::Date, field != Field::None);
  }
  const int64_t days = args[1].as_int();
  if (!is_finite_date(days)) return extract_infinite(field, days < 0, out);
  out = Value::numeric(field == Field::Epoch ? Numeric::from_int((days + kUnixEpochDays) * 86'400)
                                             : field_of(field, days, 0));
  return kOk;
}

// As PostgreSQL computes them: not the nearest double to the exact number, but sums and quotients of doubles.
double epoch_seconds(int64_t micros) {
  constexpr int64_t kEpoch = -kUnixEpochMicros;
  constexpr double kPerSecond = 1'000'000.0;
  if (micros < INT64_MAX + kEpoch) return static_cast<double>(micros - kEpoch) / kPerSecond;
  return (static_cast<double>(micros) - static_cast<double>(kEpoch)) / kPerSecond;
}
double seconds_of_minute(int64_t micros, double per_second) {
  const int64_t of_minute = positive_modulo(micros, 60 * kSecondMicros);
  const auto whole = static_cast<double>(of_minute / kSecondMicros);
  const auto rest = static_cast<double>(of_minute % kSecondMicros);
  return whole * per_second + rest / (static_cast<double>(kSecondMicros) / per_second);
}

Fault date_part_timestamp(Evaluation& evaluation, const Value* args, int count, Value& out) {
  const Field field = field_named(args[0].as_bytes());
  const int64_t micros = args[1].as_int();
  if (is_finite_timestamp(micros)) {
    switch (field) {
      case Field::Epoch: out = Value::float8(epoch_seconds(micros)); return kOk;
      case Field::Second: out = Value::float8(seconds_of_minute(micros, 1.0)); return kOk;
      case Field::Milliseconds: out = Value::float8(seconds_of_minute(micros, 1000.0)); return kOk;
      default: break;
    }
  }
  Value number;
  TM_SQL_TRY(extract_timestamp(evaluation, args, count, number));
  if (number.is_null()) {
    out = number;
    return kOk;
  }
  double value = 0;
  TM_SQL_TRY(numeric_to_double(number.as_numeric(), value));
  out = Value::float8(value);
  return kOk;
}

// date_part of a date is that of its timestamp, so that it takes hours, too.
Fault date_part_date(Evaluation& evaluation, const Value* args, int count, Value& out) {
  int64_t micros = 0;
  TM_SQL_TRY(date_to_timestamp(static_cast<int32_t>(args[1].as_int()), micros));
  const Value converted[2] = {args[0], Value::timestamp(micros)};
  return date_part_timestamp(evaluation, converted, count, out);
}

int64_t first_year(Field field, int64_t year) {
  switch (field) {
    case Field::Decade: return decade_of(year) * 10;
    case Field::Century: return group_of_years(year, 100) * 100 + (year > 0 ? -99 : 1);
    case Field::Millennium: return group_of_years(year, 1000) * 1000 + (year > 0 ? -999 : 1);
    default: return year;
  }
}

int64_t truncated_days(Field field, int64_t days) {
  CivilDate date = civil_of_days(days);
  switch (field) {
    case Field::Week: return days - positive_modulo(days + 5, 7);
    case Field::Month: return days_of_civil({date.year, date.month, 1});
    case Field::Quarter: return days_of_civil({date.year, (date.month - 1) / 3 * 3 + 1, 1});
    case Field::Year:
    case Field::Decade:
    case Field::Century:
    case Field::Millennium: return days_of_civil({first_year(field, date.year), 1, 1});
    default: return days;
  }
}

int64_t unit_of(Field field) {
  switch (field) {
    case Field::Microseconds: return 1;
    case Field::Milliseconds: return 1000;
    case Field::Second: return kSecondMicros;
    case Field::Minute: return 60 * kSecondMicros;
    case Field::Hour: return 3600 * kSecondMicros;
    default: return kDayMicros;
  }
}

Fault date_trunc(Evaluation& evaluation, const Value* args, int, Value& out) {
  const Field field = field_named(args[0].as_bytes());
  if (field == Field::None || field >= Field::IsoYear) {
    return bad_field(evaluation, args[0].as_bytes(), args[1].kind(), field != Field::None);
  }
  const int64_t micros = args[1].as_int();
  if (!is_finite_timestamp(micros)) {
    out = args[1];
    return kOk;
  }
  const int64_t unit = unit_of(field);
  int64_t result = floor_divide(micros, unit) * unit;
  if (unit == kDayMicros) result = truncated_days(field, result / kDayMicros) * kDayMicros;
  if (!is_valid_timestamp(result)) return kTimestampOutOfRange;
  out = Value::of_int(args[1].kind(), result);
  return kOk;
}

Fault make_date(Evaluation&, const Value* args, int, Value& out) {
  constexpr Fault kBadDate{sqlstate::kDatetimeFieldOverflow, "date field value out of range"};
  int64_t year = args[0].as_int();
  const int64_t month = args[1].as_int(), day = args[2].as_int();
  if (year == 0 || month < 1 || month > 12) return kBadDate;
  if (year < 0) ++year;
  if (day < 1 || day > days_in_month(year, static_cast<int>(month))) return kBadDate;
  const int64_t days = days_of_civil({year, static_cast<int>(month), static_cast<int>(day)});
  if (!is_valid_date(days)) return kDateOutOfRange;
  out = Value::date(static_cast<int32_t>(days));
  return kOk;
}

Fault to_timestamp(Evaluation&, const Value* args, int, Value& out) {
  const double seconds = args[0].as_double();
  if (std::isnan(seconds)) return {sqlstate::kDatetimeFieldOverflow, "timestamp cannot be NaN"};
  if (std::isinf(seconds)) {
    out = Value::timestamptz(seconds > 0 ? kTimestampInfinity : kTimestampMinusInfinity);
    return kOk;
  }
  constexpr double kSecondsMin = -210866803200.0, kSecondsEnd = 9224318016000.0;
  if (seconds < kSecondsMin || seconds >= kSecondsEnd) return kTimestampOutOfRange;
  const double from_epoch = seconds - static_cast<double>(kUnixEpochMicros / kSecondMicros);
  const auto micros = static_cast<int64_t>(std::rint(from_epoch * static_cast<double>(kSecondMicros)));
  if (!is_valid_timestamp(micros)) return kTimestampOutOfRange;
  out = Value::timestamptz(micros);
  return kOk;
}

Fault at_zone(Evaluation& evaluation, const Value* args, int, Value& out) {
  const std::string_view zone = args[0].as_bytes();
  if (!equals_ignoring_case(zone, "utc") && !equals_ignoring_case(zone, "gmt") && zone != "+00" &&
      zone != "+00:00") {
    return evaluation.fail(sqlstate::kInvalidParameterValue,
                           "time zone \"" + std::string(zone) + "\" is not supported; write 'UTC'");
  }
  out = Value::of_int(args[1].kind() == TypeKind::Timestamp ? TypeKind::TimestampTz : TypeKind::Timestamp,
                      args[1].as_int());
  return kOk;
}

Function refused(std::string_view name, TypeKind result) {
  Function out = Function::of(name, {TypeKind::Text, TypeKind::Interval}, result, nullptr);
  out.hint = "Take the field of a timestamp.";
  return out;
}

}  // namespace

std::vector<Function> datetime_functions() {
  constexpr TypeKind T = TypeKind::Text, N = TypeKind::Numeric, D = TypeKind::Double, I = TypeKind::Integer;
  constexpr TypeKind kTime = TypeKind::Timestamp, kZoned = TypeKind::TimestampTz, kDate = TypeKind::Date;
  return {
      Function::of("extract", {T, kTime}, N, extract_timestamp),
      Function::of("extract", {T, kZoned}, N, extract_timestamp),
      Function::of("extract", {T, kDate}, N, extract_date),
      Function::of("date_part", {T, kTime}, D, date_part_timestamp),
      Function::of("date_part", {T, kZoned}, D, date_part_timestamp),
      Function::of("date_part", {T, kDate}, D, date_part_date),
      Function::of("date_trunc", {T, kTime}, kTime, date_trunc),
      Function::of("date_trunc", {T, kZoned}, kZoned, date_trunc),
      refused("extract", N),
      refused("date_part", D),
      refused("date_trunc", TypeKind::Interval),
      Function::of("make_date", {I, I, I}, kDate, make_date),
      Function::of("to_timestamp", {D}, kZoned, to_timestamp),
      Function::of("timezone", {T, kTime}, kZoned, at_zone),
      Function::of("timezone", {T, kZoned}, kTime, at_zone),
  };
}

}  // namespace tidemark::sql
