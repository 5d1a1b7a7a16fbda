// Builds the next batch for a destination: what was not yet sent, combined per row, from all queues.
//
// All lanes of a queue move together, whether they have effects in the batch or not, so that chains stay a
// few runs long. A batch ends between records where it can; inside one where it must: then lanes are done one
// after the other, and only the last may end between two of its effects.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/types.h"
#include "proto/messages.pb.h"
#include "view_manager/combiner.h"
#include "view_manager/destination.h"
#include "view_manager/limits.h"
#include "view_manager/source_queue.h"

namespace tidemark {

class BatchBuilder {
 public:
  using Queues = std::vector<std::unique_ptr<SourceQueue>>;

  BatchBuilder(const SumLayouts& layouts, const ViewManagerLimits& limits)
      : limits_(limits), combiner_(layouts) {}

  // Fills `out` and moves the destination's chain. False: there is nothing to send. `first` is the index of
  // the queue to begin with, for fairness.
  bool build(Destination& destination, const Queues& queues, size_t first, pb::EffectBatch& out);

  // Statistics since the start.
  struct Counts {
    uint64_t effects = 0;   // Sent, before combining.
    uint64_t combined = 0;  // Saved by it.
    uint64_t inside_record = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Move {
    ShardRange lanes;
    Position prev, to, floor;
  };
  enum class Taken : uint8_t { Nothing, Some, Full };

  size_t effects_max(const Destination& destination) const {
    return std::min(destination.effects_max, limits_.batch_effects_max);
  }
  Taken take(Destination& destination, SourceQueue& queue);
  void take_inside(const Destination& destination, const SourceQueue& queue, EffectEntry& entry);
  void collect_unsent(const Destination& destination, EffectEntry& entry, Position sent_highest);
  void add_moves(const Destination& destination, const SourceQueue& queue, ShardRange lanes, Position to);
  void add_effect(const EffectEntry& entry, const StoredEffect& effect);
  void finish(Destination& destination, pb::EffectBatch& out);

  const ViewManagerLimits limits_;
  Combiner combiner_;
  Counts counts_;

  // Of the batch being built.
  std::vector<const StoredEffect*> unsent_;  // Of one entry.
  std::vector<Move> moves_;
  size_t bytes_ = 0;
  size_t effects_ = 0;
  CatalogVersion catalog_version_;
};

}  // namespace tidemark
