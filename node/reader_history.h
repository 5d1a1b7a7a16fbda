// Places in a stream where a reader may start: offsets with the fence in force there. A queue that fell
// behind, or that opens at a committed position before this process's first record, starts at the nearest
// one. Kept from the lowest committed position on, in checkpoints too; thinned out, so that their number is
// bounded.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"
#include "wal/reader_rule.h"

namespace tidemark {

class ReaderHistory {
 public:
  static constexpr size_t kStatesMax = 512;

  ReaderHistory() = default;
  explicit ReaderHistory(std::vector<ReaderState> states) : states_(std::move(states)) {}

  // After a valid record. REQUIRES: in order.
  void note(const ReaderState& after);
  // Nobody will start before the offset any more. Keeps the nearest state at or before it.
  void forget_before(Offset floor);

  // The nearest state at or before the offset; the beginning of the stream if there is none.
  ReaderState at_or_before(Offset from) const;

  const std::vector<ReaderState>& states() const { return states_; }

 private:
  void thin_out();

  std::vector<ReaderState> states_;
  uint64_t stride_ = 64;  // Records between two states of one incarnation.
};

}  // namespace tidemark
