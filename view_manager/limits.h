// What bounds a view manager's memory and patience. All by configuration.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace tidemark {

struct ViewManagerLimits {
  // Input that nodes may send ahead, over all queues: granted as credits. A credit can not be taken back from
  // a queue that does not use it, so each queue may pass this by the least window, and by one entry.
  size_t input_bytes_max = size_t{64} << 20;
  size_t queue_bytes_min = size_t{64} << 10;  // The least window of a queue.
  // Effects computed and not yet acknowledged. Passed by at most the effects of one record.
  size_t effects_bytes_max = size_t{128} << 20;

  size_t batch_bytes_max = size_t{256} << 10;  // Before combining.
  uint32_t batch_effects_max = 8192;           // Before combining.
  uint32_t batches_in_flight_max = 2;          // Per destination part; more wait and combine.

  Micros answer_timeout{500'000};   // Then a destination is asked where it is.
  Micros stall_timeout{2'000'000};  // Of one that does nothing: then it may be parked, if memory is short.
  Micros busy_delay{5'000};         // Before a busy destination is tried again.
  Micros report_interval{50'000};   // Between reports of mere progress; markers are reported at once.
  Micros repeat_interval{500'000};  // Between repetitions of what was perhaps lost.
};

}  // namespace tidemark
