#include "base/wakeup.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/simulation/virtual_scheduler.h"

namespace tidemark {
namespace {

class WakeupTest : public testing::Test {
 protected:
  VirtualScheduler scheduler;
  std::vector<int64_t> fired;
  Wakeup wakeup{scheduler, Micros{10}, [this] { fired.push_back(scheduler.now().value); }};
};

TEST_F(WakeupTest, ItFiresOnceAtTheEarliestMomentAskedFor) {
  wakeup.by(Micros{300});
  wakeup.by(Micros{100});
  wakeup.by(Micros{200});
  scheduler.run();
  EXPECT_EQ(fired, (std::vector<int64_t>{100}));
}

TEST_F(WakeupTest, WhatIsOverdueWaitsForTheLeastTimeHoweverOftenItIsAskedFor) {
  scheduler.run_until(Micros{500});
  wakeup.by(Micros{400});
  wakeup.by(Micros{300});
  wakeup.by(Micros{200});
  scheduler.run();
  EXPECT_EQ(fired, (std::vector<int64_t>{510}));
}

TEST_F(WakeupTest, AskedAgainAfterItHasFiredItFiresAgain) {
  wakeup.by(Micros{300});
  wakeup.by(Micros{100});
  scheduler.run_until(Micros{150});
  wakeup.by(Micros{400});
  scheduler.run();
  EXPECT_EQ(fired, (std::vector<int64_t>{100, 400}));
}

}  // namespace
}  // namespace tidemark
