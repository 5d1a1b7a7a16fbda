#include "node/store/memory_row_store.h"

#include "base/assert.h"
#include "node/store/store_key.h"

namespace tidemark {

class MemoryRowStore::Cursor : public RowCursor {
 public:
  Cursor(const MemoryRowStore& store, TableId table, std::string place, Direction direction)
      : store_(store), table_(table), direction_(direction) {
    seek(place);
  }

  bool valid() const override { return valid_; }

  void next() override {
    TM_ASSERT(valid_);
    if (store_.writes_ == writes_) {
      step();
      return settle();
    }
    std::string last = place_;
    seek(last);
    if (valid_ && place_ == last) next();
  }

  uint64_t hash() const override { return decode_store_key(place_)->hash; }
  std::string_view key() const override { return decode_store_key(place_)->key; }
  std::string_view row() const override { return at_->second; }

 private:
  // The first row at or after the place, or at or before it.
  void seek(const std::string& place) {
    writes_ = store_.writes_;
    valid_ = true;
    if (direction_ == Direction::Forward) {
      at_ = store_.rows_.lower_bound(place);
    } else {
      at_ = store_.rows_.upper_bound(place);
      step();
    }
    settle();
  }

  void step() {
    if (direction_ == Direction::Forward) {
      ++at_;
    } else if (at_ == store_.rows_.begin()) {
      valid_ = false;
    } else {
      --at_;
    }
  }

  void settle() {
    valid_ = valid_ && at_ != store_.rows_.end() && decode_store_key(at_->first)->table == table_;
    if (valid_) place_ = at_->first;
  }

  const MemoryRowStore& store_;
  TableId table_;
  Direction direction_;
  Map::const_iterator at_;
  std::string place_;
  uint64_t writes_ = 0;
  bool valid_ = false;
};

std::optional<std::string_view> MemoryRowStore::get(TableId table, uint64_t hash, std::string_view key) {
  auto found = rows_.find(encode_store_key(table, hash, key));
  if (found == rows_.end()) return std::nullopt;
  return found->second;
}

void MemoryRowStore::put(TableId table, uint64_t hash, std::string_view key, std::string_view row) {
  ++writes_;
  rows_.insert_or_assign(encode_store_key(table, hash, key), std::string(row));
}

void MemoryRowStore::erase(TableId table, uint64_t hash, std::string_view key) {
  ++writes_;
  rows_.erase(encode_store_key(table, hash, key));
}

void MemoryRowStore::erase_tables(std::span<const TableId> tables, ShardRange shards) {
  for (TableId table : tables) erase_table(table, shards);
}

void MemoryRowStore::erase_table(TableId table, ShardRange shards) {
  if (shards.empty()) return;
  ++writes_;
  HashSpan hashes = hash_span(shards, shards_);
  auto at = rows_.lower_bound(encode_store_key(table, hashes.first, {}));
  while (at != rows_.end()) {
    DecodedStoreKey key = *decode_store_key(at->first);
    if (key.table != table || key.hash > hashes.last) break;
    at = rows_.erase(at);
  }
}

void MemoryRowStore::erase_shards(ShardRange shards) {
  for (auto at = rows_.begin(); at != rows_.end();) {
    TableId table = decode_store_key(at->first)->table;
    erase_table(table, shards);
    if (table.value == UINT32_MAX) break;
    at = rows_.lower_bound(encode_store_key(TableId{table.value + 1}, 0, {}));
  }
}

std::unique_ptr<RowCursor> MemoryRowStore::seek(TableId table, uint64_t hash, std::string_view key,
                                                Direction direction) {
  return std::make_unique<Cursor>(*this, table, encode_store_key(table, hash, key), direction);
}

}  // namespace tidemark
