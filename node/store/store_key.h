// Ranges of store keys: those of a table, and of a run of shards within a table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "node/row_store.h"

namespace tidemark {

// The hashes of a run of shards: [first, last], both included, since the last shard ends at 2^64.
struct HashSpan {
  uint64_t first = 0;
  uint64_t last = 0;
  bool contains(uint64_t hash) const { return first <= hash && hash <= last; }
};

// REQUIRES: the range is not empty and lies within `shards`.
inline HashSpan hash_span(ShardRange range, ShardCount shards) {
  int shift = 64 - std::countr_zero(shards.value);
  auto start = [&](uint32_t shard) { return shift == 64 ? 0 : uint64_t{shard} << shift; };
  uint64_t last = range.end.value == shards.value ? UINT64_MAX : start(range.end.value) - 1;
  return {start(range.begin.value), last};
}

struct DecodedStoreKey {
  TableId table;
  uint64_t hash = 0;
  std::string_view key;
};
inline std::optional<DecodedStoreKey> decode_store_key(std::string_view bytes) {
  ByteReader reader(bytes);
  DecodedStoreKey out;
  out.table = TableId{reader.ordered32()};
  out.hash = reader.ordered64();
  if (!reader.ok()) return std::nullopt;
  out.key = reader.left();
  return out;
}

}  // namespace tidemark
