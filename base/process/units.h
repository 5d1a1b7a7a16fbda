// Spans of time and sizes as people write them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

struct ByteSize {
  uint64_t value = 0;
  auto operator<=>(const ByteSize&) const = default;
};

// A whole number and a unit: "250ms"; us, ms, s, min, h.
Result<Micros> parse_duration(std::string_view text);
std::string show_duration(Micros duration);

// "64MB": B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024); a bare number is bytes.
Result<ByteSize> parse_size(std::string_view text);
std::string show_size(ByteSize size);

}  // namespace tidemark
