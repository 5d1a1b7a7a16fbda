// Text taken apart into the rows of a function in FROM: string_to_table, unnest(string_to_array(...)) and
// regexp_split_to_table. Pure functions.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

#include "sql/types/value.h"

namespace tidemark::sql {

enum class SplitKind : uint8_t {
  ByText,     // string_to_table(text, delimiter)
  ByPattern,  // regexp_split_to_table(text, pattern), of the patterns that SplitPattern knows
};

// What a pattern that separates words usually is: one character, a class such as \s, \W or [^a-z0-9], and
// perhaps a + behind it.
class SplitPattern {
 public:
  // Nothing: it is some other pattern.
  static std::optional<SplitPattern> parse(std::string_view pattern);

  void split(std::string_view text, std::vector<std::string_view>& out) const;

 private:
  bool separates(unsigned char lead) const { return lead < 0x80 ? ascii_[lead] : others_; }

  std::bitset<128> ascii_;  // Characters that separate.
  bool others_ = false;     // So do all others.
  bool runs_ = false;       // A run of them separates once.
};

// As PostgreSQL's string_to_table: without a delimiter each character is a row, an empty one separates
// nothing. REQUIRES: neither is NULL but perhaps the delimiter.
void split_by_text(std::string_view text, const Value& delimiter, std::vector<std::string_view>& out);

// The rows of one text, for either kind; none for NULL.
class Splitter {
 public:
  // `pattern` is null for ByText. REQUIRES: a pattern that parses.
  Splitter(SplitKind kind, const Value* pattern);

  // What it points to is in `text`.
  void split(const Value& text, const Value& delimiter, std::vector<std::string_view>& out) const;

 private:
  SplitPattern pattern_;
  SplitKind kind_;
};

}  // namespace tidemark::sql
