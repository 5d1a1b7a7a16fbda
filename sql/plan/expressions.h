// Small things that planning does with expressions.
#pragma once

#include <span>
#include <string_view>

#include "sql/expr/expression.h"

namespace tidemark::sql {

// `expression` with each column replaced by what it stands for.
ExpressionPtr substitute(const Expression& expression, std::span<const ExpressionPtr> columns);
// With `by` added to the index of each column.
ExpressionPtr shifted(const Expression& expression, int by);
std::vector<ExpressionPtr> clone_all(std::span<const ExpressionPtr> expressions);

// a AND b; either may be null.
ExpressionPtr both(ExpressionPtr a, ExpressionPtr b);

// The function or operator with exactly these arguments. REQUIRES: it is built in.
ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> args);
// As `type`, by an explicit cast where the kinds differ.
ExpressionPtr cast_to(ExpressionPtr expression, SqlType type);

// Can evaluating it fail for some row, but for want of memory? Errs on the side of yes.
bool may_fail(const Expression& expression);
// How many texts it makes, each as long as one of the row's, if it may not fail.
size_t count_copies(const Expression& expression);

// `column = constant`, either way round: gives the column's index and the constant. Null: it is nothing such.
const Expression* equality_with_constant(const Expression& condition, int& column);

}  // namespace tidemark::sql
