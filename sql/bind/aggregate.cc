#include "sql/bind/aggregate.h"

#include <array>

namespace tidemark::sql {
namespace {

struct Entry {
  std::string_view name;
  AggregateKind kind;
};
constexpr std::array<Entry, 9> kAggregates{{{"count", AggregateKind::Count},
                                            {"sum", AggregateKind::Sum},
                                            {"avg", AggregateKind::Average},
                                            {"min", AggregateKind::Min},
                                            {"max", AggregateKind::Max},
                                            {"bool_and", AggregateKind::BoolAnd},
                                            {"every", AggregateKind::BoolAnd},
                                            {"bool_or", AggregateKind::BoolOr},
                                            {"string_agg", AggregateKind::StringAgg}}};

bool resolve_sum(TypeKind arg, TypeKind& result) {
  switch (arg) {
    case TypeKind::SmallInt:
    case TypeKind::Integer: result = TypeKind::BigInt; return true;
    case TypeKind::BigInt:
    case TypeKind::Numeric: result = TypeKind::Numeric; return true;
    case TypeKind::Double: result = TypeKind::Double; return true;
    default: return false;
  }
}

bool resolve_average(TypeKind arg, TypeKind& result) {
  if (!is_integer(arg) && arg != TypeKind::Numeric && arg != TypeKind::Double) return false;
  result = arg == TypeKind::Double ? TypeKind::Double : TypeKind::Numeric;
  return true;
}

// PostgreSQL has no min and max of these.
bool has_extremes(TypeKind arg) {
  return arg != TypeKind::Boolean && arg != TypeKind::Uuid && arg != TypeKind::Jsonb &&
         arg != TypeKind::Bytea;
}

}  // namespace

bool is_aggregate_name(std::string_view name) {
  for (const Entry& entry : kAggregates) {
    if (entry.name == name) return true;
  }
  return false;
}

bool resolve_aggregate(std::string_view name, TypeKind arg, AggregateKind& kind, TypeKind& arg_type,
                       TypeKind& result) {
  for (const Entry& entry : kAggregates) {
    if (entry.name == name) kind = entry.kind;
  }
  arg_type = arg;
  switch (kind) {
    case AggregateKind::CountRows: return false;
    case AggregateKind::Count:
      if (arg == TypeKind::Unknown) arg_type = TypeKind::Text;
      result = TypeKind::BigInt;
      return true;
    case AggregateKind::Sum: return resolve_sum(arg, result);
    case AggregateKind::Average: return resolve_average(arg, result);
    case AggregateKind::Min:
    case AggregateKind::Max:
      if (arg == TypeKind::Unknown) arg_type = TypeKind::Text;
      result = arg_type;
      return has_extremes(arg_type);
    case AggregateKind::StringAgg:
      arg_type = result = TypeKind::Text;
      return arg == TypeKind::Text || arg == TypeKind::Unknown;
    case AggregateKind::BoolAnd:
    case AggregateKind::BoolOr:
      if (arg == TypeKind::Unknown) arg_type = TypeKind::Boolean;
      result = TypeKind::Boolean;
      return arg_type == TypeKind::Boolean;
  }
  return false;
}

std::string_view aggregate_name(AggregateKind kind) {
  if (kind == AggregateKind::CountRows) return "count";
  for (const Entry& entry : kAggregates) {
    if (entry.kind == kind) return entry.name;
  }
  TM_UNREACHABLE();
}

bool is_same(const AggregateCall& a, const AggregateCall& b) {
  if (a.kind != b.kind || a.distinct != b.distinct || a.separator != b.separator) return false;
  if ((a.arg == nullptr) != (b.arg == nullptr) || (a.filter == nullptr) != (b.filter == nullptr))
    return false;
  return (a.arg == nullptr || is_same(*a.arg, *b.arg)) &&
         (a.filter == nullptr || is_same(*a.filter, *b.filter));
}

}  // namespace tidemark::sql
