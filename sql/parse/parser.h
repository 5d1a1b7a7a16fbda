// From SQL text to the tree of ast.h, by PostgreSQL's own grammar (libpg_query). Pure, but libpg_query keeps
// memory per thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/parse/ast.h"
#include "sql/types/fault.h"

namespace tidemark::sql {

// The statements of `sql`, separated by semicolons; none for empty text. What PostgreSQL knows and Tidemark
// does not is refused with 0A000, its position, and where there is a way, what to write instead.
Result<std::vector<ast::Statement>, SqlError> parse_statements(std::string_view sql);

// Exactly one expression, as it stands in a select list: for computed columns and tests.
Result<ast::ExprPtr, SqlError> parse_expression(std::string_view sql);

}  // namespace tidemark::sql
