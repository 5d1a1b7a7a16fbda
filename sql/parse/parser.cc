#include "sql/parse/parser.h"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <algorithm>
#include <memory>
#include <string>

#include "sql/parse/convert.h"
#include "sql/parse/lexer.h"
#include "sql/parse/limits.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace {

struct FreeParseResult {
  void operator()(PgQuery__ParseResult* tree) const { pg_query__parse_result__free_unpacked(tree, nullptr); }
};
using Tree = std::unique_ptr<PgQuery__ParseResult, FreeParseResult>;

// libpg_query counts characters, we bytes.
int byte_offset(std::string_view sql, int character) {
  int offset = 0;
  for (int i = 1; i < character && offset < static_cast<int>(sql.size()); ++i) {
    do {
      ++offset;
    } while (offset < static_cast<int>(sql.size()) && (static_cast<uint8_t>(sql[offset]) & 0xc0) == 0x80);
  }
  return offset;
}

SqlError syntax_error(const PgQueryError& error, std::string_view sql) {
  const std::string message = error.message;
  // The grammar's actions raise a few errors of another kind; the parser gives no SQLSTATE, so by their
  // words.
  const bool is_unsupported = message.find("not supported") != std::string::npos ||
                              message.find("not implemented") != std::string::npos;
  const bool is_too_deep = message.find("memory exhausted") != std::string::npos;
  return {is_too_deep      ? sqlstate::kStatementTooComplex
          : is_unsupported ? sqlstate::kFeatureNotSupported
                           : sqlstate::kSyntaxError,
          message,
          error.cursorpos > 0 ? byte_offset(sql, error.cursorpos) + 1 : 0,
          {},
          {}};
}

Result<Tree, SqlError> parse_tree(const std::string& sql) {
  PgQueryProtobufParseResult result = pg_query_parse_protobuf(sql.c_str());
  if (result.error != nullptr) {
    SqlError error = syntax_error(*result.error, sql);
    pg_query_free_protobuf_parse_result(result);
    return error;
  }
  Tree tree(pg_query__parse_result__unpack(nullptr, result.parse_tree.len,
                                           reinterpret_cast<const uint8_t*>(result.parse_tree.data)));
  pg_query_free_protobuf_parse_result(result);
  if (tree == nullptr)
    return SqlError{sqlstate::kSyntaxError, "the statement could not be parsed", 0, {}, {}};
  return tree;
}

// PostgreSQL's grammar has no CREATE OR REPLACE MATERIALIZED VIEW: "or replace" is blanked out, which keeps
// every position. Returns where that was done.
std::vector<size_t> blank_or_replace(std::string& sql) {
  std::vector<size_t> found;
  Lexer lexer(sql);
  const std::string_view words[] = {"create", "or", "replace", "materialized"};
  size_t matched = 0, begin = 0;
  bool at_start = true;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    const bool matches = token.kind == TokenKind::Word && (matched > 0 || at_start) &&
                         equals_ignoring_case(token.text, words[matched]);
    if (matches && matched == 1) begin = token.offset;
    if (matches && matched == 3) {
      for (size_t i = begin; i < token.offset; ++i) sql[i] = ' ';
      found.push_back(begin);
    }
    matched = matches && matched < 3 ? matched + 1 : 0;
    at_start = token.kind == TokenKind::Semicolon;
  }
  return found;
}

// Where the query of CREATE MATERIALIZED VIEW begins: after the first AS outside parentheses.
int query_begin(std::string_view sql) {
  Lexer lexer(sql);
  int depth = 0;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (token.kind == TokenKind::Open) ++depth;
    if (token.kind == TokenKind::Close) --depth;
    if (depth == 0 && token.kind == TokenKind::Word && equals_ignoring_case(token.text, "as")) {
      return static_cast<int>(lexer.next().offset);
    }
  }
  return 0;
}

void place_view(std::string_view sql, const std::vector<size_t>& replaced, ast::Statement& statement) {
  auto* view = std::get_if<ast::CreateView>(&statement.body);
  if (view == nullptr) return;
  const std::string_view text = sql.substr(statement.begin, statement.end - statement.begin);
  view->query_begin = statement.begin + query_begin(text);
  view->query_end = statement.end;
  for (size_t at : replaced) {
    if (static_cast<int>(at) >= statement.begin && static_cast<int>(at) < statement.end)
      view->or_replace = true;
  }
}

// The first word of the grammar in a message, such as "full" in "FULL JOIN is not supported".
std::string keyword_in(std::string_view message) {
  Lexer lexer(message);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (token.kind == TokenKind::Word && std::all_of(token.text.begin(), token.text.end(), is_capital)) {
      std::string out(token.text);
      std::transform(out.begin(), out.end(), out.begin(), to_lower);
      return out;
    }
  }
  return {};
}

// PostgreSQL's tree does not say of everything where it stands. What is refused without a place gets that of
// the word that names it, or of the statement.
void place_refusal(std::string_view sql, int begin, SqlError& refusal) {
  if (refusal.position > 0) return;
  const std::string keyword = keyword_in(refusal.message);
  Lexer lexer(sql.substr(static_cast<size_t>(begin)));
  Token token = lexer.next();
  refusal.position = begin + static_cast<int>(token.offset) + 1;
  for (; token.kind != TokenKind::End && token.kind != TokenKind::Semicolon; token = lexer.next()) {
    if (token.kind != TokenKind::Word || !equals_ignoring_case(token.text, keyword)) continue;
    refusal.position = begin + static_cast<int>(token.offset) + 1;
    return;
  }
}

}  // namespace

Result<std::vector<ast::Statement>, SqlError> parse_statements(std::string_view sql) {
  if (std::optional<SqlError> error = check_limits(sql)) return *error;
  std::string text(sql);
  const std::vector<size_t> replaced = blank_or_replace(text);
  TM_SQL_ASSIGN(Tree tree, parse_tree(text));
  std::vector<ast::Statement> out;
  for (size_t i = 0; i < tree->n_stmts; ++i) {
    const PgQuery__RawStmt& raw = *tree->stmts[i];
    auto statement = convert::statement(raw.stmt);
    if (!statement.ok()) {
      SqlError refusal = statement.error();
      place_refusal(sql, raw.stmt_location, refusal);
      return refusal;
    }
    statement->begin = raw.stmt_location;
    statement->end = raw.stmt_len > 0 ? raw.stmt_location + raw.stmt_len : static_cast<int>(text.size());
    place_view(text, replaced, *statement);
    out.push_back(std::move(*statement));
  }
  return out;
}

Result<ast::ExprPtr, SqlError> parse_expression(std::string_view sql) {
  const SqlError not_one{sqlstate::kSyntaxError, "exactly one expression is expected", 0, {}, {}};
  TM_SQL_ASSIGN(std::vector<ast::Statement> statements, parse_statements("select " + std::string(sql)));
  if (statements.size() != 1 || !std::holds_alternative<ast::SelectPtr>(statements[0].body)) return not_one;
  ast::Select& select = *std::get<ast::SelectPtr>(statements[0].body);
  if (select.targets.size() != 1 || !select.from.empty() || select.set_operation != ast::SetOperation::None) {
    return not_one;
  }
  return std::move(select.targets[0].expr);
}

}  // namespace tidemark::sql
