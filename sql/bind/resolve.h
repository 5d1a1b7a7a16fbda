// Which function or operator a call means, by PostgreSQL's rules.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/bind/coerce.h"
#include "sql/expr/expression.h"
#include "sql/parse/try.h"

namespace tidemark::sql {

enum class Resolution : uint8_t { Found, None, Ambiguous };

std::vector<TypeKind> kinds_of(const std::vector<ExpressionPtr>& args);

// The candidate for arguments of these types. Of candidates with equal signatures the first counts.
Resolution resolve_candidate(std::span<const Function* const> candidates, std::span<const TypeKind> args,
                             const Function*& out);
// As for functions, but one untyped operand first takes the other's type.
Resolution resolve_operator(std::span<const Function* const> candidates, std::span<const TypeKind> args,
                            const Function*& out);

}  // namespace tidemark::sql
