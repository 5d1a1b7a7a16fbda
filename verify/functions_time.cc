#include <cmath>

#include "verify/calendar.h"
#include "verify/functions.h"

namespace tidemark::verify {

namespace {

using R = Result<Value>;

R decimal_text(const Result<Decimal>& number) {
  if (!number.ok()) return number.error();
  return Value(number->text());
}

Interval interval(const Value& value) {
  return Interval::unpack(as_text(value));
}

Interval negated(const Interval& of) {
  return {-of.months, -of.days, -of.micros};
}

Interval sum(const Interval& a, const Interval& b) {
  return {a.months + b.months, a.days + b.days, a.micros + b.micros};
}

bool is_infinite(int64_t micros) {
  return micros == kTimeInfinity || micros == kTimeMinusInfinity;
}

R infinite_field(const std::string& field, int64_t infinity) {
  const auto value = field_of_infinity(field, infinity < 0 ? Sign::Minus : Sign::Plus);
  return value ? Value(value->text()) : Value();
}

}  // namespace

void register_time_functions(Database& database) {
  auto add = [&](const char* name, int arguments, R (*function)(Values)) {
    database.add_function(name, arguments, Nulls::Strict, function);
  };
  add("ts_from_date", 1, [](Values v) -> R { return Value(date_to_timestamp(as_int(v[0]))); });
  add("date_from_ts", 1, [](Values v) -> R { return Value(timestamp_to_date(as_int(v[0]))); });
  add("ts_fit", 2,
      [](Values v) -> R { return Value(rounded_time(as_int(v[0]), static_cast<int>(as_int(v[1])))); });
  add("ts_add", 2, [](Values v) -> R { return Value(plus(as_int(v[0]), interval(v[1]))); });
  add("ts_sub_iv", 2, [](Values v) -> R { return Value(plus(as_int(v[0]), negated(interval(v[1])))); });
  add("ts_sub", 2, [](Values v) -> R {
    if (is_infinite(as_int(v[0])) || is_infinite(as_int(v[1])))
      return Error{"cannot subtract infinite timestamps"};
    return Value(minus(as_int(v[0]), as_int(v[1])).packed());
  });
  add("iv_add", 2, [](Values v) -> R { return Value(sum(interval(v[0]), interval(v[1])).packed()); });
  add("iv_sub", 2,
      [](Values v) -> R { return Value(sum(interval(v[0]), negated(interval(v[1]))).packed()); });
  add("iv_neg", 1, [](Values v) -> R { return Value(negated(interval(v[0])).packed()); });
  add("iv_key", 1, [](Values v) -> R { return Value(interval(v[0]).total_micros().key()); });
  add("date_add", 2, [](Values v) -> R {
    const int64_t days = as_int(v[0]);
    const bool infinite = days == kDateInfinity || days == kDateMinusInfinity;
    return Value(infinite ? days : days + as_int(v[1]));
  });
  add("date_sub", 2, [](Values v) -> R {
    for (const Value& date : v) {
      if (as_int(date) == kDateInfinity || as_int(date) == kDateMinusInfinity) {
        return Error{"cannot subtract infinite dates"};
      }
    }
    return Value(as_int(v[0]) - as_int(v[1]));
  });
  add("make_date", 3, [](Values v) -> R {
    char text[64];
    std::snprintf(text, sizeof text, "%lld-%lld-%lld", static_cast<long long>(as_int(v[0])),
                  static_cast<long long>(as_int(v[1])), static_cast<long long>(as_int(v[2])));
    const auto days = parse_date(text);
    if (!days) return Error{"date field value out of range"};
    return Value(*days);
  });
  add("ts_from_epoch", 1, [](Values v) -> R {
    const double seconds = as_double(v[0]);
    if (std::isinf(seconds)) return Value(seconds > 0 ? kTimeInfinity : kTimeMinusInfinity);
    if (!(seconds > -2e11 && seconds < 9e12)) return Error{"timestamp out of range"};
    const double since_2000 = seconds - 946'684'800.0;
    return Value(static_cast<int64_t>(std::nearbyint(since_2000 * 1e6)));
  });
  add("ts_trunc", 2, [](Values v) -> R {
    const auto out = date_trunc(as_text(v[0]), as_int(v[1]));
    if (!out.ok()) return out.error();
    return Value(*out);
  });
  add("ts_extract", 2, [](Values v) -> R {
    if (is_infinite(as_int(v[1]))) return infinite_field(as_text(v[0]), as_int(v[1]));
    return decimal_text(extract_timestamp(as_text(v[0]), as_int(v[1])));
  });
  add("date_extract", 2, [](Values v) -> R {
    const int64_t days = as_int(v[1]);
    if (days == kDateInfinity || days == kDateMinusInfinity) return infinite_field(as_text(v[0]), days);
    return decimal_text(extract_date(as_text(v[0]), days));
  });
  add("iv_extract", 2,
      [](Values v) { return decimal_text(extract_interval(as_text(v[0]), interval(v[1]))); });
}

}  // namespace tidemark::verify
