// LIKE and ILIKE: % is any text, _ one character; the escape makes the next one itself.
#include <algorithm>
#include <optional>

#include "sql/expr/function.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

enum class Match : uint8_t { Yes, No, BadPattern };

void skip_character(std::string_view& text) {
  text.remove_prefix(std::min(static_cast<size_t>(utf8_length(text[0])), text.size()));
}

// Skips what follows a %: others of its kind, and what stands for one character each. False: too few are
// left.
bool skip_wildcards(std::string_view& text, std::string_view& pattern) {
  for (; !pattern.empty(); pattern.remove_prefix(1)) {
    if (pattern[0] == '_') {
      if (text.empty()) return false;
      skip_character(text);
    } else if (pattern[0] != '%') {
      break;
    }
  }
  return true;
}

// Where the text does not go on as the pattern does, the last % takes one character more: what an earlier one
// would take instead, the last can, too.
Match match(std::string_view text, std::string_view pattern) {
  struct Place {
    std::string_view text, pattern;
  };
  std::optional<Place> after_last;  // %.
  while (!text.empty()) {
    if (pattern.starts_with('%')) {
      if (!skip_wildcards(text, pattern)) return Match::No;
      if (pattern.empty()) return Match::Yes;
      if (pattern == "\\") return Match::BadPattern;
      after_last = {text, pattern};
      continue;
    }
    if (pattern.starts_with('_')) {
      skip_character(text);
      pattern.remove_prefix(1);
      continue;
    }
    if (pattern == "\\") return Match::BadPattern;
    const size_t escape = pattern.starts_with('\\') ? 1 : 0;
    if (!pattern.empty() && pattern[escape] == text[0]) {
      text.remove_prefix(1);
      pattern.remove_prefix(escape + 1);
      continue;
    }
    if (!after_last) return Match::No;
    skip_character(after_last->text);
    text = after_last->text;
    pattern = after_last->pattern;
  }
  while (pattern.starts_with('%')) pattern.remove_prefix(1);
  return pattern.empty() ? Match::Yes : Match::No;
}

std::string_view lowered(std::string_view text, Arena& arena) {
  char* out = arena.allocate(text.size());
  for (size_t i = 0; i < text.size(); ++i) out[i] = to_lower(text[i]);
  return {out, text.size()};
}

// The pattern with backslash as its escape instead of the one given.
Fault with_escape(std::string_view pattern, std::string_view escape, Arena& arena, std::string_view& out) {
  if (count_characters(escape) > 1) return {sqlstate::kInvalidEscapeSequence, "invalid escape string"};
  if (escape == "\\") {
    out = pattern;
    return kOk;
  }
  char* bytes = arena.allocate(2 * pattern.size());
  size_t size = 0;
  for (size_t at = 0; at < pattern.size();) {
    if (!escape.empty() && pattern.substr(at, escape.size()) == escape) {
      bytes[size++] = '\\';
      at += escape.size();
      if (at < pattern.size()) bytes[size++] = pattern[at++];
      continue;
    }
    if (pattern[at] == '\\') bytes[size++] = '\\';
    bytes[size++] = pattern[at++];
  }
  out = {bytes, size};
  return kOk;
}

template <bool Negated, bool IgnoreCase>
Fault like(Evaluation& evaluation, const Value* args, int count, Value& out) {
  std::string_view text = args[0].as_bytes(), pattern = args[1].as_bytes();
  if (count > 2) TM_SQL_TRY(with_escape(pattern, args[2].as_bytes(), evaluation.arena, pattern));
  if constexpr (IgnoreCase) {
    text = lowered(text, evaluation.arena);
    pattern = lowered(pattern, evaluation.arena);
  }
  const Match found = match(text, pattern);
  if (found == Match::BadPattern) {
    return {sqlstate::kInvalidEscapeSequence, "LIKE pattern must not end with escape character"};
  }
  out = Value::boolean((found == Match::Yes) != Negated);
  return kOk;
}

template <bool Negated, bool IgnoreCase>
void add(std::string_view name, std::vector<Function>& out) {
  constexpr TypeKind T = TypeKind::Text;
  out.push_back(Function::of(name, {T, T}, TypeKind::Boolean, like<Negated, IgnoreCase>));
  out.push_back(Function::of(name, {T, T, T}, TypeKind::Boolean, like<Negated, IgnoreCase>));
  if (IgnoreCase) return;
  Function refused = Function::of(name, {TypeKind::Bytea, TypeKind::Bytea}, TypeKind::Boolean, nullptr);
  refused.hint = "LIKE is for text.";
  out.push_back(refused);
}

}  // namespace

std::vector<Function> pattern_functions() {
  std::vector<Function> out;
  add<false, false>("~~", out);
  add<true, false>("!~~", out);
  add<false, true>("~~*", out);
  add<true, true>("!~~*", out);
  return out;
}

}  // namespace tidemark::sql
