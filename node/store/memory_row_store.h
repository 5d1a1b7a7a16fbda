// Rows in a sorted map: the twin of the row cache for tests and the simulation.
#pragma once

#include <map>
#include <string>

#include "node/row_store.h"

namespace tidemark {

class MemoryRowStore : public RowStore {
 public:
  explicit MemoryRowStore(ShardCount shards) : shards_(shards) {}

  bool has_room() const override { return has_room_; }
  void set_room(bool has_room) { has_room_ = has_room; }

  std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) override;
  void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) override;
  void erase(TableId table, uint64_t hash, std::string_view key) override;
  void erase_tables(std::span<const TableId> tables, ShardRange shards) override;
  std::unique_ptr<RowCursor> seek(TableId table, uint64_t hash, std::string_view key,
                                  Direction direction) override;

  void erase_shards(ShardRange shards);  // Of every table.

  using Map = std::map<std::string, std::string, std::less<>>;  // encode_store_key() -> row.
  const Map& all() const { return rows_; }

 private:
  class Cursor;
  void erase_table(TableId table, ShardRange shards);

  ShardCount shards_;
  Map rows_;
  bool has_room_ = true;
  uint64_t writes_ = 0;  // Cursors find their place again when it has moved.
};

}  // namespace tidemark
