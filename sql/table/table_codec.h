// Rows of a table as values and as bytes: which columns are hashed, sorted and stored is in the table's
// definition (proto/catalog.proto). Immutable once made; any number of readers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "sql/types/key_encoding.h"
#include "sql/types/row_encoding.h"
#include "sql/types/value.h"

namespace tidemark::pb {
class TableDefinition;
}

namespace tidemark::sql {

// "numeric(10,2)", "character varying(5)", "bigint": as type_name() writes them.
Result<SqlType> parse_type_name(std::string_view name);

struct TableColumn {
  std::string name;
  SqlType type;
  bool not_null = false;
  bool hidden = false;
};

// A row as a region stores it.
struct EncodedRow {
  uint64_t hash = 0;
  std::string key;
  std::string row;
};

class TableCodec {
 public:
  // Error: the definition makes no sense (an unknown type, a key column that is not there).
  static Result<TableCodec> make(const pb::TableDefinition& definition);

  TableId table() const { return table_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  // Indexes of the key's columns: those that are hashed, then those that sort within.
  const std::vector<size_t>& key_columns() const { return key_columns_; }
  const std::vector<KeyColumn>& key_kinds() const { return key_kinds_; }
  size_t distribution_count() const { return distribution_count_; }
  // Indexes of the columns that a row's bytes hold, and their layout.
  const std::vector<size_t>& stored_columns() const { return stored_columns_; }
  const RowLayout& layout() const { return layout_; }

  // REQUIRES: one value per column, each NULL or of its column's kind.
  void encode(std::span<const Value> values, EncodedRow& out) const;
  void append_stored(std::span<const Value> values, std::string& row) const;

  // The key's beginning: values of its first columns, in the key's order. Gives the hash if all distribution
  // columns are among them, else zero.
  uint64_t encode_key_prefix(std::span<const Value> values, std::string& key) const;

  // One value per column; they point into `key`, `row` and `arena`. Total: any bytes give values or XX001.
  Fault decode(std::string_view key, std::string_view row, Arena& arena, std::vector<Value>& out) const;

 private:
  TableId table_;
  std::vector<TableColumn> columns_;
  std::vector<size_t> key_columns_;
  std::vector<KeyColumn> key_kinds_;
  size_t distribution_count_ = 0;
  std::vector<size_t> stored_columns_;
  bool row_holds_key_ = true;
  RowLayout layout_;
};

}  // namespace tidemark::sql
