// How fast a backfill may go.
#pragma once

#include "base/types.h"

namespace tidemark {

TM_QUANTITY(RowsPerSecond, uint64_t)  // 0: paused.

inline constexpr RowsPerSecond kRowsPerSecondMax{1'000'000'000};  // A higher limit would be none.

}  // namespace tidemark
