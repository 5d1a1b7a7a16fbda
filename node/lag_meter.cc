#include "node/lag_meter.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

void LagMeter::note(Offset at, int64_t written_at_micros, TableSet tables) {
  add({at, at, written_at_micros, tables});
}

void LagMeter::note_unknown(Offset begin, Offset end, int64_t written_at_micros) {
  if (begin < end) add({begin, Offset{end.value - 1}, written_at_micros, TableSet::all()});
}

void LagMeter::add(const Run& run) {
  TM_ASSERT(runs_.empty() || runs_.back().last < run.first, run.first);
  if (runs_.capacity() == 0) runs_.reserve(kRunsMax);
  if (runs_.size() == kRunsMax) take_together();
  runs_.push_back(run);
}

// The newest are told apart best: they are taken together last.
void LagMeter::take_together() {
  size_t kept = 0;
  for (size_t i = 0; i + 1 < runs_.size(); i += 2, ++kept) {
    runs_[kept] = {runs_[i].first,
                   runs_[i + 1].last,
                   runs_[i].written_at_micros,
                   {runs_[i].tables.bits | runs_[i + 1].tables.bits}};
  }
  runs_.resize(kept);
}

void LagMeter::forget_before(Offset floor) {
  auto open =
      std::partition_point(runs_.begin(), runs_.end(), [floor](const Run& run) { return run.last < floor; });
  runs_.erase(runs_.begin(), open);
}

Lag LagMeter::lag(TableSet tables, Offset floor, int64_t now_micros) const {
  auto concerns = [&](const Run& run) { return floor <= run.last && run.tables.overlaps(tables); };
  auto oldest = std::find_if(runs_.begin(), runs_.end(), concerns);
  if (oldest == runs_.end()) return {};
  auto newest = std::find_if(runs_.rbegin(), runs_.rend(), concerns);
  uint64_t first = std::max(oldest->first, floor).value;
  // Another machine's clock may have been ahead of ours.
  return {newest->last.value + 1 - first, std::max<int64_t>(0, now_micros - oldest->written_at_micros)};
}

}  // namespace tidemark
