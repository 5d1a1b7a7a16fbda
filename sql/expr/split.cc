#include "sql/expr/split.h"

#include "base/assert.h"

namespace tidemark::sql {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t length_of_character(unsigned char lead) {
  return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// A set of characters; `others` are those beyond ASCII.
struct Class {
  std::bitset<128> ascii;
  bool others = false;

  void add(char from, char to) {
    for (int c = from; c <= to; ++c) ascii.set(static_cast<size_t>(c));
  }
  void add_if(bool (*holds)(char)) {
    for (int c = 0; c < 128; ++c) {
      if (holds(static_cast<char>(c))) ascii.set(static_cast<size_t>(c));
    }
  }
  void invert() {
    ascii.flip();
    others = !others;
  }
};

// What follows a backslash. False: it is something else.
bool add_escape(char c, Class& out) {
  Class named;
  switch (c) {
    case 's':
    case 'S': named.add_if(is_space); break;
    case 'w':
    case 'W': named.add_if(is_word); break;
    case 'd':
    case 'D': named.add_if(is_digit); break;
    default:
      if (is_word(c) || static_cast<unsigned char>(c) >= 0x80) return false;
      named.add(c, c);
  }
  if (c == 'S' || c == 'W' || c == 'D') named.invert();
  out.ascii |= named.ascii;
  out.others = out.others || named.others;
  return true;
}

// [abc], [^a-z0-9], [\s,]: `at` is behind the opening bracket, and then behind the closing one.
bool parse_brackets(std::string_view pattern, size_t& at, Class& out) {
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  for (const size_t first = at; at < pattern.size() && (pattern[at] != ']' || at == first);) {
    const char c = pattern[at++];
    if (static_cast<unsigned char>(c) >= 0x80 || c == '[') return false;
    if (c == '\\') {
      const bool negates = at < pattern.size() && pattern[at] >= 'A' && pattern[at] <= 'Z';
      if (at == pattern.size() || negates || !add_escape(pattern[at++], out)) return false;
      continue;
    }
    char to = c;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      to = pattern[at + 1];
      if (to < c || static_cast<unsigned char>(to) >= 0x80 || to == '\\' || to == '[') return false;
      at += 2;
    }
    out.add(c, to);
  }
  if (at == pattern.size()) return false;
  ++at;
  if (negated) out.invert();
  return true;
}

}  // namespace

std::optional<SplitPattern> SplitPattern::parse(std::string_view pattern) {
  constexpr std::string_view kMeaning = ".^$*+?()[{|\\";
  if (pattern.empty()) return std::nullopt;
  Class separators;
  size_t at = 1;
  const char first = pattern[0];
  if (first == '[') {
    if (!parse_brackets(pattern, at, separators)) return std::nullopt;
  } else if (first == '\\') {
    if (pattern.size() < 2 || !add_escape(pattern[at++], separators)) return std::nullopt;
  } else if (kMeaning.find(first) != std::string_view::npos || static_cast<unsigned char>(first) >= 0x80) {
    return std::nullopt;
  } else {
    separators.add(first, first);
  }
  SplitPattern out;
  out.ascii_ = separators.ascii;
  out.others_ = separators.others;
  out.runs_ = pattern.substr(at) == "+";
  if (!out.runs_ && at != pattern.size()) return std::nullopt;
  return out;
}

void SplitPattern::split(std::string_view text, std::vector<std::string_view>& out) const {
  size_t begin = 0, at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = length_of_character(lead);
    if (!separates(lead)) {
      at += length;
      continue;
    }
    out.push_back(text.substr(begin, at - begin));
    at += length;
    while (runs_ && at < text.size() && separates(static_cast<unsigned char>(text[at]))) {
      at += length_of_character(static_cast<unsigned char>(text[at]));
    }
    begin = at;
  }
  out.push_back(text.substr(begin));
}

void split_by_text(std::string_view text, const Value& delimiter, std::vector<std::string_view>& out) {
  if (text.empty()) return;
  if (delimiter.is_null()) {
    for (size_t at = 0; at < text.size();) {
      const size_t length = length_of_character(static_cast<unsigned char>(text[at]));
      out.push_back(text.substr(at, length));
      at += length;
    }
    return;
  }
  const std::string_view by = delimiter.as_bytes();
  for (size_t begin = 0;;) {
    const size_t end = by.empty() ? std::string_view::npos : text.find(by, begin);
    out.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return;
    begin = end + by.size();
  }
}

Splitter::Splitter(SplitKind kind, const Value* pattern) : kind_(kind) {
  if (kind == SplitKind::ByText) return;
  TM_ASSERT(pattern != nullptr);
  std::optional<SplitPattern> parsed = SplitPattern::parse(pattern->as_bytes());
  TM_ASSERT(parsed.has_value());
  pattern_ = *parsed;
}

void Splitter::split(const Value& text, const Value& delimiter, std::vector<std::string_view>& out) const {
  out.clear();
  if (text.is_null()) return;
  if (kind_ == SplitKind::ByText) return split_by_text(text.as_bytes(), delimiter, out);
  pattern_.split(text.as_bytes(), out);
}

}  // namespace tidemark::sql
