// RocksDB as the disk under a row cache. Included by the RocksDB driver only.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/store/row_cache.h"

namespace tidemark {

// Keys of a table that no user has: what a node notes beside its rows.
inline constexpr TableId kMetaTable{UINT32_MAX};

class RocksBackend : public RowBackend {
 public:
  RocksBackend(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<rocksdb::Cache> cache,
               std::function<void(const std::string&)> on_unreadable);
  ~RocksBackend() override;

  // Whether the last write was refused only because RocksDB has to flush or compact first: it never waits for
  // that, since the loop would. It ends by itself, and soon.
  bool stalled() const { return stalled_; }

  // Called whenever the disk does not take a write.
  void set_on_refused(std::function<void()> on_refused) { on_refused_ = std::move(on_refused); }

  Status write(const std::vector<Write>& writes) override;
  void erase_range(TableId table, HashSpan hashes) override;
  void erase_key(const std::string& key);
  bool owes_erasures() const { return !unerased_.empty(); }  // Until a write is taken, also an empty one.
  bool get(std::string_view key, std::string& row) override;
  std::unique_ptr<Cursor> seek(TableId table, std::string_view key, Direction direction) override;

  // Iterators kept for the next cursor hold on to memory and files that a flush would let go.
  void drop_idle();

  // The next table at or after `table` that has a row; none: no more.
  std::optional<TableId> next_table(TableId table);

  rocksdb::DB& database() { return *database_; }
  size_t memory_bytes() const;

 private:
  class RocksCursor;
  struct TableIterator;
  struct KeyRange {
    std::string begin;
    std::string end;  // Not in it.
    bool contains(std::string_view key) const { return begin <= key && key < end; }
  };
  void erase_keys(KeyRange range);
  const KeyRange* unerased(std::string_view key) const;  // nullptr: what the disk has of the key counts.
  std::unique_ptr<TableIterator> take_iterator(TableId table);
  void keep_iterator(std::unique_ptr<TableIterator> iterator);
  void unreadable(const rocksdb::Status& status);

  std::unique_ptr<rocksdb::DB> database_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::function<void(const std::string&)> on_unreadable_;
  std::function<void()> on_refused_ = [] {};
  rocksdb::WriteOptions write_options_;
  // Erased, and the disk has refused to. It takes nothing before it has taken these, so all that it has in
  // them is from before.
  std::vector<KeyRange> unerased_;
  // To make an iterator costs several times what it costs to seek by it. Nothing on disk changes between two
  // writes, so until the next one they are as good as new.
  std::vector<std::unique_ptr<TableIterator>> idle_;
  uint64_t writes_ = 0;
  bool stalled_ = false;
};

}  // namespace tidemark
