// The running state of one aggregate of one group.
#pragma once

#include <set>
#include <string>

#include "sql/bind/aggregate.h"
#include "sql/types/arena.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Only grows: for ad-hoc reads. Views keep their sums in regions, where rows are also taken away.
class Accumulator {
 public:
  // Takes one value that is not NULL (or a row, for count(*)). What it keeps is in `arena`.
  Fault add(const AggregateCall& call, const Value& value, Arena& arena);
  // Points into the accumulator, or into `arena`.
  Fault result(const AggregateCall& call, Arena& arena, Value& out) const;

  // For DISTINCT: whether the value is new.
  bool is_first(const Value& value);

  // That it holds beside itself and what is in the arena.
  size_t held_bytes() const { return text_.capacity() + seen_bytes_; }

 private:
  Fault add_to_sum(const Value& value, Arena& arena);

  int64_t count_ = 0;
  int128_t integer_sum_ = 0;
  Numeric numeric_sum_;
  double double_sum_ = 0;
  std::string text_;  // Of string_agg.
  Value extreme_;     // Of min, max and booleans.
  std::set<std::string> seen_;
  size_t seen_bytes_ = 0;
};

}  // namespace tidemark::sql
