// Typed expressions: what the binder makes, what programs are compiled from, and what planners of views look
// at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sql/expr/function.h"
#include "sql/types/text_format.h"
#include "sql/types/value.h"

namespace tidemark::sql {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind : uint8_t {
  Constant,  // `constant`
  Column,    // `index` in the input row
  Param,     // `index` from 0
  Outer,     // `index` among the values that a query is run for: see RelationKind::Apply
  Call,      // `function` of args
  Modifier,  // one arg, cut to `type`'s modifier by the rules of `context`
  And,
  Or,
  Not,
  IsNull,    // `negated`
  IsTruth,   // `truth`, `negated`
  Distinct,  // of two args of one kind; `negated`: IS NOT DISTINCT FROM
  In,        // the first arg among the others by `function`; all are computed first; `negated`
  Case,      // when, then, ..., [else]
  Coalesce,
  NullIf,  // `function` is the equality of the two args; the result is the first
  Greatest,
  Least,
  Let,  // args: value, body; in the body, Slot with the same `index` is the value, computed once
  Slot,
};

enum class Truth : uint8_t { True, False, Unknown };

struct Expression {
  ExpressionKind kind = ExpressionKind::Constant;
  SqlType type;
  int location = -1;
  int index = 0;
  bool negated = false;
  bool explicit_cast = false;  // Of Call and Modifier: it was written, so it is not undone in error messages.
  Truth truth = Truth::True;
  CastContext context = CastContext::Implicit;
  OwnedValue constant;
  const Function* function = nullptr;
  std::vector<ExpressionPtr> args;
};

ExpressionPtr make_constant(const Value& value, SqlType type, int location = -1);
ExpressionPtr make_column(int index, SqlType type, int location = -1);
ExpressionPtr make_call(const Function* function, std::vector<ExpressionPtr> args, int location);
ExpressionPtr make_operation(ExpressionKind kind, SqlType type, std::vector<ExpressionPtr> args,
                             int location);

ExpressionPtr clone(const Expression& expression);
// The same computation, whatever it was written as.
bool is_same(const Expression& a, const Expression& b);

// The most volatile function in it.
Volatility volatility_of(const Expression& expression);
// Calls `visit` with each column's index; may change it.
void for_each_column(Expression& expression, const std::function<void(int&)>& visit);
void for_each_column(const Expression& expression, const std::function<void(int)>& visit);
bool has_columns(const Expression& expression);

// Splits a condition at its top-level ANDs.
void split_conjuncts(ExpressionPtr condition, std::vector<ExpressionPtr>& out);
// The conjunction of `conjuncts`; null for none.
ExpressionPtr join_conjuncts(std::vector<ExpressionPtr> conjuncts);

// SQL-like text, for EXPLAIN. Columns by `column_names`.
std::string describe(const Expression& expression, const std::vector<std::string>& column_names);

}  // namespace tidemark::sql
