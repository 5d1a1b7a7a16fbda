#include "sql/execute/memory_source.h"

#include <algorithm>

#include "sql/types/compare.h"

namespace tidemark::sql {
namespace {

class MemoryCursor : public RowCursor {
 public:
  MemoryCursor(const MemoryTable& rows, const ScanRequest& request)
      : rows_(rows), width_(request.table->columns.size()), key_columns_(request.table->key_columns()) {
    for (const Value& value : request.prefix) prefix_.emplace_back(value);
  }

  PullResult next(Batch& out) override {
    out.reset(width_);
    if (at_ == rows_.row_count()) return Pull::End;
    for (; at_ < rows_.row_count() && !out.is_full(); ++at_) {
      if (matches(rows_.row(at_))) std::copy_n(rows_.row(at_), width_, out.add_row());
    }
    return Pull::Rows;
  }

 private:
  bool matches(const Value* row) const {
    for (size_t i = 0; i < prefix_.size(); ++i) {
      const Value& value = row[key_columns_[i]];
      if (value.is_null() || compare_values(value, prefix_[i].get()) != 0) return false;
    }
    return true;
  }

  const MemoryTable& rows_;
  size_t width_;
  std::vector<int> key_columns_;
  std::vector<OwnedValue> prefix_;
  size_t at_ = 0;
};

}  // namespace

MemoryTable& MemorySource::add_table(const TableSchema& table) {
  return tables_.insert_or_assign(table.id, MemoryTable(table.columns.size())).first->second;
}

Result<std::unique_ptr<RowCursor>, SqlError> MemorySource::open(const ScanRequest& request) {
  const auto found = tables_.find(request.table->id);
  if (found == tables_.end()) {
    return SqlError{
        sqlstate::kUndefinedTable, "table \"" + request.table->name + "\" has no rows here", 0, {}, {}};
  }
  return std::unique_ptr<RowCursor>(std::make_unique<MemoryCursor>(found->second, request));
}

}  // namespace tidemark::sql
