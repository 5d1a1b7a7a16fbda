// Rows as bytes, read in place column by column. The format is in docs/formats.md, "Rows and keys".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/fault.h"
#include "sql/types/value.h"

namespace tidemark::sql {

inline constexpr uint8_t kRowVersion = 1;
inline constexpr size_t kRowColumnsMax = 1600;

// Where the columns of a table's rows lie: computed once per table, shared by all its rows.
class RowLayout {
 public:
  RowLayout() = default;
  // REQUIRES: at most kRowColumnsMax columns, none of kind null, interval or unknown.
  explicit RowLayout(std::span<const TypeKind> columns);

  size_t column_count() const { return slots_.size(); }
  TypeKind kind(size_t column) const { return slots_[column].kind; }

 private:
  friend class RowView;
  friend void append_row(const RowLayout&, std::span<const Value>, std::string&);

  struct Slot {
    TypeKind kind;
    uint8_t width;  // Bytes in the fixed part; kVariable columns keep their end there.
    bool is_variable;
    uint32_t offset;   // In the fixed part.
    int32_t previous;  // The last variable column before it, or -1.
  };

  std::vector<Slot> slots_;
};

// Appends the row. Equal rows give equal bytes, where equal means the same scale of numerics, too.
// REQUIRES: one value per column of `layout`, each NULL or of its column's kind.
void append_row(const RowLayout& layout, std::span<const Value> values, std::string& out);

// A row in memory owned elsewhere, checked. `layout` and the bytes must outlive it.
class RowView {
 public:
  RowView() = default;

  // Checks all that reading relies on: total, any bytes give a view or XX001. A row with fewer columns than
  // the layout was written before the others were added: they are NULL.
  static Fault parse(const RowLayout& layout, std::string_view bytes, RowView& out);

  size_t column_count() const { return layout_->column_count(); }
  // Points into the row where it is large. REQUIRES: column < column_count().
  Value get(size_t column) const;

 private:
  bool is_null(size_t column) const {
    return column >= columns_ || (bytes_[kHeaderBytes + column / 8] >> (column % 8) & 1) != 0;
  }
  uint32_t end_of(int32_t column) const;
  std::string_view variable(size_t column) const;
  bool check() const;

  static constexpr size_t kHeaderBytes = 3;
  friend void append_row(const RowLayout&, std::span<const Value>, std::string&);

  const RowLayout* layout_ = nullptr;
  std::string_view bytes_;
  size_t columns_ = 0;   // In the row.
  size_t fixed_at_ = 0;  // Where the fixed part begins.
  size_t variable_at_ = 0;
};

}  // namespace tidemark::sql
