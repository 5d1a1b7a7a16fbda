// Longer texts are refused: a row could not hold them, and a statement should not take a node's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sql/types/fault.h"

namespace tidemark::sql {

inline constexpr int64_t kTextBytesMax = 16 << 20;
inline constexpr Fault kTooLong{sqlstate::kProgramLimitExceeded, "requested length too large"};

inline bool is_too_long(size_t bytes) {
  return bytes > static_cast<size_t>(kTextBytesMax);
}

}  // namespace tidemark::sql
