// Taking texts apart: PostgreSQL's answers, and which patterns are known. The oracle's tests try more of
// them.
#include <gtest/gtest.h>

#include "sql/expr/split.h"

namespace tidemark::sql {
namespace {

using Words = std::vector<std::string_view>;

Words by_text(std::string_view text, const Value& delimiter) {
  Words out;
  split_by_text(text, delimiter, out);
  return out;
}

Words by_pattern(std::string_view text, std::string_view pattern) {
  Words out;
  SplitPattern::parse(pattern)->split(text, out);
  return out;
}

TEST(Split, ByText) {
  EXPECT_EQ(by_text("a,b,,c", Value::text(",")), (Words{"a", "b", "", "c"}));
  EXPECT_EQ(by_text(",", Value::text(",")), (Words{"", ""}));
  EXPECT_EQ(by_text("a, b", Value::text(", ")), (Words{"a", "b"}));
  EXPECT_EQ(by_text("abc", Value::text("")), Words{"abc"});
  EXPECT_EQ(by_text("a\xC3\xA4", Value()), (Words{"a", "\xC3\xA4"}));
  EXPECT_EQ(by_text("", Value::text(",")), Words{});
}

TEST(Split, ByPattern) {
  EXPECT_EQ(by_pattern("the  tide", "\\s+"), (Words{"the", "tide"}));
  EXPECT_EQ(by_pattern("the  tide", " "), (Words{"the", "", "tide"}));
  EXPECT_EQ(by_pattern(" a", "[^a-z0-9]+"), (Words{"", "a"}));
  EXPECT_EQ(by_pattern("a-1_b", "[\\s_-]"), (Words{"a", "1", "b"}));
  EXPECT_EQ(by_pattern("a\xC3\xA4"
                       "b",
                       "\\W"),
            (Words{"a", "b"}));
  EXPECT_EQ(by_pattern("a.b", "\\."), (Words{"a", "b"}));
  EXPECT_EQ(by_pattern("", "x"), Words{""});
}

TEST(Split, OtherPatternsAreNotKnown) {
  for (const char* pattern :
       {"", "ab", "a*", "a|b", "(a)", ".", "^a", "[a", "[[:space:]]+", "\\y", "[\\W]", "a++"}) {
    EXPECT_FALSE(SplitPattern::parse(pattern).has_value()) << pattern;
  }
}

}  // namespace
}  // namespace tidemark::sql
