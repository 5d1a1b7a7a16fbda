#include "sql/expr/regex.h"

#include <algorithm>

#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

constexpr size_t kInstructionsMax = 20000;
constexpr int kRepeatMax = 255;
constexpr int kNestingMax = 200;

// The next character of valid UTF-8, which must not be empty.
uint32_t take_character(std::string_view& text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = std::min(static_cast<size_t>(utf8_length(text[0])), text.size());
  uint32_t out = length == 1 ? lead : lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) out = (out << 6) | (static_cast<uint8_t>(text[i]) & 0x3fu);
  text.remove_prefix(length);
  return out;
}

uint32_t folded(uint32_t c) {
  return c < 128 ? static_cast<uint32_t>(to_lower(static_cast<char>(c))) : c;
}

}  // namespace

bool Regex::Class::has(uint32_t character) const {
  const bool found = std::any_of(ranges.begin(), ranges.end(),
                                 [=](const Range& r) { return r.first <= character && character <= r.last; });
  return found != negated;
}

// Recursive descent, emitting as it goes. A repetition copies the code of its operand.
class RegexParser {
 public:
  RegexParser(std::string_view pattern, Regex& out) : rest_(pattern), out_(out) {}

  Status parse() {
    TM_TRY(alternatives(0));
    if (!rest_.empty()) return Error{"parentheses () not balanced"};
    out_.code_.push_back({Regex::Code::Match});
    return {};
  }

 private:
  using Code = Regex::Code;
  using Class = Regex::Class;

  bool at(char c) const { return !rest_.empty() && rest_[0] == c; }
  uint32_t here() const { return static_cast<uint32_t>(out_.code_.size()); }

  // Makes room for an instruction at `where`: what follows moves by one.
  void insert(uint32_t where, Regex::Instruction instruction) {
    for (size_t i = where; i < out_.code_.size(); ++i) {
      Regex::Instruction& moved = out_.code_[i];
      if (moved.code != Code::Split && moved.code != Code::Jump) continue;
      if (moved.first >= where) ++moved.first;
      if (moved.second >= where) ++moved.second;
    }
    out_.code_.insert(out_.code_.begin() + where, instruction);
  }

  Status alternatives(int depth) {
    if (depth > kNestingMax) return Error{"regular expression is too complex"};
    const uint32_t start = here();
    TM_TRY(sequence(depth));
    std::vector<uint32_t> ends;
    uint32_t branch = start;
    while (at('|')) {
      rest_.remove_prefix(1);
      insert(branch, {Code::Split, branch + 1, 0});
      for (uint32_t& end : ends) end += end >= branch ? 1 : 0;
      ends.push_back(here());
      out_.code_.push_back({Code::Jump});
      out_.code_[branch].second = here();
      branch = here();
      TM_TRY(sequence(depth));
    }
    for (uint32_t end : ends) out_.code_[end].first = here();
    return {};
  }

  Status sequence(int depth) {
    while (!rest_.empty() && rest_[0] != '|' && rest_[0] != ')') {
      const uint32_t start = here();
      bool may_repeat = true;
      TM_TRY(atom(depth, may_repeat));
      TM_TRY(quantifier(start, may_repeat));
      if (out_.code_.size() > kInstructionsMax) return Error{"regular expression is too complex"};
    }
    return {};
  }

  Status atom(int depth, bool& may_repeat) {
    const char c = rest_[0];
    switch (c) {
      case '(': return group(depth);
      case '[': return bracket();
      case '.':
        rest_.remove_prefix(1);
        out_.code_.push_back({Code::Any});
        return {};
      case '^':
      case '$':
        rest_.remove_prefix(1);
        out_.code_.push_back({c == '^' ? Code::Begin : Code::End});
        may_repeat = false;
        return {};
      case '\\': return escape();
      case '*':
      case '+':
      case '?': return Error{"quantifier operand invalid"};
      case '{':
        if (rest_.size() > 1 && is_digit(rest_[1])) return Error{"quantifier operand invalid"};
        break;
      default: break;
    }
    const uint32_t character = take_character(rest_);
    emit({{{character, character}}, false});
    return {};
  }

  Status group(int depth) {
    rest_.remove_prefix(1);
    if (at('?')) {
      if (!rest_.starts_with("?:")) return Error{"look-around and embedded options are not supported"};
      rest_.remove_prefix(2);
    }
    TM_TRY(alternatives(depth + 1));
    if (!at(')')) return Error{"parentheses () not balanced"};
    rest_.remove_prefix(1);
    return {};
  }

  void emit(Class made) {
    if (out_.letter_case_ == RegexCase::Ignored) {
      for (size_t i = 0, count = made.ranges.size(); i < count; ++i) add_lower(made.ranges[i], made);
    }
    out_.code_.push_back({Code::Class, static_cast<uint32_t>(out_.classes_.size())});
    out_.classes_.push_back(std::move(made));
  }
  // Text is lowered before it is matched: capitals in a range stand for their small letters, too.
  static void add_lower(Regex::Range range, Class& out) {
    const uint32_t first = std::max<uint32_t>(range.first, 'A'), last = std::min<uint32_t>(range.last, 'Z');
    if (first <= last) out.ranges.push_back({first + 32, last + 32});
  }

