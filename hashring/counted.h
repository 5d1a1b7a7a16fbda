// Algorithms whose comparisons count as work.
#pragma once

#include <algorithm>

#include "hashring/types.h"

namespace tidemark::hashring {

inline void count(Work* work, uint64_t steps = 1) {
  if (work != nullptr) work->steps += steps;
}

template <typename Range, typename Less>
void counted_sort(Range& range, Less less, Work* work) {
  std::sort(range.begin(), range.end(), [&](const auto& a, const auto& b) {
    count(work);
    return less(a, b);
  });
}

}  // namespace tidemark::hashring
