// PostgreSQL's functions in SQLite, one for each operator and type: the translator chooses by type, so that
// no function has to guess what a value is. docs: README.md says how values lie in SQLite.
#pragma once

#include "verify/sqlite.h"
#include "verify/types.h"

namespace tidemark::verify {

__extension__ typedef __int128 Int128;  // What integers are computed in before they must fit.

void register_functions(Database& database);

// What PostgreSQL prints for a value of this type. REQUIRES: not null.
std::string text_of(TypeKind kind, const Value& value);
// The value that a text means. An error says that it means none.
Result<Value> value_of_text(TypeKind kind, const std::string& text);
// What stands for all values equal to this one: for types whose equal values may print differently.
std::string equality_key(TypeKind kind, const std::string& text);

// Parts of register_functions().
void register_number_functions(Database& database);
void register_text_functions(Database& database);
void register_time_functions(Database& database);
void register_json_functions(Database& database);
void register_aggregates(Database& database);
void register_conversions(Database& database);

// What a function's argument is.
inline int64_t as_int(const Value& value) {
  return std::get<int64_t>(value);
}
inline const std::string& as_text(const Value& value) {
  return std::get<std::string>(value);
}
double as_double(const Value& value);

}  // namespace tidemark::verify
