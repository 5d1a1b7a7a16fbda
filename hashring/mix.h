// Hashing for placements that are not defined by SHA-1, and the draws of simulations: the same numbers on
// every machine and in every build.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::hashring {

// A bijection of 64 bits in which every input bit reaches every output bit.
constexpr uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The i-th number of the sequence that `seed` names.
constexpr uint64_t draw(uint64_t seed, uint64_t i) {
  return mix(seed + (i + 1) * 0x9e3779b97f4a7c15);
}

constexpr uint64_t hash_name(std::string_view name) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : name) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return mix(h);
}

}  // namespace tidemark::hashring
