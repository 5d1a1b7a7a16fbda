#include "base/buggify.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

bool first() {
  return TM_BUGGIFY("test: first");
}
bool second() {
  return TM_BUGGIFY("test: second");
}

// What the points decide at so many visits each, as a text.
std::string decisions(uint64_t seed, double chance) {
  const Buggify buggify(seed, chance);
  std::string out;
  for (int i = 0; i < 1000; ++i) {
    out += first() ? '1' : '-';
    out += second() ? '2' : '-';
  }
  return out;
}

// The first seed under which the first point is on.
uint64_t seed_with_first() {
  uint64_t seed = 1;
  while (decisions(seed, 1).find('1') == std::string::npos) ++seed;
  return seed;
}

TEST(Buggify, IsOffUnlessThereIsAPlanAndOffAgainAfterwards) {
  EXPECT_FALSE(first());
  const uint64_t seed = seed_with_first();
  EXPECT_FALSE(first());
  const Buggify buggify(seed, 1);
  EXPECT_TRUE(first());
}

TEST(Buggify, ASeedDecidesEverything) {
  const uint64_t seed = seed_with_first();
  EXPECT_EQ(decisions(seed, 0.5), decisions(seed, 0.5));
  EXPECT_NE(decisions(seed, 0.5), decisions(seed + 1, 0.5));
  EXPECT_EQ(decisions(seed, 0).find_first_of("12"), std::string::npos);
}

TEST(Buggify, AQuarterOfThePointsIsOn) {
  int on = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Buggify buggify(seed, 1);
    on += first() ? 1 : 0;
  }
  EXPECT_GT(on, 200);
  EXPECT_LT(on, 300);
}

TEST(Buggify, APointDecidesTheSameHoweverOftenOthersAreVisited) {
  const uint64_t seed = seed_with_first();
  auto of_first = [&](int visits_of_second) {
    const Buggify buggify(seed, 0.5);
    std::string out;
    for (int i = 0; i < 100; ++i) {
      for (int visit = 0; visit < visits_of_second; ++visit) second();
      out += first() ? '1' : '-';
    }
    return out;
  };
  EXPECT_NE(of_first(0).find('1'), std::string::npos);
  EXPECT_EQ(of_first(0), of_first(3));
}

TEST(Buggify, CountsDeviationsAndKnowsEveryPoint) {
  std::map<std::string, uint64_t> heard{{"test: first", 0}, {"test: second", 0}};
  const Buggify buggify(seed_with_first(), 1, [&](const std::string& point) { ++heard[point]; });
  EXPECT_EQ(buggify.counts(), heard);
  for (int i = 0; i < 3; ++i) first();
  second();
  EXPECT_EQ(heard["test: first"], 3u);
  EXPECT_EQ(buggify.counts(), heard);
}

TEST(BuggifyDeathTest, OneAtATime) {
  const Buggify buggify(1, 1);
  EXPECT_DEATH(Buggify(2, 1), "assertion failed");
}

}  // namespace
}  // namespace tidemark
