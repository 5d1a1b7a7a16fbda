// Rubbish for a port that expects a protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/random.h"

namespace tidemark::crash {

using Rubbish = std::function<std::string(Random&)>;

// Random bytes, lengths that announce far too much, beginnings without an end.
std::string any_rubbish(Random& random);
// Also what comes after a proper greeting: frames that are no messages, and messages that say nothing
// sensible.
std::string rubbish_for_node(Random& random);

// Opens `connections` one after another and sends each some rubbish; leaves some of them open until the end.
// Returns how many were accepted.
size_t flood(uint16_t port, size_t connections, Random& random, const Rubbish& rubbish = any_rubbish);

}  // namespace tidemark::crash
