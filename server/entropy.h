// Seeds for the random numbers of roles, and the time of day for people: what cores may not ask for
// themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace tidemark {

inline uint64_t entropy() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// Microseconds since 1970.
inline int64_t wall_clock_micros() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

}  // namespace tidemark
