// A RowStore as a sorted map.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "node/region/region_state.h"
#include "node/row_store.h"

namespace tidemark {

class MapRows : public RowStore {
 public:
  using Map = std::map<StoreKey, std::string>;

  explicit MapRows(ShardCount count) : count_(count) {}

  std::optional<std::string_view> get(TableId table, uint64_t hash, std::string_view key) override {
    auto it = rows.find({table, hash, std::string(key)});
    if (it == rows.end()) return std::nullopt;
    return it->second;
  }
  void put(TableId table, uint64_t hash, std::string_view key, std::string_view row) override {
    rows[{table, hash, std::string(key)}] = row;
  }
  void erase(TableId table, uint64_t hash, std::string_view key) override {
    rows.erase({table, hash, std::string(key)});
  }
  void erase_table(TableId table, ShardRange shards) override {
    std::erase_if(rows, [&](const auto& it) {
      return it.first.table == table && shards.contains(count_.shard_of(it.first.hash));
    });
  }
  std::unique_ptr<RowCursor> seek(TableId table, uint64_t hash, std::string_view key,
                                  Direction direction) override {
    auto at = rows.lower_bound({table, hash, std::string(key)});
    if (direction == Direction::Backward) {
      bool exact = at != rows.end() && at->first == StoreKey{table, hash, std::string(key)};
      if (!exact) at = at == rows.begin() ? rows.end() : std::prev(at);
    }
    return std::make_unique<Cursor>(rows, at, table, direction);
  }

  Map rows;

 private:
  class Cursor : public RowCursor {
   public:
    Cursor(const Map& map, Map::const_iterator at, TableId table, Direction direction)
        : map_(map), at_(at), table_(table), direction_(direction) {}
    bool valid() const override { return at_ != map_.end() && at_->first.table == table_; }
    void next() override {
      if (direction_ == Direction::Forward) {
        ++at_;
      } else {
        at_ = at_ == map_.begin() ? map_.end() : std::prev(at_);
      }
    }
    uint64_t hash() const override { return at_->first.hash; }
    std::string_view key() const override { return at_->first.key; }
    std::string_view row() const override { return at_->second; }

   private:
    const Map& map_;
    Map::const_iterator at_;
    TableId table_;
    Direction direction_;
  };

  ShardCount count_;
};

}  // namespace tidemark