  // \d, \w, \s and their opposites; false for other letters.
  static bool add_shorthand(char letter, Class& out) {
    switch (to_lower(letter)) {
      case 'd': out.ranges.push_back({'0', '9'}); return true;
      case 'w':
        out.ranges.insert(out.ranges.end(), {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}});
        return true;
      case 's': out.ranges.insert(out.ranges.end(), {{'\t', '\r'}, {' ', ' '}}); return true;
      default: return false;
    }
  }

  // The character that a backslash and a letter stand for; 0 if none.
  static char control(char letter) {
    switch (letter) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case 'f': return '\f';
      case 'v': return '\v';
      default: return 0;
    }
  }

  Status escape() {
    rest_.remove_prefix(1);
    if (rest_.empty()) return Error{"invalid escape \\ sequence"};
    const char c = rest_[0];
    const bool is_letter = to_lower(c) >= 'a' && to_lower(c) <= 'z';
    Class made;
    if (is_letter && add_shorthand(c, made)) {
      made.negated = c != to_lower(c);
      rest_.remove_prefix(1);
      emit(std::move(made));
      return {};
    }
    if (is_digit(c)) return Error{"back references are not supported"};
    uint32_t character = 0;
    if (is_letter) {
      character = static_cast<uint32_t>(control(c));
      if (character == 0) return Error{"invalid escape \\ sequence"};
      rest_.remove_prefix(1);
    } else {
      character = take_character(rest_);
    }
    emit({{{character, character}}, false});
    return {};
  }

  static bool add_named(std::string_view name, Class& out) {
    const auto add = [&out](std::initializer_list<Regex::Range> ranges) {
      out.ranges.insert(out.ranges.end(), ranges);
      return true;
    };
    if (name == "digit") return add({{'0', '9'}});
    if (name == "alpha") return add({{'A', 'Z'}, {'a', 'z'}});
    if (name == "alnum") return add({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}});
    if (name == "upper") return add({{'A', 'Z'}});
    if (name == "lower") return add({{'a', 'z'}});
    if (name == "space") return add({{'\t', '\r'}, {' ', ' '}});
    if (name == "blank") return add({{'\t', '\t'}, {' ', ' '}});
    if (name == "punct") return add({{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}});
    if (name == "xdigit") return add({{'0', '9'}, {'A', 'F'}, {'a', 'f'}});
    if (name == "cntrl") return add({{0, 31}, {127, 127}});
    if (name == "print") return add({{' ', '~'}});
    if (name == "graph") return add({{'!', '~'}});
    return false;
  }

  // One character of a bracket, or a class, which can not begin or end a range.
  Status bracket_item(Class& out, uint32_t& character, bool& is_class) {
    is_class = false;
    if (rest_.starts_with("[:")) {
      const size_t end = rest_.find(":]");
      if (end == std::string_view::npos) return Error{"brackets [] not balanced"};
      if (!add_named(rest_.substr(2, end - 2), out)) return Error{"invalid character class"};
      rest_.remove_prefix(end + 2);
      is_class = true;
      return {};
    }
    if (rest_.starts_with("[.") || rest_.starts_with("[=")) return Error{"invalid collating element"};
    if (rest_[0] == '\\') {
      rest_.remove_prefix(1);
      if (rest_.empty()) return Error{"invalid escape \\ sequence"};
      const char c = rest_[0];
      if (c == to_lower(c) && add_shorthand(c, out)) {
        rest_.remove_prefix(1);
        is_class = true;
        return {};
      }
      if (const char made = control(c); made != 0) {
        rest_.remove_prefix(1);
        character = static_cast<uint32_t>(made);
        return {};
      }
      if (is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z')) {
        return Error{"invalid escape \\ sequence"};
      }
    }
    character = take_character(rest_);
    return {};
  }

  Status bracket() {
    Class made;
    rest_.remove_prefix(1);
    if (at('^')) {
      made.negated = true;
      rest_.remove_prefix(1);
    }
    for (bool first = true; first || !at(']'); first = false) {
      if (rest_.empty()) return Error{"brackets [] not balanced"};
      uint32_t begin = 0, end = 0;
      bool is_class = false;
      TM_TRY(bracket_item(made, begin, is_class));
      if (is_class) continue;
      end = begin;
      if (at('-') && rest_.size() > 1 && rest_[1] != ']') {
        rest_.remove_prefix(1);
        TM_TRY(bracket_item(made, end, is_class));
        if (is_class || end < begin) return Error{"invalid character range"};
      }
      made.ranges.push_back({begin, end});
    }
    rest_.remove_prefix(1);
    emit(std::move(made));
    return {};
  }

  Status number(int& out) {
    out = 0;
    while (!rest_.empty() && is_digit(rest_[0])) {
      out = out * 10 + (rest_[0] - '0');
      if (out > kRepeatMax) return Error{"invalid repetition count(s)"};
      rest_.remove_prefix(1);
    }
    return {};
  }

  // How often, from `least` to `most` (-1: any number); none is once.
  Status counts(int& least, int& most) {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    least = c == '+' ? 1 : 0;
    most = c == '?' ? 1 : -1;
    if (c != '{') return {};
    TM_TRY(number(least));
    most = least;
    if (at(',')) {
      rest_.remove_prefix(1);
      most = -1;
      if (!at('}')) TM_TRY(number(most));
    }
    if (!at('}') || (most >= 0 && most < least)) return Error{"invalid repetition count(s)"};
    rest_.remove_prefix(1);
    return {};
  }

  bool at_quantifier() const {
    return at('*') || at('+') || at('?') || (at('{') && rest_.size() > 1 && is_digit(rest_[1]));
  }

  Status quantifier(uint32_t start, bool may_repeat) {
    if (!at_quantifier()) return {};
    if (!may_repeat) return Error{"quantifier operand invalid"};
    int least = 1, most = 1;
    TM_TRY(counts(least, most));
    if (at('?')) rest_.remove_prefix(1);  // Not greedy: the same texts match.
    if (at_quantifier()) return Error{"quantifier operand invalid"};
    const std::vector<Regex::Instruction> operand(out_.code_.begin() + start, out_.code_.end());
    const size_t copies = static_cast<size_t>(most < 0 ? least + 1 : most);
    if (copies * operand.size() > kInstructionsMax) return Error{"regular expression is too complex"};
    out_.code_.resize(start);
    for (int i = 0; i < least; ++i) append(operand, start);
    if (most < 0) {
      const uint32_t split = here();
      out_.code_.push_back({Code::Split, split + 1, 0});
      append(operand, start);
      out_.code_.push_back({Code::Jump, split});
      out_.code_[split].second = here();
      return {};
    }
    std::vector<uint32_t> splits;
    for (int i = least; i < most; ++i) {
      splits.push_back(here());
      out_.code_.push_back({Code::Split, here() + 1, 0});
      append(operand, start);
    }
    for (uint32_t split : splits) out_.code_[split].second = here();
    return {};
  }

  // A copy of code that was made at `from`.
  void append(const std::vector<Regex::Instruction>& code, uint32_t from) {
    const uint32_t shift = here() - from;
    for (Regex::Instruction instruction : code) {
      if (instruction.code == Code::Split || instruction.code == Code::Jump) {
        instruction.first += shift;
        instruction.second += shift;
      }
      out_.code_.push_back(instruction);
    }
  }

  std::string_view rest_;
  Regex& out_;
};

