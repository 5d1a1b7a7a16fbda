#include "node/reader_history.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

void ReaderHistory::note(const ReaderState& after) {
  if (!states_.empty()) {
    const ReaderState& last = states_.back();
    if (after.next <= last.next) return;  // Replayed after a restart.
    bool same_fence = last.incarnation == after.incarnation && last.fence_version == after.fence_version;
    if (same_fence && !after.sealed && after.next.value - last.next.value < stride_) return;
  }
  states_.push_back(after);
  if (states_.size() > kStatesMax) thin_out();
}

void ReaderHistory::forget_before(Offset floor) {
  auto first_after = std::upper_bound(states_.begin(), states_.end(), floor,
                                      [](Offset at, const ReaderState& state) { return at < state.next; });
  if (first_after == states_.begin()) return;
  states_.erase(states_.begin(), std::prev(first_after));
}

ReaderState ReaderHistory::at_or_before(Offset from) const {
  auto first_after = std::upper_bound(states_.begin(), states_.end(), from,
                                      [](Offset at, const ReaderState& state) { return at < state.next; });
  if (first_after == states_.begin()) return ReaderState{};
  return *std::prev(first_after);
}

// Every other one goes: each that stays is exact by itself.
void ReaderHistory::thin_out() {
  stride_ *= 2;
  std::vector<ReaderState> kept;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (i % 2 == 0 || i + 1 == states_.size()) kept.push_back(states_[i]);
  }
  states_ = std::move(kept);
}

}  // namespace tidemark
