// Tables in memory: for catalog tables, EXPLAIN's output and tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sql/execute/row_source.h"

namespace tidemark::sql {

class MemoryTable {
 public:
  explicit MemoryTable(size_t width) : width_(width) {}

  // REQUIRES: `width` values.
  void add(std::span<const Value> row) {
    for (const Value& value : row) values_.push_back(value.copy_into(arena_));
  }
  size_t row_count() const { return width_ == 0 ? 0 : values_.size() / width_; }
  const Value* row(size_t index) const { return values_.data() + index * width_; }

 private:
  size_t width_;
  std::vector<Value> values_;
  Arena arena_;
};

// Rows by the table's id. It and its tables must outlive every execution over it.
class MemorySource : public RowSource {
 public:
  MemoryTable& add_table(const TableSchema& table);
  Result<std::unique_ptr<RowCursor>, SqlError> open(const ScanRequest& request) override;

 private:
  std::map<TableId, MemoryTable> tables_;
};

}  // namespace tidemark::sql
