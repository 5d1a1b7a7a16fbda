// RowArithmetic on SQL's formats of rows and keys (sql/types).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "node/region/row_arithmetic.h"
#include "sql/types/arena.h"
#include "sql/types/value.h"

namespace tidemark {

// Not thread-safe: one per worker. Knows each table after its first use; ids are never reused.
class SqlRowArithmetic : public RowArithmetic {
 public:
  SqlRowArithmetic();
  ~SqlRowArithmetic() override;

  AddOutcome add(const pb::TableDefinition& table, std::optional<std::string_view> row,
                 std::string_view delta, std::string& out) override;
  std::optional<size_t> distribution_size(const pb::TableDefinition& table, std::string_view key) override;
  bool set_value(const pb::TableDefinition& table, std::string_view row, uint32_t column,
                 const pb::TableDefinition& multiset, std::optional<std::string_view> multiset_key,
                 std::string& out) override;
  std::optional<int64_t> get_count(const pb::TableDefinition& table, std::string_view row,
                                   uint32_t column) override;
  bool set_count(const pb::TableDefinition& table, std::string_view row, uint32_t column, int64_t count,
                 std::string& out) override;

 private:
  struct Shape;  // What is needed of a table's definition; null for one that makes no sense.

  const Shape* shape_of(const pb::TableDefinition& table);
  bool set(const Shape& shape, std::string_view row, uint32_t column, const sql::Value& value,
           std::string& out);

  std::unordered_map<uint32_t, std::unique_ptr<const Shape>> shapes_;
  std::vector<sql::Value> values_;  // Reused.
  sql::Arena arena_;
};

}  // namespace tidemark
