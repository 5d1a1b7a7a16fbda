// The rows of a node's regions as cores see them. In production a memory-bounded cache over RocksDB; in
// tests and the simulation a sorted map. Reading is synchronous: a miss reads the disk.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/types.h"

namespace tidemark {

// (table, hash, key): one table is a range, and so is a split of it.
struct StoreKey {
  TableId table;
  uint64_t hash = 0;
  std::string key;
  auto operator<=>(const StoreKey&) const = default;
};

// Encoded so that bytes compare as keys do.
inline std::string encode_store_key(TableId table, uint64_t hash, std::string_view key) {
  std::string out;
  out.reserve(12 + key.size());
  put_ordered32(out, table.value);
  put_ordered64(out, hash);
  out.append(key);
  return out;
}

class RowCursor {
 public:
  virtual ~RowCursor() = default;
  virtual bool valid() const = 0;
  virtual void next() = 0;  // In the cursor's direction.
  // Views are good until the cursor moves or the store is written.
  virtual uint64_t hash() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view row() const = 0;
};

enum class Direction : bool { Forward, Backward };

struct RowAddress {
  TableId table;
  uint64_t hash = 0;
  std::string_view key;
};

inline constexpr size_t kPrefetchRows = 16;  // A good number at once.

class RowStore {
 public:
  virtual ~RowStore() = default;

  // These rows are about to be read or written: a hint, with which memory is fetched for many at once.
  virtual void prefetch(std::span<const RowAddress>) {}

  // False: memory is at its bound and the disk takes nothing. Whoever would bring more rows waits until a
  // save has made room.
  virtual bool has_room() const { return true; }

  // The view is good until the next call. None: no row.
  virtual std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) = 0;

  // Only durable rows are written (what is in flight lies in the region's overlay).
  virtual void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) = 0;
  virtual void erase(TableId table, uint64_t hash, std::string_view key) = 0;
  // All of these tables at once: it may cost a look at every row in memory.
  virtual void erase_tables(std::span<const TableId> tables, ShardRange shards) = 0;

  // From the first row at or after (Forward) or at or before (Backward) the given place.
  virtual std::unique_ptr<RowCursor> seek(TableId table, uint64_t hash, std::string_view key,
                                          Direction direction) = 0;
};

}  // namespace tidemark
