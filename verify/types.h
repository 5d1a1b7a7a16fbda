// The types of PostgreSQL that `verify` knows, and how their values lie in SQLite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::verify {

enum class TypeKind : uint8_t {
  Unknown,      // A literal that takes its type from where it stands: TEXT.
  Boolean,      // INTEGER 0 or 1
  Int2,         // INTEGER
  Int4,         // INTEGER
  Int8,         // INTEGER
  Numeric,      // TEXT, as PostgreSQL prints it; compared by its key
  Float8,       // REAL; NaN is the TEXT 'NaN', which SQLite orders after all numbers, as PostgreSQL does
  Text,         // TEXT
  Bytea,        // BLOB
  Date,         // INTEGER, days since 2000-01-01; infinities are the ends of int32
  Timestamp,    // INTEGER, microseconds since 2000-01-01; infinities are the ends of int64
  TimestampTz,  // the same, UTC
  Interval,     // TEXT 'months days microseconds'
  Uuid,         // TEXT
  Jsonb,        // TEXT, as PostgreSQL prints it; compared by its key
};

struct Type {
  TypeKind kind = TypeKind::Unknown;
  // Equal values may print differently (1.0 and 1.00), and which of them stands here is nobody's promise, as
  // in a group's key or a minimum. Compared without trailing zeros.
  bool any_of_equals = false;

  bool is_integer() const {
    return kind == TypeKind::Int2 || kind == TypeKind::Int4 || kind == TypeKind::Int8;
  }
  bool is_number() const { return is_integer() || kind == TypeKind::Numeric || kind == TypeKind::Float8; }
  // Equality of values is not equality of what SQLite holds.
  bool needs_key() const {
    return kind == TypeKind::Numeric || kind == TypeKind::Jsonb || kind == TypeKind::Interval;
  }
};

// By the names that catalogs and casts use ("int4", "integer", "timestamp with time zone", "numeric(10,2)").
std::optional<TypeKind> type_of_name(std::string_view name);
// As PostgreSQL's format_type() says it, and for the names of functions.
std::string_view type_name(TypeKind kind);
// Bytes of an integer type.
int integer_width(TypeKind kind);

}  // namespace tidemark::verify
