#include "tests/servers/ports.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace tidemark::servers {
namespace {

TEST(HeldPort, IsHeldByOneAtATime) {
  std::vector<std::unique_ptr<HeldPort>> held;
  std::set<uint16_t> numbers;
  for (int i = 0; i < 200; ++i) {
    held.push_back(std::make_unique<HeldPort>());
    EXPECT_TRUE(numbers.insert(held.back()->number()).second) << held.back()->number();
  }
}

TEST(HeldPort, LiesWhereTheKernelTakesNoneForOutgoingConnections) {
  for (int i = 0; i < 50; ++i) {
    const HeldPort port;
    EXPECT_GE(port.number(), 10000);
    EXPECT_LT(port.number(), 32768);
  }
}

}  // namespace
}  // namespace tidemark::servers
