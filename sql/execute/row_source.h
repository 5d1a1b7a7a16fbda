// Where ad-hoc reads get rows from: regions, catalog tables, memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sql/catalog.h"
#include "sql/parse/try.h"
#include "sql/types/arena.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Rows of one width, one after the other. What they point to is in `arena` or lives longer.
class Batch {
 public:
  static constexpr size_t kRowsMax = 1024;
  // Who computes values adds no further row to a batch once they take so much.
  static constexpr size_t kBytesMax = 4 << 20;

  void reset(size_t width) {
    width_ = width;
    rows_ = 0;
    values_.clear();
    arena.reset();
  }
  size_t width() const { return width_; }
  size_t row_count() const { return rows_; }
  const Value* row(size_t index) const { return values_.data() + index * width_; }
  // A new row of NULLs, valid until the next one is added.
  Value* add_row() {
    ++rows_;
    values_.resize(rows_ * width_);
    return values_.data() + (rows_ - 1) * width_;
  }
  bool is_full() const { return rows_ >= kRowsMax; }

  Arena arena;

 private:
  size_t width_ = 0;
  size_t rows_ = 0;
  std::vector<Value> values_;
};

enum class Pull : uint8_t {
  Rows,     // There are some, perhaps none; ask again.
  Pending,  // Not yet: ask again when the source has more. Nothing was lost.
  End,
};
using PullResult = Result<Pull, SqlError>;

struct ScanRequest {
  const TableSchema* table = nullptr;
  // What the first columns of the key are; empty for all rows. `key` is the same, encoded.
  std::vector<Value> prefix;
  std::string key;
  // Set if the prefix has all distribution columns: all rows are at one place.
  bool has_hash = false;
  uint64_t hash = 0;
};

// One scan, in any order. Lives on its execution's worker.
class RowCursor {
 public:
  virtual ~RowCursor() = default;

  // Resets `out` to the table's width and fills it. The values are valid until the next call.
  virtual PullResult next(Batch& out) = 0;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // The request is valid during the call only; the table, as long as the cursor.
  virtual Result<std::unique_ptr<RowCursor>, SqlError> open(const ScanRequest& request) = 0;
};

}  // namespace tidemark::sql
