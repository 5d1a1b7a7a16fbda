// No log is discarded early (docs/design.md, "What must always hold", 8): a prefix goes only when every
// replica of the region has it in a durable checkpoint, at least two of them in a cluster, and every lane has
// committed past it; a sealed stream, when its lanes have committed past the seal and every replica of the
// children has a checkpoint of its own; a stream that is not sealed, only if nothing was ever done in it.
#pragma once

#include <vector>

#include "tests/simulation/checker.h"

namespace tidemark::sim {

class NoEarlyTrim : public Checker {
 public:
  explicit NoEarlyTrim(Evidence& evidence);
  const char* property() const override { return "no record trimmed early"; }
  void on_record(const SeenRecord& record, const SeenStream& stream) override;
  void on_trimmed(const SeenStream& stream, Offset begin) override;
  void on_removed(const SeenStream& stream) override;

 private:
  size_t checkpoints(RegionId region, Offset least) const;
  // A replica that needs what lies before the offset; "" if none does.
  std::string who_needs_more(const pb::RegionEntry& region, Offset least) const;
  // Of a lost disk the coordinator hears when its node is back: one of the two may be gone by then.
  size_t needed() const {
    return evidence_.scenario.embedded > 0 || evidence_.scenario.lose_disk > 0 ? 1 : 2;
  }

  std::vector<Position> committed_;  // Recorded, per lane.
  std::map<RegionId, ShardRange> ranges_;
};

}  // namespace tidemark::sim
