// Random values of every type, with a taste for extremes: for property tests and the oracle.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "sql/types/value.h"

namespace tidemark::sql::testing {

class RandomValues {
 public:
  explicit RandomValues(uint64_t seed) : engine_(seed) {}

  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(engine_); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

  // Never NULL. What it points to is in `arena`.
  Value value(TypeKind kind, Arena& arena);
  // The text of a number that PostgreSQL's numeric takes.
  std::string numeric_text();
  std::string text();
  std::string json(int depth);

  std::mt19937_64& engine() { return engine_; }

 private:
  int64_t integer(int bits);
  double real();

  std::mt19937_64 engine_;
};

// Every kind that a column can have.
const std::vector<TypeKind>& column_kinds();

}  // namespace tidemark::sql::testing
