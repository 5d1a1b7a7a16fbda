// Rubbish for a port that expects a protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace tidemark::crash {

// Opens `connections` one after another and sends each some rubbish: random bytes, lengths that announce far
// too much, beginnings without an end; leaves some of them open until the end. Returns how many were
// accepted.
size_t flood(uint16_t port, size_t connections, Random& random);

}  // namespace tidemark::crash
