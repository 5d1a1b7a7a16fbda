#include "sql/parse/lexer.h"

#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

bool is_word_start(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_word(char c) {
  return is_word_start(c) || is_digit(c) || c == '$';
}

}  // namespace

void Lexer::skip_block_comment() {
  int depth = 0;
  while (at_ < text_.size()) {
    if (peek() == '/' && peek(1) == '*') {
      ++depth;
      at_ += 2;
    } else if (peek() == '*' && peek(1) == '/') {
      at_ += 2;
      if (--depth == 0) return;
    } else {
      ++at_;
    }
  }
}

void Lexer::skip_blank() {
  for (;;) {
    if (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    } else if (peek() == '-' && peek(1) == '-') {
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    } else if (peek() == '/' && peek(1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_quoted(char quote, bool backslash_escapes) {
  for (++at_; at_ < text_.size(); ++at_) {
    if (backslash_escapes && text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == quote) {
      if (peek(1) != quote) {
        ++at_;
        return;
      }
      ++at_;
    }
  }
  at_ = text_.size();
}

bool Lexer::skip_to_continuation() {
  const size_t end = at_;
  bool is_broken = false;
  for (; at_ < text_.size() && is_space(text_[at_]); ++at_) {
    is_broken |= text_[at_] == '\n' || text_[at_] == '\r';
  }
  if (is_broken && peek() == '\'') return true;
  at_ = end;
  return false;
}

bool Lexer::skip_dollar_quoted() {
  size_t end = at_ + 1;
  if (end < text_.size() && is_digit(text_[end])) return false;
  while (end < text_.size() && is_word(text_[end]) && text_[end] != '$') ++end;
  if (end >= text_.size() || text_[end] != '$') return false;
  const std::string_view tag = text_.substr(at_, end + 1 - at_);
  const size_t close = text_.find(tag, end + 1);
  at_ = close == std::string_view::npos ? text_.size() : close + tag.size();
  return true;
}

Token Lexer::next() {
  skip_blank();
  const size_t start = at_;
  if (at_ >= text_.size()) return token(TokenKind::End, start);
  const char c = text_[at_];
  if ((c == 'e' || c == 'E') && peek(1) == '\'') {
    ++at_;
    do {
      skip_quoted('\'', true);
    } while (skip_to_continuation());  // Where escapes still are escapes.
    return token(TokenKind::Quoted, start);
  }
  if (c == '\'' || c == '"') {
    skip_quoted(c, false);
    return token(TokenKind::Quoted, start);
  }
  if (c == '$' && skip_dollar_quoted()) return token(TokenKind::Quoted, start);
  if (is_word_start(c)) {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return token(TokenKind::Word, start);
  }
  if (is_digit(c)) {
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
    return token(TokenKind::Number, start);
  }
  ++at_;
  switch (c) {
    case '(':
    case '[': return token(TokenKind::Open, start);
    case ')':
    case ']': return token(TokenKind::Close, start);
    case ',': return token(TokenKind::Comma, start);
    case ';': return token(TokenKind::Semicolon, start);
    default: return token(TokenKind::Symbol, start);
  }
}

}  // namespace tidemark::sql
