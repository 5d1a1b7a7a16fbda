// Keys as bytes that compare by memcmp as their values compare in PostgreSQL. The format is in
// docs/formats.md, "Rows and keys"; it is stored, so it only ever grows by new kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sql/types/arena.h"
#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

enum class SortOrder : uint8_t { Ascending, Descending };

struct KeyColumn {
  TypeKind kind;
  SortOrder order = SortOrder::Ascending;
  int scale = 0;  // Of a numeric(p, s): how many decimals its numbers have at least.
};

// Appends one column. Ascending order puts NULL last, descending is the reverse of it throughout. Equal
// values give equal bytes: 1.0 and 1.00, 0 and -0.
void append_key(const Value& value, SortOrder order, std::string& out);

// Whether values of the kind that differ may be equal, and so have the same key: 1.0 and 1.00, also within
// jsonb; 0 and -0; 1 month and 30 days. Their texts differ.
constexpr bool has_equal_values_that_differ(TypeKind kind) {
  return kind == TypeKind::Numeric || kind == TypeKind::Double || kind == TypeKind::Jsonb ||
         kind == TypeKind::Interval;
}

// REQUIRES: as many values as columns, each NULL or of its column's kind.
void append_keys(std::span<const KeyColumn> columns, std::span<const Value> values, std::string& out);

// Reads one column from `key` at `at` and moves past it. What does not lie in `key` as it is, is put into
// `arena`. Numbers come back with zeros at the end of their fraction only as far as the column's scale goes.
// Total: any bytes give a value or XX001.
Fault read_key(const KeyColumn& column, std::string_view key, size_t& at, Arena& arena, Value& out);

// Moves `at` past one column without reading it.
Fault skip_key(const KeyColumn& column, std::string_view key, size_t& at);

// Where a row lives: the hash of its encoded distribution columns.
uint64_t distribution_hash(std::string_view encoded_distribution_columns);

// Bytes with 00 as 00 FF, and 00 00 at the end: how text and bytea lie in a key.
void append_escaped_bytes(std::string_view bytes, std::string& out);
// Numeric as it lies in a key, and the way back.
void append_numeric_key(const Numeric& number, std::string& out);

}  // namespace tidemark::sql
