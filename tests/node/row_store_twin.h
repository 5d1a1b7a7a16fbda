// Random use of a RowStore, compared at every step with a sorted map.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "node/store/memory_row_store.h"

namespace tidemark {

class RowStoreTwin {
 public:
  RowStoreTwin(RowStore& store, ShardCount shards, uint64_t seed)
      : store_(store), shards_(shards), twin_(shards), random_(seed) {}

  // One random operation; reads are compared at once.
  void step() {
    TableId table{static_cast<uint32_t>(1 + random_.below(3))};
    uint64_t hash = random_.below(8) << 61 | random_.below(3);
    std::string key(random_.below(4), static_cast<char>('a' + random_.below(3)));
    uint64_t kind = random_.below(100);
    if (kind < 40) {
      std::string row(random_.below(200), static_cast<char>('A' + random_.below(26)));
      store_.put(table, hash, key, row);
      twin_.put(table, hash, key, row);
    } else if (kind < 55) {
      store_.erase(table, hash, key);
      twin_.erase(table, hash, key);
    } else if (kind < 85) {
      auto expected = twin_.get(table, hash, key);
      auto found = store_.get(table, hash, key);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (found) {
        ASSERT_EQ(*found, *expected);
      }
    } else if (kind < 99) {
      scan(table, hash, key, random_.chance(0.5) ? Direction::Forward : Direction::Backward);
    } else {
      auto begin = static_cast<uint32_t>(random_.below(shards_.value));
      auto end = static_cast<uint32_t>(random_.between(begin + 1, shards_.value));
      std::vector<TableId> tables{table};
      if (random_.chance(0.5)) tables.push_back(TableId{static_cast<uint32_t>(1 + random_.below(3))});
      store_.erase_tables(tables, {ShardId{begin}, ShardId{end}});
      twin_.erase_tables(tables, {ShardId{begin}, ShardId{end}});
    }
  }

  // Sometimes it writes on the way: the cursor must go on from its place.
  void scan(TableId table, uint64_t hash, const std::string& key, Direction direction) {
    auto found = store_.seek(table, hash, key, direction);
    auto expected = twin_.seek(table, hash, key, direction);
    for (uint64_t left = random_.below(30); left > 0; --left) {
      ASSERT_EQ(found->valid(), expected->valid());
      if (!found->valid()) return;
      ASSERT_EQ(found->hash(), expected->hash());
      ASSERT_EQ(found->key(), expected->key());
      ASSERT_EQ(found->row(), expected->row());
      if (random_.chance(0.1)) {
        uint64_t other = random_.below(8) << 61;
        store_.put(table, other, "b", "new");
        twin_.put(table, other, "b", "new");
      }
      found->next();
      expected->next();
    }
  }

  void compare_all() {
    for (uint32_t table = 1; table <= 3; ++table) {
      auto found = store_.seek(TableId{table}, 0, {}, Direction::Forward);
      auto expected = twin_.seek(TableId{table}, 0, {}, Direction::Forward);
      for (; expected->valid(); expected->next(), found->next()) {
        ASSERT_TRUE(found->valid());
        ASSERT_EQ(found->hash(), expected->hash());
        ASSERT_EQ(found->key(), expected->key());
        ASSERT_EQ(found->row(), expected->row());
      }
      ASSERT_FALSE(found->valid());
    }
  }

  const MemoryRowStore& twin() const { return twin_; }
  Random& random() { return random_; }

 private:
  RowStore& store_;
  ShardCount shards_;
  MemoryRowStore twin_;
  Random random_;
};

}  // namespace tidemark
