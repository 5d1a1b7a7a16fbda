// What is known before any row is seen, as PostgreSQL's planner knows it: constants decide AND, OR, CASE and
// COALESCE.
#pragma once

#include "sql/expr/expression.h"

namespace tidemark::sql {

// `expression`, whose arguments are simple already, or what it comes to.
ExpressionPtr simplify(ExpressionPtr expression);

// Nodes of the expression, counted up to `limit`.
int size_of(const Expression& expression, int limit);
bool uses_slot(const Expression& expression, int slot);

}  // namespace tidemark::sql
