#include "node/region/notable_offsets.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {

// The first run that ends after `at`.
auto first_after(const std::vector<OffsetRun>& runs, Offset at) {
  return std::partition_point(runs.begin(), runs.end(), [at](const OffsetRun& run) { return run.end <= at; });
}

}  // namespace

void NotableOffsets::add(Offset at) {
  if (!runs_.empty() && at < runs_.back().end) {
    TM_ASSERT(at.value + 1 == runs_.back().end.value, at, runs_.back().end);
    return;
  }
  if (!runs_.empty() && runs_.back().end == at) {
    ++runs_.back().end.value;
    return;
  }
  if (runs_.size() == kRunsMax) {
    runs_[1].begin = runs_[0].begin;
    runs_.erase(runs_.begin());
  }
  runs_.push_back({at, Offset{at.value + 1}});
}

void NotableOffsets::forget_before(Offset floor) {
  runs_.erase(runs_.begin(), first_after(runs_, floor));
  if (!runs_.empty()) runs_.front().begin = std::max(runs_.front().begin, floor);
}

bool NotableOffsets::any_in(Offset from, Offset to) const {
  auto run = first_after(runs_, from);
  return run != runs_.end() && run->begin < to && from < to;
}

}  // namespace tidemark
