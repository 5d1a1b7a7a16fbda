#include "sql/types/numeric.h"

#include <gtest/gtest.h>

#include "tests/sql/random_values.h"

namespace tidemark::sql {
namespace {

using testing::RandomValues;

std::string shown(const Numeric& number) {
  std::string out;
  numeric_append_text(number, out);
  return out;
}

Numeric number(std::string_view text, Arena& arena) {
  Numeric out;
  EXPECT_TRUE(numeric_from_text(text, arena, out).ok()) << text;
  return out;
}

// Retraction is exact: what a sum took in, it gives back, also across the border of the inline form.
TEST(Numeric, AddingAndSubtractingInAnyOrderLeavesTheValue) {
  RandomValues random(31);
  for (int round = 0; round < 5000; ++round) {
    Arena arena;
    std::vector<Numeric> terms;
    Numeric sum;
    for (int i = 0; i < 8; ++i) {
      std::string text = random.numeric_text();
      if (text.find_first_of("NI") != std::string::npos) text = "170141183460469231731687303715884105727";
      terms.push_back(number(text, arena));
      ASSERT_TRUE(numeric_add(sum, terms.back(), arena, sum).ok());
    }
    std::shuffle(terms.begin(), terms.end(), random.engine());
    for (const Numeric& term : terms) ASSERT_TRUE(numeric_subtract(sum, term, arena, sum).ok());
    ASSERT_TRUE(sum.is_zero()) << shown(sum);
  }
}

TEST(Numeric, InlineFormIsUsedExactlyWhenItFits) {
  Arena arena;
  const Numeric largest = number("170141183460469231731687303715884105727", arena);
  EXPECT_TRUE(largest.is_small());
  Numeric next;
  ASSERT_TRUE(numeric_add(largest, Numeric::from_int(1), arena, next).ok());
  EXPECT_TRUE(next.is_big());
  EXPECT_EQ(shown(next), "170141183460469231731687303715884105728");
  ASSERT_TRUE(numeric_subtract(next, Numeric::from_int(1), arena, next).ok());
  EXPECT_TRUE(next.is_small());
}

TEST(Numeric, DivisionHasPostgresScale) {
  Arena arena;
  const auto divided = [&arena](const char* a, const char* b) {
    Numeric out;
    const Fault fault = numeric_divide(number(a, arena), number(b, arena), arena, out);
    return fault.ok() ? shown(out) : std::string(fault.state());
  };
  EXPECT_EQ(divided("1", "3"), "0.33333333333333333333");
  EXPECT_EQ(divided("10000", "3"), "3333.3333333333333333");
  EXPECT_EQ(divided("1", "0"), "22012");
  EXPECT_EQ(divided("NaN", "0"), "NaN");
  EXPECT_EQ(divided("-2", "3"), "-0.66666666666666666667");
  // More decimals than a quotient has.
  const std::string none = "0." + std::string(1000, '0');
  EXPECT_EQ(divided("1e-2000", "3"), none);
  EXPECT_EQ(divided("1.00000000000000000000000000000000000000001e-2000", "3"), none);
  EXPECT_EQ(divided("-5e-1001", "1"), "-" + none.substr(0, 1001) + "1");
}

TEST(Numeric, LimitsOfTheFormatAreErrors) {
  Arena arena;
  Numeric out;
  EXPECT_EQ(numeric_from_text("1e131072", arena, out).state(), std::string_view("22003"));
  ASSERT_TRUE(numeric_from_text("1e131071", arena, out).ok());
  EXPECT_FALSE(numeric_multiply(out, Numeric::from_int(10), arena, out).ok());
  EXPECT_EQ(numeric_from_text("1e-16384", arena, out).state(), std::string_view("22003"));
  EXPECT_EQ(numeric_from_text("1e999999999999", arena, out).state(), std::string_view("22003"));
}

}  // namespace
}  // namespace tidemark::sql
