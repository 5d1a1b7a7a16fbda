// RocksDB as the disk under a row cache. Included by the RocksDB driver only.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <string>

#include "node/store/row_cache.h"

namespace tidemark {

// Keys of a table that no user has: what a node notes beside its rows.
inline constexpr TableId kMetaTable{UINT32_MAX};

class RocksBackend : public RowBackend {
 public:
  RocksBackend(std::unique_ptr<rocksdb::DB> database, std::shared_ptr<rocksdb::Cache> cache,
               std::function<void(const std::string&)> on_unreadable);
  ~RocksBackend() override;

  Status write(const std::vector<Write>& writes) override;
  void erase_range(TableId table, HashSpan hashes) override;
  bool get(std::string_view key, std::string& row) override;
  std::unique_ptr<Cursor> seek(TableId table, std::string_view key, Direction direction) override;

  // The next table at or after `table` that has a row; none: no more.
  std::optional<TableId> next_table(TableId table);

  rocksdb::DB& database() { return *database_; }
  size_t memory_bytes() const;

 private:
  class RocksCursor;
  void unreadable(const rocksdb::Status& status);

  std::unique_ptr<rocksdb::DB> database_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::function<void(const std::string&)> on_unreadable_;
  rocksdb::WriteOptions write_options_;
};

}  // namespace tidemark
