#include "net/notice_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

constexpr Micros kSecond{1'000'000};

TEST(NoticeLimiter, TellsTheFirstAtOnceAndOfTheOthersHowManyThereWere) {
  VirtualScheduler world;
  std::vector<std::string> told;
  NoticeLimiter notices(world, kSecond, [&](const std::string& what) { told.push_back(what); });
  for (int i = 1; i <= 5; ++i) notices.tell("bad " + std::to_string(i));
  EXPECT_THAT(told, ElementsAre("bad 1"));
  world.run();
  EXPECT_THAT(told, ElementsAre("bad 1", "bad 5; the last of 4"));
  notices.tell("bad 6");
  EXPECT_EQ(told.back(), "bad 6");
}

TEST(NoticeLimiter, SaysOneLinePerIntervalHoweverMuchThereIs) {
  VirtualScheduler world;
  size_t lines = 0;
  NoticeLimiter notices(world, kSecond, [&](const std::string&) { ++lines; });
  for (int64_t i = 0; i < 10'000; ++i) {
    notices.tell("bad");
    world.run_until(Micros{(i + 1) * 1'000});
  }
  EXPECT_GE(lines, 9u);
  EXPECT_LE(lines, 11u);
}

TEST(NoticeLimiter, ThatIsGoneSaysNothing) {
  VirtualScheduler world;
  std::vector<std::string> told;
  auto notices =
      std::make_unique<NoticeLimiter>(world, kSecond, [&](const std::string& what) { told.push_back(what); });
  notices->tell("bad 1");
  notices->tell("bad 2");
  notices.reset();
  world.run();
  EXPECT_THAT(told, ElementsAre("bad 1"));
}

}  // namespace
}  // namespace tidemark
