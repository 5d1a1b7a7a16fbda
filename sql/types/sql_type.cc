#include "sql/types/sql_type.h"

#include <array>

#include "base/assert.h"

namespace tidemark::sql {
namespace {

struct TypeInfo {
  std::string_view name;
  std::string_view internal_name;
  uint32_t oid;
  int length;
  TypeCategory category;
  bool preferred;
};

constexpr std::array<TypeInfo, kTypeKindCount> kTypes{{
    {"null", "", 0, 0, TypeCategory::Unknown, false},
    {"boolean", "bool", 16, 1, TypeCategory::Boolean, true},
    {"smallint", "int2", 21, 2, TypeCategory::Number, false},
    {"integer", "int4", 23, 4, TypeCategory::Number, false},
    {"bigint", "int8", 20, 8, TypeCategory::Number, false},
    {"numeric", "numeric", 1700, -1, TypeCategory::Number, false},
    {"double precision", "float8", 701, 8, TypeCategory::Number, true},
    {"text", "text", 25, -1, TypeCategory::String, true},
    {"bytea", "bytea", 17, -1, TypeCategory::Other, false},
    {"date", "date", 1082, 4, TypeCategory::DateTime, false},
    {"timestamp without time zone", "timestamp", 1114, 8, TypeCategory::DateTime, false},
    {"timestamp with time zone", "timestamptz", 1184, 8, TypeCategory::DateTime, true},
    {"uuid", "uuid", 2950, 16, TypeCategory::Other, false},
    {"jsonb", "jsonb", 3802, -1, TypeCategory::Other, false},
    {"interval", "interval", 1186, 16, TypeCategory::Timespan, true},
    {"unknown", "unknown", 705, -2, TypeCategory::Unknown, false},
}};

const TypeInfo& info(TypeKind kind) {
  TM_ASSERT(static_cast<size_t>(kind) < kTypes.size());
  return kTypes[static_cast<size_t>(kind)];
}

// Position of the numeric types in PostgreSQL's chain of implicit casts; -1 for the others.
int numeric_rank(TypeKind kind) {
  switch (kind) {
    case TypeKind::SmallInt: return 0;
    case TypeKind::Integer: return 1;
    case TypeKind::BigInt: return 2;
    case TypeKind::Numeric: return 3;
    case TypeKind::Double: return 4;
    default: return -1;
  }
}

int datetime_rank(TypeKind kind) {
  switch (kind) {
    case TypeKind::Date: return 0;
    case TypeKind::Timestamp: return 1;
    case TypeKind::TimestampTz: return 2;
    default: return -1;
  }
}

}  // namespace

TypeCategory category_of(TypeKind kind) {
  return info(kind).category;
}
bool is_preferred(TypeKind kind) {
  return info(kind).preferred;
}
std::string_view type_name(TypeKind kind) {
  return info(kind).name;
}
uint32_t type_oid(TypeKind kind) {
  return info(kind).oid;
}
int type_length(TypeKind kind) {
  return info(kind).length;
}

std::string type_name(const SqlType& type) {
  if (!type.has_modifier()) return std::string(type_name(type.kind));
  switch (type.kind) {
    case TypeKind::Text: return "character varying(" + std::to_string(type.modifier) + ")";
    case TypeKind::Numeric:
      return "numeric(" + std::to_string(type.numeric_precision()) + "," +
             std::to_string(type.numeric_scale()) + ")";
    case TypeKind::Timestamp: return "timestamp(" + std::to_string(type.modifier) + ") without time zone";
    case TypeKind::TimestampTz: return "timestamp(" + std::to_string(type.modifier) + ") with time zone";
    default: return std::string(type_name(type.kind));
  }
}

std::optional<TypeKind> type_of_oid(uint32_t oid) {
  if (oid == 1043 || oid == 1042 || oid == 19) return TypeKind::Text;  // varchar, char(n), name.
  for (int kind = 1; kind < kTypeKindCount; ++kind) {
    if (kTypes[kind].oid == oid) return static_cast<TypeKind>(kind);
  }
  return std::nullopt;
}

std::optional<TypeKind> type_by_name(std::string_view name) {
  if (name == "varchar") return TypeKind::Text;
  for (int kind = 1; kind < static_cast<int>(TypeKind::Unknown); ++kind) {
    if (kTypes[kind].internal_name == name) return static_cast<TypeKind>(kind);
  }
  return std::nullopt;
}

bool is_implicit_cast(TypeKind from, TypeKind to) {
  if (from == to || from == TypeKind::Unknown) return true;
  if (numeric_rank(from) >= 0 && numeric_rank(to) >= 0) return numeric_rank(from) < numeric_rank(to);
  if (datetime_rank(from) >= 0 && datetime_rank(to) >= 0) return datetime_rank(from) < datetime_rank(to);
  return false;
}

bool is_assignment_cast(TypeKind from, TypeKind to) {
  if (is_implicit_cast(from, to)) return true;
  if (numeric_rank(from) >= 0 && numeric_rank(to) >= 0) return true;
  if (datetime_rank(from) >= 0 && datetime_rank(to) >= 0) return true;
  return to == TypeKind::Text;
}

}  // namespace tidemark::sql
