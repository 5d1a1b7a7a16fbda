// Durations, and which of them are typical.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tidemark::bench {

// The value that `share` of them do not exceed; 0 if there are none.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace tidemark::bench
