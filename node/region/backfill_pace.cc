#include "node/region/backfill_pace.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {

constexpr uint64_t kSecond = 1'000'000;  // Micros.

}  // namespace

// The limit is bounded, so that products below stay far from overflow for pages up to 2^24 rows.
BackfillPace::BackfillPace(const pb::TableDefinition& view, ShardRange shards, ShardCount all)
    : shards_(shards.size()), all_shards_(all.value) {
  TM_ASSERT(shards_ > 0);
  if (view.has_backfill_rows_per_second())
    limit_ = std::min(RowsPerSecond{view.backfill_rows_per_second()}, kRowsPerSecondMax);
}

uint64_t BackfillPace::page_rows_max() const {
  TM_ASSERT(!is_paused());
  if (!is_limited()) return UINT64_MAX;
  return std::max<uint64_t>(1, limit_->value * shards_ / all_shards_);
}

Micros BackfillPace::time_for(uint64_t rows) const {
  TM_ASSERT(!is_paused());
  if (!is_limited()) return Micros{0};
  return Micros{static_cast<int64_t>(rows * kSecond * all_shards_ / (limit_->value * shards_))};
}

}  // namespace tidemark
