// Internal to the parser: libpg_query's tree (protobuf-c structs) into ours. One set of functions per file.
#pragma once

#include <pg_query/pg_query.pb-c.h>

#include <string>
#include <string_view>
#include <vector>

#include "sql/parse/ast.h"
#include "sql/parse/try.h"

namespace tidemark::sql::convert {

// The tree nests at most this deep: everything that walks it recurses. A query counts as several expressions.
inline constexpr int kDepthMax = 500;
inline constexpr int kSelectDepth = 2;

// What is not supported, at its place.
SqlError unsupported(std::string_view what, int location, std::string_view hint = {});

// The name in a String node; empty for other nodes.
std::string name_of(const PgQuery__Node* node);
std::vector<std::string> names_of(PgQuery__Node** nodes, size_t count);

Result<ast::ExprPtr, SqlError> expression(const PgQuery__Node* node, int depth);
Result<std::vector<ast::ExprPtr>, SqlError> expressions(PgQuery__Node** nodes, size_t count, int depth);
Result<ast::TypeName, SqlError> type_name(const PgQuery__TypeName* type);
Result<std::vector<ast::OrderBy>, SqlError> order_by(PgQuery__Node** nodes, size_t count, int depth);
Result<std::vector<ast::Target>, SqlError> targets(PgQuery__Node** nodes, size_t count, int depth);

Result<ast::SelectPtr, SqlError> select(const PgQuery__SelectStmt* select, int depth);
ast::TableName table_name(const PgQuery__RangeVar* table);

Result<ast::Statement, SqlError> statement(const PgQuery__Node* node);

}  // namespace tidemark::sql::convert
