// Random expressions of the supported language over the columns of random_columns().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sql/types/sql_type.h"
#include "tests/sql/random_values.h"

namespace tidemark::sql::testing {

struct RandomColumn {
  std::string name;
  TypeKind kind;
};

// Two of every type: a_int4, b_int4, ...
const std::vector<RandomColumn>& random_columns();

// An expression has its literals marked: the text with each of them replaced.
std::string with_literals(const std::string& sql,
                          const std::function<std::string(const std::string&)>& replace);

class RandomExpressions {
 public:
  explicit RandomExpressions(RandomValues& random) : random_(random) {}

  // Mostly of this kind; some are of another one, to see them refused alike.
  std::string of(TypeKind kind, int depth);
  std::string of_any(int depth);

 private:
  std::string leaf(TypeKind kind);
  std::string literal(TypeKind kind);
  std::string expand(const std::string& pattern, int depth);
  std::string placeholder(const std::string& name, int depth);

  RandomValues& random_;
};

}  // namespace tidemark::sql::testing
