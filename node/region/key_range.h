// Places in a table's order of (hash, key).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

struct RowPlace {
  uint64_t hash = 0;
  std::string key;
};

// A place at or behind which no row with this hash and a key that begins with `prefix` lies, and before which
// all of them do; nearly: behind the greatest hash of all there is none, and a key longer than any will do.
inline RowPlace end_of_group(uint64_t hash, std::string_view prefix) {
  constexpr size_t kKeyBytesMax = 256 * 1024;
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) {
    ++end.back();
    return {hash, std::move(end)};
  }
  if (hash != UINT64_MAX) return {hash + 1, {}};
  return {hash, std::string(kKeyBytesMax, '\xff')};
}

}  // namespace tidemark
