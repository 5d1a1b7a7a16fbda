// How fast the pages of one view may be written in one region: its share of the limit that the catalog sets
// for the whole view, by its share of the shards. So the regions need not agree on anything, and the children
// of a split keep together to what their parent kept to. A value.
#pragma once

#include <cstdint>
#include <optional>

#include "base/rows_per_second.h"
#include "base/types.h"
#include "proto/catalog.pb.h"

namespace tidemark {

class BackfillPace {
 public:
  BackfillPace(const pb::TableDefinition& view, ShardRange shards, ShardCount all);

  bool is_limited() const { return limit_.has_value(); }
  bool is_paused() const { return limit_ == RowsPerSecond{0}; }

  // The most rows of one page: what a second may bring, so that a slow backfill goes evenly; at least one.
  // REQUIRES: not paused.
  uint64_t page_rows_max() const;
  // How long after a page with so many rows the next one may follow. REQUIRES: not paused.
  Micros time_for(uint64_t rows) const;

 private:
  std::optional<RowsPerSecond> limit_;  // Of the whole view.
  uint64_t shards_;
  uint64_t all_shards_;
};

}  // namespace tidemark
