#include "sql/execute/accumulator.h"

#include <cmath>

#include "sql/expr/text_limit.h"
#include "sql/types/compare.h"
#include "sql/types/key_encoding.h"

namespace tidemark::sql {

bool Accumulator::is_first(const Value& value) {
  std::string key;
  append_key(value, SortOrder::Ascending, key);
  const size_t size = key.size();
  if (!seen_.insert(std::move(key)).second) return false;
  constexpr size_t kNodeBytes = sizeof(std::string) + 4 * sizeof(void*);
  seen_bytes_ += kNodeBytes + size;
  return true;
}

Fault Accumulator::add_to_sum(const Value& value, Arena& arena) {
  switch (value.kind()) {
    case TypeKind::Numeric: return numeric_add(numeric_sum_, value.as_numeric(), arena, numeric_sum_);
    case TypeKind::Double: {
      const double before = double_sum_;
      double_sum_ += value.as_double();
      if (std::isinf(double_sum_) && !std::isinf(before) && !std::isinf(value.as_double())) {
        return {sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
      }
      return kOk;
    }
    default: integer_sum_ += value.as_int(); return kOk;  // 2^64 rows would be needed to overflow it.
  }
}

Fault Accumulator::add(const AggregateCall& call, const Value& value, Arena& arena) {
  ++count_;
  switch (call.kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return kOk;
    case AggregateKind::Sum:
    case AggregateKind::Average: return add_to_sum(value, arena);
    case AggregateKind::Min:
    case AggregateKind::Max: {
      const int wanted = call.kind == AggregateKind::Min ? -1 : 1;
      if (extreme_.is_null() || compare_values(value, extreme_) == wanted) extreme_ = value.copy_into(arena);
      return kOk;
    }
    case AggregateKind::StringAgg:
      if (count_ > 1) text_ += call.separator;
      text_ += value.as_bytes();
      if (is_too_long(text_.size())) return {sqlstate::kProgramLimitExceeded, "string_agg is too long"};
      return kOk;
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr: {
      const bool deciding = call.kind == AggregateKind::BoolOr;
      if (extreme_.is_null() || value.as_bool() == deciding) extreme_ = value;
      return kOk;
    }
  }
  TM_UNREACHABLE();
}

Fault Accumulator::result(const AggregateCall& call, Arena& arena, Value& out) const {
  switch (call.kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: out = Value::bigint(count_); return kOk;
    case AggregateKind::Min:
    case AggregateKind::Max:
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr: out = extreme_; return kOk;
    case AggregateKind::StringAgg: out = count_ == 0 ? Value() : Value::text(text_); return kOk;
    case AggregateKind::Sum:
    case AggregateKind::Average: break;
  }
  out = Value::null();
  if (count_ == 0) return kOk;
  const TypeKind arg = call.arg->type.kind;
  if (arg == TypeKind::Double) {
    out = Value::float8(call.kind == AggregateKind::Sum ? double_sum_
                                                        : double_sum_ / static_cast<double>(count_));
    return kOk;
  }
  const Numeric sum = arg == TypeKind::Numeric ? numeric_sum_ : Numeric::small(integer_sum_, 0);
  if (call.kind == AggregateKind::Average) {
    Numeric average;
    TM_SQL_TRY(numeric_divide(sum, Numeric::from_int(count_), arena, average));
    out = Value::numeric(average);
    return kOk;
  }
  if (call.type.kind == TypeKind::Numeric) {
    out = Value::numeric(sum);
    return kOk;
  }
  if (integer_sum_ > INT64_MAX || integer_sum_ < INT64_MIN) {
    return {sqlstate::kNumericValueOutOfRange, "bigint out of range"};
  }
  out = Value::bigint(static_cast<int64_t>(integer_sum_));
  return kOk;
}

}  // namespace tidemark::sql
