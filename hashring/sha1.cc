#include "hashring/sha1.h"

#include <bit>
#include <string>

namespace tidemark::hashring {

namespace {

constexpr size_t kBlockBytes = 64;

using State = std::array<uint32_t, 5>;

// The message, a one bit, zeros, and the length in bits, to whole blocks.
std::string padded(std::string_view bytes) {
  std::string message(bytes);
  message.push_back(static_cast<char>(0x80));
  while (message.size() % kBlockBytes != kBlockBytes - 8) message.push_back('\0');
  const uint64_t bits = bytes.size() * 8;
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<char>(bits >> shift));
  return message;
}

uint32_t mixed(int round, const State& s) {
  const uint32_t b = s[1], c = s[2], d = s[3];
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

void absorb(std::string_view block, State& state) {
  std::array<uint32_t, 80> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = 0;
    for (size_t byte = 0; byte < 4; ++byte) w[i] = w[i] << 8 | static_cast<uint8_t>(block[4 * i + byte]);
  }
  for (size_t i = 16; i < w.size(); ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

  State s = state;
  for (int round = 0; round < 80; ++round) {
    const uint32_t next = std::rotl(s[0], 5) + mixed(round, s) + s[4] + w[static_cast<size_t>(round)];
    s = {next, s[0], std::rotl(s[1], 30), s[2], s[3]};
  }
  for (size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

}  // namespace

Sha1Digest sha1(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string message = padded(bytes);
  for (size_t at = 0; at < message.size(); at += kBlockBytes) {
    absorb(std::string_view(message).substr(at, kBlockBytes), state);
  }
  Sha1Digest digest;
  for (size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

uint64_t top_bits(const Sha1Digest& digest) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value = value << 8 | digest[i];
  return value;
}

}  // namespace tidemark::hashring
