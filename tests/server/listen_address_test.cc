#include "server/listen_address.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(ListenAddress, LoopbackIsAlwaysGood) {
  for (const char* address : {"127.0.0.1:7400", "127.1.2.3:0", "localhost:1", "[::1]:7400", "::1:7400"})
    EXPECT_TRUE(check_listen_address("node.listen", address, false).ok()) << address;
}

TEST(ListenAddress, OtherMachinesAreLetInOnlyInSoManyWords) {
  for (const char* address : {"0.0.0.0:7400", "10.1.2.3:7400", "example.org:7400", "[::]:7400", "*:7400"}) {
    Status refused = check_listen_address("node.listen", address, false);
    ASSERT_FALSE(refused.ok()) << address;
    EXPECT_NE(refused.error().message.find("allow_unauthenticated_remote_access"), std::string::npos);
    EXPECT_TRUE(check_listen_address("node.listen", address, true).ok()) << address;
  }
}

TEST(ListenAddress, WithoutAPortItIsNone) {
  for (const char* address : {"", "localhost", ":7400", "localhost:"})
    EXPECT_FALSE(check_listen_address("node.listen", address, true).ok()) << address;
}

}  // namespace
}  // namespace tidemark
