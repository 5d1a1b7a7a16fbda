// The disk under a row cache, as a sorted map.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "node/store/row_cache.h"

namespace tidemark {

class MemoryBackend : public RowBackend {
 public:
  Status write(const std::vector<Write>& writes) override {
    if (!refusal.empty()) return Error{refusal};
    std::string_view last;
    for (const Write& write : writes) {
      in_order &= last <= write.key;
      last = write.key;
      if (write.row) {
        rows.insert_or_assign(std::string(write.key), std::string(*write.row));
      } else {
        rows.erase(std::string(write.key));
      }
    }
    return {};
  }

  void erase_range(TableId table, HashSpan hashes) override {
    std::erase_if(rows, [&](const auto& row) {
      DecodedStoreKey key = *decode_store_key(row.first);
      return key.table == table && hashes.contains(key.hash);
    });
  }

  bool get(std::string_view key, std::string& row) override {
    auto found = rows.find(key);
    if (found == rows.end()) return false;
    row = found->second;
    return true;
  }

  std::unique_ptr<Cursor> seek(TableId table, std::string_view key, Direction direction) override {
    return std::make_unique<MapCursor>(rows, table, key, direction);
  }

  std::map<std::string, std::string, std::less<>> rows;
  std::string refusal;
  bool in_order = true;

 private:
  // A copy of the table's part, as an iterator of a disk sees a moment.
  class MapCursor : public Cursor {
   public:
    MapCursor(const std::map<std::string, std::string, std::less<>>& rows, TableId table,
              std::string_view from, Direction direction) {
      for (const auto& row : rows) {
        if (decode_store_key(row.first)->table != table) continue;
        if (direction == Direction::Forward ? row.first >= from : row.first <= from) left_.push_back(row);
      }
      if (direction == Direction::Backward) std::reverse(left_.begin(), left_.end());
    }
    bool valid() const override { return at_ < left_.size(); }
    void next() override { ++at_; }
    std::string_view key() const override { return left_[at_].first; }
    std::string_view row() const override { return left_[at_].second; }

   private:
    std::vector<std::pair<std::string, std::string>> left_;
    size_t at_ = 0;
  };
};

}  // namespace tidemark
