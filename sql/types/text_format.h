// Values as text, exactly as PostgreSQL reads and prints them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Reads a value of `type`; what it points to is in `arena`. The modifier is applied as an assignment would.
Fault value_from_text(const SqlType& type, std::string_view text, Arena& arena, Value& out);

// The same, with the error as a client is told it.
Result<Value, SqlError> parse_value(const SqlType& type, std::string_view text, Arena& arena,
                                    int position = 0);
SqlError input_error(Fault fault, const SqlType& type, std::string_view text, int position = 0);

// REQUIRES: not NULL.
void append_text(const Value& value, std::string& out);
std::string to_text(const Value& value);

// How a value is cut to fit varchar(n), numeric(p, s) and timestamp(p): an assignment refuses too long a text
// unless only spaces are lost, an explicit cast cuts it.
enum class CastContext : uint8_t { Implicit, Assignment, Explicit };
Fault apply_modifier(const SqlType& type, CastContext context, Arena& arena, Value& value);

void append_double(double value, std::string& out);
Fault double_from_text(std::string_view text, double& out);
// Decimal integer with optional sign and spaces around. Out of range is 22003.
Fault integer_from_text(TypeKind kind, std::string_view text, int64_t& out);
Fault bool_from_text(std::string_view text, bool& out);
void append_hex(std::string_view bytes, std::string& out);

}  // namespace tidemark::sql
