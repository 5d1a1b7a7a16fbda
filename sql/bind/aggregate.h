// Aggregate functions: which there are, and of what type their result is.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/expr/expression.h"

namespace tidemark::sql {

enum class AggregateKind : uint8_t { CountRows, Count, Sum, Average, Min, Max, BoolAnd, BoolOr, StringAgg };

struct AggregateCall {
  AggregateKind kind = AggregateKind::CountRows;
  ExpressionPtr arg;     // Null for count(*).
  ExpressionPtr filter;  // Or null.
  bool distinct = false;
  std::string separator;  // Of string_agg.
  SqlType type;
  int location = -1;
};

bool is_aggregate_name(std::string_view name);

// The aggregate for an argument of this type; `arg_type` is what the argument is cast to first.
bool resolve_aggregate(std::string_view name, TypeKind arg, AggregateKind& kind, TypeKind& arg_type,
                       TypeKind& result);

std::string_view aggregate_name(AggregateKind kind);
bool is_same(const AggregateCall& a, const AggregateCall& b);

}  // namespace tidemark::sql
