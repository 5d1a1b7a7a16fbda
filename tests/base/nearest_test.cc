#include "base/nearest.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(EditDistance, CountsInsertedRemovedReplacedAndSwappedCharacters) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("shards", "shard"), 1u);
  EXPECT_EQ(edit_distance("shard", "short"), 2u);
  EXPECT_EQ(edit_distance("prot", "port"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, IsTheOneThatWasProbablyMeantOrNone) {
  const std::vector<std::string> known{"log.level", "node.port", "node.host"};
  EXPECT_EQ(nearest_name("node.prot", known), "node.port");
  EXPECT_EQ(nearest_name("loglevel", known), "log.level");
  EXPECT_EQ(nearest_name("zookeeper", known), std::nullopt);
  EXPECT_EQ(nearest_name("x", {}), std::nullopt);
}

}  // namespace
}  // namespace tidemark
