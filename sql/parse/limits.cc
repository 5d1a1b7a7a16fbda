#include "sql/parse/limits.h"

#include <array>
#include <vector>

#include "sql/parse/lexer.h"
#include "sql/types/text_scan.h"
#include "sql/types/utf8.h"

namespace tidemark::sql {
namespace {

// After these, what comes does not nest into what came before at the same level: it is a list, or another
// clause.
constexpr std::array<std::string_view, 18> kSeparators{
    "and",    "or",    "when",  "then",  "else",   "where",  "from", "on",    "select",
    "having", "group", "order", "limit", "offset", "values", "set",  "using", "by"};
// These build left-deep trees across clauses.
constexpr std::array<std::string_view, 4> kStacking{"join", "union", "intersect", "except"};

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  for (std::string_view candidate : words) {
    if (equals_ignoring_case(word, candidate)) return true;
  }
  return false;
}

class Depth {
 public:
  void open() { levels_.push_back({}); }
  void close() {
    if (levels_.size() > 1) {
      sum_ -= levels_.back().chain + levels_.back().stacked;
      levels_.pop_back();
    }
  }
  void restart() {
    sum_ -= levels_.back().chain;
    levels_.back().chain = 0;
  }
  void reset() {
    levels_.assign(1, {});
    sum_ = 0;
  }
  void count() {
    ++levels_.back().chain;
    ++sum_;
  }
  void stack() {
    ++levels_.back().stacked;
    ++sum_;
  }
  bool is_too_deep() const { return levels_.size() > kNestingMax || sum_ > kChainMax; }

 private:
  struct Level {
    int chain = 0;
    int stacked = 0;
  };
  std::vector<Level> levels_{1};
  int sum_ = 0;  // Over the open levels.
};

void take_word(std::string_view word, Depth& depth) {
  if (equals_ignoring_case(word, "case")) {
    depth.count();
    depth.open();
  } else if (equals_ignoring_case(word, "end")) {
    depth.close();
  } else if (is_one_of(word, kStacking)) {
    depth.stack();
  } else if (is_one_of(word, kSeparators)) {
    depth.restart();
  } else {
    depth.count();
  }
}

void take_token(const Token& token, Depth& depth) {
  switch (token.kind) {
    case TokenKind::Open: depth.open(); return;
    case TokenKind::Close: depth.close(); return;
    case TokenKind::Comma: depth.restart(); return;
    case TokenKind::Semicolon: depth.reset(); return;
    case TokenKind::Word: take_word(token.text, depth); return;
    case TokenKind::End:
    case TokenKind::Quoted:
    case TokenKind::Number:
    case TokenKind::Symbol: depth.count(); return;
  }
}

}  // namespace

std::optional<SqlError> check_limits(std::string_view sql) {
  if (sql.size() > kStatementBytesMax) {
    return SqlError{sqlstate::kProgramLimitExceeded,
                    "statement is longer than 1 MiB",
                    0,
                    {},
                    "Load many rows with COPY, or in several statements."};
  }
  if (!is_valid_text(sql)) {
    return SqlError{
        sqlstate::kCharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"", 0, {}, {}};
  }
  Lexer lexer(sql);
  Depth depth;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    take_token(token, depth);
    if (depth.is_too_deep()) {
      return SqlError{sqlstate::kStatementTooComplex,
                      "statement is nested too deeply",
                      static_cast<int>(token.offset) + 1,
                      {},
                      {}};
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::sql
