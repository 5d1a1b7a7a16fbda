// A memory-bounded cache of rows over a disk. Rows that the disk does not have yet are pinned until they are
// written back; the rest goes by the clock algorithm. Not thread-safe: lives on the node's loop.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/row_store.h"
#include "node/store/ordered_items.h"
#include "node/store/store_key.h"

namespace tidemark {

// The disk under the cache. Keys are those of encode_store_key(). Reading blocks. A disk that can not be read
// ends the process: the log has everything, and a row that was not read has no good answer.
class RowBackend {
 public:
  virtual ~RowBackend() = default;

  struct Write {
    std::string_view key;
    std::optional<std::string_view> row;  // None: erased.
  };
  // In key order. Error: the disk took none of it, and may later.
  virtual Status write(const std::vector<Write>& writes) = 0;
  // Nobody reads the rows from now on. What the disk does not erase now goes before the next write it takes.
  virtual void erase_range(TableId table, HashSpan hashes) = 0;

  virtual bool get(std::string_view key, std::string& row) = 0;

  class Cursor {
   public:
    virtual ~Cursor() = default;
    virtual bool valid() const = 0;
    virtual void next() = 0;
    virtual std::string_view key() const = 0;
    virtual std::string_view row() const = 0;
  };
  // Rows of one table from the first at or after (Forward), at or before (Backward) the key.
  virtual std::unique_ptr<Cursor> seek(TableId table, std::string_view key, Direction direction) = 0;
};

class RowCache : public RowStore {
 public:
  struct Options {
    size_t bytes_max = size_t{256} << 20;  // Of the cache: rows, keys and what it takes to find them.
    size_t write_back_rows = 64;           // At a time, when too much is dirty.
  };
  struct Figures {
    size_t rows = 0;
    size_t bytes = 0;
    size_t dirty_rows = 0;
    size_t dirty_bytes = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t evicted = 0;
    uint64_t written_back = 0;
    uint64_t passes = 0;  // Over all rows, to erase some of them.
  };

  RowCache(ShardCount shards, RowBackend& backend, Options options);
  ~RowCache() override;
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  void prefetch(std::span<const RowAddress> places) override;
  std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) override;
  void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) override;
  void erase(TableId table, uint64_t hash, std::string_view key) override;
  void erase_tables(std::span<const TableId> tables, ShardRange shards) override;
  std::unique_ptr<RowCursor> seek(TableId table, uint64_t hash, std::string_view key,
                                  Direction direction) override;

  // Writes back up to `rows_max` dirty rows in key order, the first at or after `from`. Gives the key to go
  // on from; none: the end was reached. Error: nothing was written.
  Result<std::optional<std::string>> write_back(std::string_view from, size_t rows_max);

  // Tables with rows that the disk may not have yet.
  std::set<TableId> dirty_tables() const;

  bool has_room() const override { return !failing_ || figures_.bytes <= options_.bytes_max; }
  const Figures& figures() const { return figures_; }
  const std::optional<std::string>& last_error() const { return last_error_; }

 private:
  struct Row;
  class Cursor;
  // Open addressing: the fingerprint lies beside the pointer, so that looking costs a look at the row itself
  // only where it is the right one, and growing none.
  struct Slot {
    uint64_t fingerprint = 0;
    Row* row = nullptr;
  };

  std::string_view encode(TableId table, uint64_t hash, std::string_view key);
  size_t home_of(uint64_t fingerprint) const { return fingerprint & (slots_.size() - 1); }
  Row* find(std::string_view key, uint64_t fingerprint) const;
  Row* insert(std::string_view key, uint64_t fingerprint, std::string_view row, size_t spare);
  void assign(std::string_view key, std::optional<std::string_view> row);
  void set_dirty(Row* row);
  void set_clean(Row* row);
  void remove(Row* row);
  void link_clock(Row* row);
  void unlink_clock(Row* row);
  void put_in_slot(Row* row);
  void clear_slot(const Row* row);
  void grow_slots();
  void limit_dirty();
  void make_room();
  bool evict_one();

  ShardCount shards_;
  RowBackend& backend_;
  Options options_;
  std::vector<Slot> slots_;
  OrderedItems<Row> dirty_;
  Row* hand_ = nullptr;  // Of the clock: all rows lie in a ring.
  std::string write_back_from_;
  std::string scratch_key_;
  std::string scratch_row_;
  uint64_t writes_ = 0;
  bool failing_ = false;
  std::optional<std::string> last_error_;
  Figures figures_;
};

}  // namespace tidemark