Result<Regex> Regex::compile(std::string_view pattern, RegexCase letter_case) {
  Regex out;
  out.letter_case_ = letter_case;
  const auto parsed = RegexParser(pattern, out).parse();
  if (!parsed.ok()) return parsed.error();
  return out;
}

// Follows what consumes nothing. Iterative: a pattern may be long.
void Regex::add_state(uint32_t state, bool at_begin, bool at_end, std::vector<uint32_t>& states,
                      std::vector<bool>& seen) const {
  std::vector<uint32_t> open{state};
  while (!open.empty()) {
    const uint32_t next = open.back();
    open.pop_back();
    if (seen[next]) continue;
    seen[next] = true;
    const Instruction& instruction = code_[next];
    switch (instruction.code) {
      case Code::Split: open.push_back(instruction.second); [[fallthrough]];
      case Code::Jump: open.push_back(instruction.first); break;
      case Code::Begin:
        if (at_begin) open.push_back(next + 1);
        break;
      case Code::End:
        if (at_end) open.push_back(next + 1);
        break;
      case Code::Class:
      case Code::Any:
      case Code::Match: states.push_back(next); break;
    }
  }
}

bool Regex::matches(std::string_view text) const {
  std::vector<uint32_t> states, next;
  std::vector<bool> seen(code_.size());
  for (bool at_begin = true;; at_begin = false) {
    // A match may start at any character.
    add_state(0, at_begin, text.empty(), states, seen);
    for (uint32_t state : states) {
      if (code_[state].code == Code::Match) return true;
    }
    if (text.empty()) return false;
    const uint32_t taken = take_character(text);
    const uint32_t character = letter_case_ == RegexCase::Ignored ? folded(taken) : taken;
    next.clear();
    seen.assign(code_.size(), false);
    for (uint32_t state : states) {
      const Instruction& instruction = code_[state];
      if (instruction.code == Code::Any || classes_[instruction.first].has(character)) {
        add_state(state + 1, false, text.empty(), next, seen);
      }
    }
    states.swap(next);
  }
}

}  // namespace tidemark::sql
