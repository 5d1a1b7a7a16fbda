// Regular expressions as PostgreSQL's advanced ones, but for back references, look-around, word boundaries
// and embedded options. Matching takes time in proportion to text times pattern: nothing backtracks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::sql {

enum class RegexCase : uint8_t { Matters, Ignored };

class Regex {
 public:
  // The error says what is wrong with the pattern.
  static Result<Regex> compile(std::string_view pattern, RegexCase letter_case);

  // Whether it matches somewhere in the text.
  bool matches(std::string_view text) const;

 private:
  friend class RegexParser;

  enum class Code : uint8_t { Class, Any, Split, Jump, Begin, End, Match };

  struct Range {
    uint32_t first, last;
  };
  struct Class {
    std::vector<Range> ranges;
    bool negated = false;

    bool has(uint32_t character) const;
  };
  struct Instruction {
    Code code;
    uint32_t first = 0;   // Class: which. Split, Jump: where to.
    uint32_t second = 0;  // Split: the other way.
  };

  void add_state(uint32_t state, bool at_begin, bool at_end, std::vector<uint32_t>& states,
                 std::vector<bool>& seen) const;

  std::vector<Instruction> code_;
  std::vector<Class> classes_;
  RegexCase letter_case_ = RegexCase::Matters;
};

}  // namespace tidemark::sql
