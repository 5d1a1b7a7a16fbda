// How many slices random slicing leaves behind after a long history of changes.
#pragma once

#include <functional>

#include "hashring/random_slicing.h"

namespace tidemark::hashring {

// What happens to the members, change after change.
enum class History : uint8_t {
  Growing,      // One joins, again and again.
  Churning,     // One joins, then one of the others leaves, and so on.
  Replacing,    // A random one is replaced by a new one of the same weight, at once.
  Reweighting,  // Random members get random weights from 1 to 8.
};

struct HistoryStep {
  uint32_t change;
  size_t members;
  size_t slices;
  double moved;    // Share of the ring, of this change.
  double minimum;  // What no placement with these shares could undercut.
};

// Calls `each` for the start (change 0) and after each change. The same seed gives the same history of
// members for every gap collection.
void run_history(History history, GapCollection collection, RingSize size, uint32_t members_at_start,
                 uint32_t changes, uint64_t seed, const std::function<void(const HistoryStep&)>& each);

// The members before any change and after each, for other strategies.
std::vector<Members> members_of(History history, uint32_t members_at_start, uint32_t changes, uint64_t seed);

}  // namespace tidemark::hashring
