// What is known before any row is seen, as PostgreSQL's planner knows it: constants decide AND, OR, CASE and
// COALESCE.
#pragma once

#include "sql/expr/expression.h"

namespace tidemark::sql {

// Done once names are bound and groups checked: it may take columns away.
ExpressionPtr simplify(ExpressionPtr expression);

// Nodes of the expression, counted up to `limit`.
int size_of(const Expression& expression, int limit);

}  // namespace tidemark::sql
