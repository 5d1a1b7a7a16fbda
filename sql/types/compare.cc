#include "sql/types/compare.h"

#include <cmath>

#include "sql/types/jsonb.h"

namespace tidemark::sql {
namespace {

template <typename T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

int compare_doubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return order(std::isnan(a) ? 1 : 0, std::isnan(b) ? 1 : 0);
  return order(a, b);
}

int128_t interval_span(const Interval& interval) {
  constexpr int64_t kDay = 86'400'000'000;
  return static_cast<int128_t>(interval.micros) +
         (static_cast<int128_t>(interval.months) * 30 + interval.days) * kDay;
}

int compare_values(const Value& a, const Value& b) {
  TM_ASSERT(a.kind() == b.kind());
  switch (a.kind()) {
    case TypeKind::Boolean:
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date:
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return order(a.as_int(), b.as_int());
    case TypeKind::Numeric: return numeric_compare(a.as_numeric(), b.as_numeric());
    case TypeKind::Double: return compare_doubles(a.as_double(), b.as_double());
    case TypeKind::Text:
    case TypeKind::Bytea: return order(a.as_bytes().compare(b.as_bytes()), 0);
    case TypeKind::Uuid: return order(a.as_uuid(), b.as_uuid());
    case TypeKind::Jsonb: return jsonb_compare(a.as_bytes(), b.as_bytes());
    case TypeKind::Interval: return order(interval_span(a.as_interval()), interval_span(b.as_interval()));
    case TypeKind::Null:
    case TypeKind::Unknown: break;
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark::sql
