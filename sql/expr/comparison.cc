#include "sql/expr/function.h"
#include "sql/types/compare.h"
#include "sql/types/datetime.h"

namespace tidemark::sql {
namespace {

enum class Comparison : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

template <Comparison C>
bool holds(int order) {
  switch (C) {
    case Comparison::Equal: return order == 0;
    case Comparison::NotEqual: return order != 0;
    case Comparison::Less: return order < 0;
    case Comparison::LessEqual: return order <= 0;
    case Comparison::Greater: return order > 0;
    case Comparison::GreaterEqual: return order >= 0;
  }
}

// Integers, dates, timestamps and booleans compare without looking at their kind.
template <Comparison C>
Fault compare_integers(Evaluation&, const Value* args, int, Value& out) {
  const int64_t a = args[0].as_int(), b = args[1].as_int();
  out = Value::boolean(holds<C>(a < b ? -1 : a > b ? 1 : 0));
  return kOk;
}

template <Comparison C>
Fault compare_same(Evaluation&, const Value* args, int, Value& out) {
  out = Value::boolean(holds<C>(compare_values(args[0], args[1])));
  return kOk;
}

template <Comparison C>
Fault compare_text(Evaluation&, const Value* args, int, Value& out) {
  if constexpr (C == Comparison::Equal || C == Comparison::NotEqual) {
    out = Value::boolean((args[0].as_bytes() == args[1].as_bytes()) == (C == Comparison::Equal));
  } else {
    out = Value::boolean(holds<C>(args[0].as_bytes().compare(args[1].as_bytes())));
  }
  return kOk;
}

// A date beyond the range of timestamps is still before or after all of them.
int128_t moment_of(const Value& value) {
  if (value.kind() != TypeKind::Date) {
    if (value.as_int() == kTimestampInfinity) return static_cast<int128_t>(1) << 100;
    if (value.as_int() == kTimestampMinusInfinity) return -(static_cast<int128_t>(1) << 100);
    return value.as_int();
  }
  if (value.as_int() == kDateInfinity) return static_cast<int128_t>(1) << 100;
  if (value.as_int() == kDateMinusInfinity) return -(static_cast<int128_t>(1) << 100);
  return static_cast<int128_t>(value.as_int()) * kDayMicros;
}

template <Comparison C>
Fault compare_moments(Evaluation&, const Value* args, int, Value& out) {
  const int128_t a = moment_of(args[0]), b = moment_of(args[1]);
  out = Value::boolean(holds<C>(a < b ? -1 : a > b ? 1 : 0));
  return kOk;
}

template <Comparison C>
void add(std::string_view name, std::vector<Function>& out) {
  for (int i = 1; i < static_cast<int>(TypeKind::Unknown); ++i) {
    const auto kind = static_cast<TypeKind>(i);
    ScalarCall call = compare_same<C>;
    if (is_integer(kind) || kind == TypeKind::Boolean || category_of(kind) == TypeCategory::DateTime) {
      call = compare_integers<C>;
    } else if (kind == TypeKind::Text || kind == TypeKind::Bytea) {
      call = compare_text<C>;
    }
    out.push_back(Function::of(name, {kind, kind}, TypeKind::Boolean, call));
  }
  constexpr TypeKind kTimes[] = {TypeKind::Date, TypeKind::Timestamp, TypeKind::TimestampTz};
  for (TypeKind a : kTimes) {
    for (TypeKind b : kTimes) {
      if (a != b) out.push_back(Function::of(name, {a, b}, TypeKind::Boolean, compare_moments<C>));
    }
  }
}

}  // namespace

std::vector<Function> comparison_functions() {
  std::vector<Function> out;
  add<Comparison::Equal>("=", out);
  add<Comparison::NotEqual>("<>", out);
  add<Comparison::Less>("<", out);
  add<Comparison::LessEqual>("<=", out);
  add<Comparison::Greater>(">", out);
  add<Comparison::GreaterEqual>(">=", out);
  return out;
}

}  // namespace tidemark::sql
