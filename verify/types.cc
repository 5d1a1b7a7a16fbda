#include "verify/types.h"

#include "base/assert.h"

namespace tidemark::verify {

namespace {

struct Name {
  std::string_view name;
  TypeKind kind;
};

// The first name of a kind is its own.
constexpr Name kNames[] = {
    {"unknown", TypeKind::Unknown},
    {"boolean", TypeKind::Boolean},
    {"bool", TypeKind::Boolean},
    {"smallint", TypeKind::Int2},
    {"int2", TypeKind::Int2},
    {"integer", TypeKind::Int4},
    {"int4", TypeKind::Int4},
    {"int", TypeKind::Int4},
    {"bigint", TypeKind::Int8},
    {"int8", TypeKind::Int8},
    {"numeric", TypeKind::Numeric},
    {"decimal", TypeKind::Numeric},
    {"double precision", TypeKind::Float8},
    {"float8", TypeKind::Float8},
    {"text", TypeKind::Text},
    {"character varying", TypeKind::Text},
    {"varchar", TypeKind::Text},
    {"bytea", TypeKind::Bytea},
    {"date", TypeKind::Date},
    {"timestamp without time zone", TypeKind::Timestamp},
    {"timestamp", TypeKind::Timestamp},
    {"timestamp with time zone", TypeKind::TimestampTz},
    {"timestamptz", TypeKind::TimestampTz},
    {"interval", TypeKind::Interval},
    {"uuid", TypeKind::Uuid},
    {"jsonb", TypeKind::Jsonb},
};

}  // namespace

std::optional<TypeKind> type_of_name(std::string_view name) {
  std::string plain(name);  // Without a modifier, which may stand in the middle: timestamp(3) with time zone.
  const size_t open = plain.find('('), close = plain.find(')');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    plain.erase(open, close - open + 1);
  }
  for (const Name& known : kNames) {
    if (known.name == plain && known.kind != TypeKind::Unknown) return known.kind;
  }
  return {};
}

std::string_view type_name(TypeKind kind) {
  for (const Name& known : kNames) {
    if (known.kind == kind) return known.name;
  }
  TM_UNREACHABLE();
}

int integer_width(TypeKind kind) {
  switch (kind) {
    case TypeKind::Int2: return 2;
    case TypeKind::Int4: return 4;
    case TypeKind::Int8: return 8;
    default: TM_UNREACHABLE();
  }
}

}  // namespace tidemark::verify
