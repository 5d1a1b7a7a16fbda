// jsonb. A value is its normalised text, exactly as PostgreSQL prints it: keys ordered by length, then bytes,
// the last of equal keys kept, numbers as numeric prints them, ", " and ": " between. So equal bytes print
// equally, and a part of a value is a part of its text: `->` copies nothing.
#pragma once

#include <string>
#include <string_view>

#include "sql/types/arena.h"
#include "sql/types/fault.h"

namespace tidemark::sql {

inline constexpr int kJsonDepthMax = 1000;

// Checks and normalises.
Fault jsonb_from_text(std::string_view text, std::string& out);

enum class JsonKind : uint8_t { Null, String, Number, Boolean, Array, Object, Malformed };
JsonKind jsonb_kind(std::string_view json);

// All below take normalised text, and are total: other bytes give some answer, never a fault.

// The field of an object or the element of an array (negative: from its end); false if there is none. A
// scalar is, as PostgreSQL has it, an array of itself.
bool jsonb_field(std::string_view json, std::string_view key, std::string_view& out);
bool jsonb_element(std::string_view json, int64_t index, std::string_view& out);
// Elements of an array; -1 if it is none.
int64_t jsonb_array_length(std::string_view json);
// As ->> gives it: a string without its quotes and escapes, everything else as it is.
std::string_view jsonb_as_text(std::string_view json, Arena& arena);

// a || b: two objects merged, else arrays (and what is none, as an array of one) put together. `out` is empty
// before.
void jsonb_concatenate(std::string_view a, std::string_view b, std::string& out);

// Appends `text` as a JSON string.
void append_json_string(std::string_view text, std::string& out);

// PostgreSQL's order of jsonb values, as bytes that compare by memcmp; and the way back, see key_encoding.h.
void jsonb_append_key(std::string_view json, std::string& out);
// Reads one value from `key` at `at`, and appends its normalised text.
Fault jsonb_from_key(std::string_view key, size_t& at, std::string& out);
int jsonb_compare(std::string_view a, std::string_view b);

}  // namespace tidemark::sql
