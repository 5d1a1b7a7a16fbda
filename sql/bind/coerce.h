// PostgreSQL's rules of which types go with each other, and the casts that make them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/expr/expression.h"
#include "sql/parse/ast.h"
#include "sql/parse/try.h"

namespace tidemark::sql {

// Types of parameters, found while binding: the first context that wants a type decides.
struct ParamTypes {
  std::vector<SqlType> types;  // Unknown until decided.

  SqlType& at(int index) {
    if (static_cast<int>(types.size()) <= index) types.resize(index + 1, SqlType::of(TypeKind::Unknown));
    return types[index];
  }
};

// SqlType of a type as it was written.
Result<SqlType, SqlError> resolve_type(const ast::TypeName& name);

class Coercer {
 public:
  explicit Coercer(ParamTypes& params) : params_(params) {}

  // `expression` as `type`, or 42846/42804. Literals are read at once, so that a bad one is refused with its
  // place.
  Result<ExpressionPtr, SqlError> coerce(ExpressionPtr expression, SqlType type, CastContext context);
  // As the value of a column; a mismatch names the column.
  Result<ExpressionPtr, SqlError> assign(ExpressionPtr expression, SqlType type, const std::string& column);
  // A string literal or parameter without a type becomes text.
  Result<ExpressionPtr, SqlError> settle(ExpressionPtr expression);
  Result<ExpressionPtr, SqlError> as_boolean(ExpressionPtr expression, std::string_view clause);

  // The one type for several expressions (CASE, COALESCE, UNION, VALUES); `what` is for the message.
  static Result<SqlType, SqlError> common_type(std::span<const ExpressionPtr> expressions,
                                               std::string_view what);
  Result<std::vector<ExpressionPtr>, SqlError> unify(std::vector<ExpressionPtr> expressions,
                                                     std::string_view what);

 private:
  Result<ExpressionPtr, SqlError> read_literal(const Expression& literal, SqlType type);
  ExpressionPtr with_modifier(ExpressionPtr expression, SqlType type, CastContext context);

  ParamTypes& params_;
};

// Replaces an operation on constants, with immutable functions, by its result. One that fails is left to fail
// when it is run. REQUIRES: it is no Let.
ExpressionPtr fold(ExpressionPtr expression);

}  // namespace tidemark::sql
