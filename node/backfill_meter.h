// How far a region is with the pages of new views: in hash order the place of the cursor tells the share
// done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/types.h"
#include "node/decayed_rate.h"
#include "node/region/region_state.h"
#include "proto/messages.pb.h"

namespace tidemark {

// The share of a view's pages that are written, of the sources' hashes in this region. REQUIRES: view has
// sources as the catalog of the same state says.
uint32_t backfill_done_per_million(const RegionIdentity& identity, const Table& view,
                                   const Backfill& backfill);

class BackfillMeter {
 public:
  // A page with so many rows was written.
  void count(TableId view, uint64_t rows) { views_[view].rows += rows; }

  void sample(const RegionState& state, Micros now);

  // Of every view that the region is not through with.
  void report(const RegionState& state, pb::RegionStatus& out) const;

 private:
  struct View {
    uint64_t rows = 0;  // Since the last sample.
    DecayedRate rate;
    // Where it was when first seen at this limit: what is left takes as long as what was done since.
    std::optional<Micros> began_at;
    std::optional<uint64_t> limit;
    uint32_t began_done = 0;
    Micros micros_left{-1};
  };
  std::map<TableId, View> views_;
  Micros sampled_at_{-1};
};

}  // namespace tidemark
