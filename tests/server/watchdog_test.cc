#include "server/watchdog.h"

#include <gtest/gtest.h>

#include <future>

namespace tidemark {
namespace {

TEST(Watchdog, ALoopThatHangsIsNamed) {
  AsioLoop hanging("hanging"), well("well");
  std::promise<void> release;
  std::promise<std::string> reason;
  std::atomic<bool> told = false;
  hanging.post([&] { release.get_future().wait(); });
  {
    Watchdog watchdog({{"the node", &hanging}, {"sql", &well}}, Micros{50'000}, [&](const std::string& why) {
      if (!told.exchange(true)) reason.set_value(why);
    });
    EXPECT_NE(reason.get_future().get().find("the node"), std::string::npos);
  }
  release.set_value();
}

}  // namespace
}  // namespace tidemark
