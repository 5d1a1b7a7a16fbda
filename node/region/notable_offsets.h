// Which records of a stream are worth telling that they were passed: those with changes, cuts, the last pages
// of backfills. Kept as runs of offsets above what every lane has committed. Their number is bounded: beyond
// it the oldest are taken together, which at worst records progress a little too often.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"

namespace tidemark {

struct OffsetRun {
  Offset begin;
  Offset end;
  bool operator==(const OffsetRun&) const = default;
};

class NotableOffsets {
 public:
  static constexpr size_t kRunsMax = 256;

  // REQUIRES: offsets come in order; one may come twice.
  void add(Offset at);
  void forget_before(Offset floor);
  // Is any in [from, to)?
  bool any_in(Offset from, Offset to) const;

  const std::vector<OffsetRun>& runs() const { return runs_; }
  void add_run(OffsetRun run) { runs_.push_back(run); }
  bool operator==(const NotableOffsets&) const = default;

 private:
  std::vector<OffsetRun> runs_;
};

}  // namespace tidemark
