// The row cache against a sorted map, and its promises about memory and order.
#include "node/store/row_cache.h"

#include <gtest/gtest.h>

#include "tests/node/memory_backend.h"
#include "tests/node/row_store_twin.h"

namespace tidemark {
namespace {

constexpr ShardCount kShards{16};

TEST(RowCacheProperty, AgreesWithAMapWhateverIsCached) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    MemoryBackend disk;
    size_t bytes_max = size_t{1} << (9 + seed % 8);  // From a few rows to all of them.
    RowCache cache(kShards, disk, {.bytes_max = bytes_max, .write_back_rows = 1 + seed % 7});
    RowStoreTwin twin(cache, kShards, seed);
    std::string from;
    for (int i = 0; i < 2000; ++i) {
      twin.step();
      if (testing::Test::HasFatalFailure()) return;
      if (i % 50 == 0) {
        auto next = cache.write_back(from, 5);
        ASSERT_TRUE(next.ok());
        from = next->value_or("");
      }
      ASSERT_LE(cache.figures().bytes, bytes_max + 1024) << "at most the row just written is above the bound";
    }
    twin.compare_all();
    ASSERT_TRUE(disk.in_order);
  }
}

TEST(RowCacheProperty, AFullPassLeavesTheDiskEqualToTheRows) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MemoryBackend disk;
    RowCache cache(kShards, disk, {.bytes_max = 8192});
    RowStoreTwin twin(cache, kShards, seed);
    for (int i = 0; i < 500; ++i) twin.step();
    std::optional<std::string> from = "";
    while (from) {
      auto next = cache.write_back(*from, 3);
      ASSERT_TRUE(next.ok());
      from = *next;
    }
    EXPECT_EQ(cache.figures().dirty_rows, 0u);
    EXPECT_EQ(disk.rows, twin.twin().all());
  }
}

TEST(RowCache, KeepsWhatTheDiskRefusesAndSaysThatThereIsNoRoom) {
  MemoryBackend disk;
  RowCache cache(kShards, disk, {.bytes_max = 4096});
  disk.refusal = "no space left on device";
  for (uint64_t i = 0; i < 100; ++i) cache.put(TableId{1}, i << 58, "key", std::string(100, 'x'));
  EXPECT_FALSE(cache.has_room());
  EXPECT_EQ(cache.last_error(), "no space left on device");
  for (uint64_t i = 0; i < 64; ++i) EXPECT_TRUE(cache.get(TableId{1}, i << 58, "key").has_value());
  disk.refusal.clear();
  for (uint64_t i = 0; i < 100; ++i) cache.put(TableId{1}, i << 58, "key", std::string(100, 'y'));
  EXPECT_TRUE(cache.has_room());
  EXPECT_LE(cache.figures().bytes, 4096u);
}

// Else each read would go round all that is dirty to find room again.
TEST(RowCache, WhatIsReadTakesNoMemoryWhileTheDiskTakesNothing) {
  MemoryBackend disk;
  RowCache cache(kShards, disk, {.bytes_max = 4096});
  for (uint64_t i = 0; i < 64; ++i) cache.put(TableId{1}, i << 58, "old", std::string(100, 'x'));
  ASSERT_TRUE(cache.write_back("", 100).ok());
  disk.refusal = "no space left on device";
  for (uint64_t i = 0; i < 64 && cache.has_room(); ++i) {
    cache.put(TableId{2}, i << 58, "new", std::string(100, 'x'));
  }
  const uint64_t evicted = cache.figures().evicted;
  for (uint64_t i = 0; i < 64; ++i) EXPECT_TRUE(cache.get(TableId{1}, i << 58, "old").has_value());
  EXPECT_EQ(cache.figures().rows, cache.figures().dirty_rows);
  EXPECT_EQ(cache.figures().evicted, evicted);
}

TEST(RowCache, StaysWithinItsBoundWithAWorkingSetTenTimesAsLarge) {
  MemoryBackend disk;
  constexpr size_t kBytes = 64 * 1024;
  RowCache cache(kShards, disk, {.bytes_max = kBytes});
  Random random(7);
  size_t highest = 0;
  for (int i = 0; i < 30'000; ++i) {
    uint64_t hash = random.below(kBytes * 10 / 250) * 0x9e3779b97f4a7c15;
    cache.put(TableId{1}, hash, "k", std::string(100, 'x'));
    highest = std::max(highest, cache.figures().bytes);
  }
  EXPECT_LE(highest, kBytes + 512);
  EXPECT_GT(cache.figures().evicted, 1000u);
}

TEST(RowCache, RowsThatAreUsedStayLonger) {
  MemoryBackend disk;
  RowCache cache(kShards, disk, {.bytes_max = 20'000});
  for (uint64_t i = 0; i < 2000; ++i) {
    cache.put(TableId{1}, i << 50, "cold", std::string(50, 'x'));
    cache.get(TableId{1}, 1, "hot");
    if (i == 0) cache.put(TableId{1}, 1, "hot", "row");
  }
  uint64_t misses = cache.figures().misses;
  cache.get(TableId{1}, 1, "hot");
  EXPECT_EQ(cache.figures().misses, misses);
}

}  // namespace
}  // namespace tidemark
