// Bounds on statements, checked before they reach the parser, which recurses as deep as they nest.
#pragma once

#include <optional>
#include <string_view>

#include "sql/types/fault.h"

namespace tidemark::sql {

inline constexpr size_t kStatementBytesMax = 1 << 20;
// Open parentheses and CASEs at one place.
inline constexpr int kNestingMax = 200;
// Tokens that may nest into each other at one place: a + a + a ... is a tree as deep as it is long.
inline constexpr int kChainMax = 1500;

// The error with its position, or nothing.
std::optional<SqlError> check_limits(std::string_view sql);

}  // namespace tidemark::sql
