// Just enough of PostgreSQL's lexical rules to bound a statement before the real parser sees it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::sql {

enum class TokenKind : uint8_t { End, Word, Quoted, Number, Open, Close, Comma, Semicolon, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  size_t offset = 0;
};

// Skips spaces and comments; strings and quoted names are one token, unterminated ones too.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();

 private:
  void skip_blank();
  void skip_block_comment();
  Token token(TokenKind kind, size_t start) { return {kind, text_.substr(start, at_ - start), start}; }
  void skip_quoted(char quote, bool backslash_escapes);
  // What is quoted goes on in the next quotes, if there is nothing between but blank with a line break.
  // False: it does not, and nothing is skipped.
  bool skip_to_continuation();
  bool skip_dollar_quoted();
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tidemark::sql
