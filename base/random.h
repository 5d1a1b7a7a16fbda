// Seeded pseudo-random numbers (xoshiro256**): the same seed gives the same numbers on every machine. Cores
// get theirs from outside, so that a simulation's seed decides everything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.h"

namespace tidemark {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = split_mix(seed);
  }

  uint64_t next() {
    uint64_t result = rotate(state_[1] * 5, 7) * 9;
    uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t below(uint64_t bound) {
    TM_ASSERT(bound > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value = next();
    while (value >= limit) value = next();
    return value % bound;
  }
  // Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    TM_ASSERT(low <= high, low, high);
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

  // A generator of its own, independent of later draws from this one.
  Random fork() { return Random(next()); }

 private:
  static uint64_t rotate(uint64_t value, int by) { return value << by | value >> (64 - by); }
  static uint64_t split_mix(uint64_t& seed) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_[4];
};

}  // namespace tidemark
