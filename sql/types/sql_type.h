// The types of SQL values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::sql {

// Stored in row and catalog formats: numbers are never reused.
enum class TypeKind : uint8_t {
  Null = 0,  // The kind of a NULL value; no column has it.
  Boolean = 1,
  SmallInt = 2,
  Integer = 3,
  BigInt = 4,
  Numeric = 5,
  Double = 6,
  Text = 7,
  Bytea = 8,
  Date = 9,
  Timestamp = 10,
  TimestampTz = 11,
  Uuid = 12,
  Jsonb = 13,
  Interval = 14,  // Of expressions only: no column has it.
  Unknown = 15,   // A string literal or parameter whose type its context decides.
};

inline constexpr int kTypeKindCount = 16;

// A kind with its modifier: varchar(n), numeric(p, s), timestamp(p).
struct SqlType {
  static constexpr int32_t kNoModifier = -1;

  TypeKind kind = TypeKind::Null;
  // Text: the longest length in characters. Numeric: (precision << 16) | (scale & 0xffff). Timestamps: digits
  // of the fraction of a second.
  int32_t modifier = kNoModifier;

  bool operator==(const SqlType&) const = default;

  static constexpr SqlType of(TypeKind kind) { return {kind, kNoModifier}; }
  static constexpr SqlType numeric(int precision, int scale) {
    return {TypeKind::Numeric, (precision << 16) | (scale & 0xffff)};
  }

  bool has_modifier() const { return modifier != kNoModifier; }
  int numeric_precision() const { return modifier >> 16; }
  int numeric_scale() const { return static_cast<int16_t>(modifier & 0xffff); }
};

// As PostgreSQL groups types to resolve operators and functions.
enum class TypeCategory : uint8_t { Boolean, Number, String, DateTime, Timespan, Other, Unknown };

TypeCategory category_of(TypeKind kind);
// The type that PostgreSQL prefers within a category.
bool is_preferred(TypeKind kind);

// "integer", "numeric", ...: as PostgreSQL names them in messages.
std::string_view type_name(TypeKind kind);
// With the modifier: "numeric(10,2)", "character varying(5)".
std::string type_name(const SqlType& type);

// PostgreSQL's object id of the type, for the wire protocol; varchar is text here.
uint32_t type_oid(TypeKind kind);
std::optional<TypeKind> type_of_oid(uint32_t oid);
// As PostgreSQL's pg_type.typlen: bytes of a fixed-size value, -1 for variable size.
int type_length(TypeKind kind);

// The kind for PostgreSQL's internal or SQL name of a type ("int4", "text"); nothing if unknown.
std::optional<TypeKind> type_by_name(std::string_view name);

// Whether PostgreSQL casts `from` to `to` without being asked, in any expression / on assignment.
bool is_implicit_cast(TypeKind from, TypeKind to);
bool is_assignment_cast(TypeKind from, TypeKind to);

constexpr bool is_integer(TypeKind kind) {
  return kind == TypeKind::SmallInt || kind == TypeKind::Integer || kind == TypeKind::BigInt;
}

}  // namespace tidemark::sql
