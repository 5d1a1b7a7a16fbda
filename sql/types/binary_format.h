// Values in the binary format of PostgreSQL's wire protocol.
#pragma once

#include <string>
#include <string_view>

#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// REQUIRES: not NULL.
void append_binary(const Value& value, std::string& out);

// What the value points to is in `arena`. Total: other bytes are refused.
Fault value_from_binary(TypeKind kind, std::string_view bytes, Arena& arena, Value& out);

}  // namespace tidemark::sql
