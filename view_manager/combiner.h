// Combines the effects of a batch per row: adds are summed, of puts and deletes the last wins. Its memory is
// reused from batch to batch. Effects that combine to nothing are kept: a region's positions move only with a
// batch, so leaving them out would lose their place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/effect.h"
#include "sql/types/arena.h"
#include "sql/types/row_encoding.h"
#include "sql/types/value.h"

namespace tidemark {

// How the rows of tables that are added to (SUM and MULTISET) are laid out.
class SumLayouts {
 public:
  virtual ~SumLayouts() = default;
  // REQUIRES: some effect computed here adds to the table.
  virtual const sql::RowLayout& sum_layout(TableId table) const = 0;
};

class Combiner {
 public:
  // `layouts` is asked while combining only.
  explicit Combiner(const SumLayouts& layouts) : layouts_(&layouts) { table_.resize(kSlotsMin); }

  // The effect's views must live until clear(). REQUIRES: effects on a row come in their order.
  void add(const Effect& effect);

  size_t rows() const { return rows_.size(); }
  size_t combined() const { return combined_; }
  // In the order in which the rows first came.
  void append_to(std::string& out);
  void clear();

 private:
  static constexpr size_t kSlotsMin = 256;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Row {
    Effect effect;
    uint64_t key_hash = 0;
    uint32_t values = kNone;  // Index of the sum's first column in values_, once there are two adds.
    const sql::RowLayout* layout = nullptr;
  };

  uint32_t& slot_of(const Effect& effect, uint64_t key_hash);
  void grow();
  void sum_up(Row& row, std::string_view more);

  const SumLayouts* layouts_;
  std::vector<uint32_t> table_;  // Open addressing: index into rows_ plus one; 0 is free.
  std::vector<Row> rows_;
  std::vector<sql::Value> values_;
  sql::Arena arena_;
  std::string scratch_;
  size_t combined_ = 0;
};

}  // namespace tidemark
