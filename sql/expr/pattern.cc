// LIKE and ILIKE: % is any text, _ one character; the escape makes the next one itself.
#include "sql/expr/function.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

// Abort: no match here, nor further to the right.
enum class Match : uint8_t { Yes, No, Abort, BadPattern };

void skip_character(std::string_view& text) {
  text.remove_prefix(std::min(static_cast<size_t>(utf8_length(text[0])), text.size()));
}

Match match(std::string_view text, std::string_view pattern);

// After a %, which `pattern` is past.
Match match_anywhere(std::string_view text, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern[0] == '_') {
      if (text.empty()) return Match::Abort;
      skip_character(text);
    } else if (pattern[0] != '%') {
      break;
    }
    pattern.remove_prefix(1);
  }
  if (pattern.empty()) return Match::Yes;
  if (pattern[0] == '\\' && pattern.size() < 2) return Match::BadPattern;
  const char first = pattern[0] == '\\' ? pattern[1] : pattern[0];
  for (; !text.empty(); skip_character(text)) {
    if (text[0] != first) continue;
    if (const Match found = match(text, pattern); found != Match::No) return found;
  }
  return Match::Abort;
}

Match match(std::string_view text, std::string_view pattern) {
  if (pattern == "%") return Match::Yes;
  while (!text.empty() && !pattern.empty()) {
    char wanted = pattern[0];
    if (wanted == '%') return match_anywhere(text, pattern.substr(1));
    if (wanted == '_') {
      skip_character(text);
      pattern.remove_prefix(1);
      continue;
    }
    if (wanted == '\\') {
      pattern.remove_prefix(1);
      if (pattern.empty()) return Match::BadPattern;
      wanted = pattern[0];
    }
    if (wanted != text[0]) return Match::No;
    text.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  if (!text.empty()) return Match::No;
  while (!pattern.empty() && pattern[0] == '%') pattern.remove_prefix(1);
  return pattern.empty() ? Match::Yes : Match::Abort;
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
