// SHA-1, only because the tokens of the ring of ranked tokens are defined by it. Not for security.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark::hashring {

using Sha1Digest = std::array<uint8_t, 20>;

Sha1Digest sha1(std::string_view bytes);

// The first 64 bits of a digest, as a big-endian number.
uint64_t top_bits(const Sha1Digest& digest);

}  // namespace tidemark::hashring
