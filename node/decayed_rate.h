// Events per second, as of the last seconds: each sample counts less as time goes on. Integers only, so that
// the same events at the same times give the same figures everywhere.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace tidemark {

class DecayedRate {
 public:
  static constexpr Micros kMemory{
      5'000'000};  // After so long without events a rate has fallen by half or more.

  // `count` events in the time since the last sample. REQUIRES: passed > 0.
  void sample(uint64_t count, Micros passed) {
    auto memory = static_cast<uint64_t>(kMemory.value);
    auto time = static_cast<uint64_t>(passed.value);
    milli_ = (milli_ * memory + count * 1'000'000'000) / (memory + time);
  }

  uint64_t per_second() const { return (milli_ + 500) / 1000; }

 private:
  uint64_t milli_ = 0;  // Events per 1000 seconds.
};

}  // namespace tidemark
