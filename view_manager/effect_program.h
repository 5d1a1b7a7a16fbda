// What turns changes into effects: the plans of all views, as a function of the catalog version that a record
// carries. Pure: the same change and version give the same effects in the same order, whoever asks.
#pragma once

#include "base/types.h"
#include "proto/change.h"
#include "view_manager/combiner.h"
#include "view_manager/effect_writer.h"

namespace tidemark {

struct RecordContext {
  CatalogVersion catalog_version;
  TableId page_of;  // A backfill page: for this view only. 0: live changes, for all.
};

class EffectProgram : public SumLayouts {
 public:
  // Records of a version not yet known wait.
  virtual bool knows(CatalogVersion version) const = 0;

  // REQUIRES: knows(context.catalog_version). False: the change is malformed.
  [[nodiscard]] virtual bool effects_of(const Change& change, const RecordContext& context,
                                        EffectWriter& out) = 0;

  // The last page of a view's backfill in the stream that has shard 0.
  virtual void end_of_backfill(const RecordContext& context, EffectWriter& out) = 0;
};

}  // namespace tidemark
