#include "tests/servers/zookeeper.h"

#include <gtest/gtest.h>
#include <zookeeper/zookeeper.h>

namespace tidemark::servers {
namespace {

// A client whose session is established.
class Client {
 public:
  explicit Client(const std::string& addresses) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));
    handle_ = zookeeper_init(addresses.c_str(), nullptr, 10000, nullptr, nullptr, 0);
    wait_until("a session", [this] { return zoo_state(handle_) == ZOO_CONNECTED_STATE; });
  }
  ~Client() { zookeeper_close(handle_); }

  // Again while the connection moves to another member.
  void create(const std::string& path) {
    wait_until("create " + path, [&] {
      const int code = zoo_create(handle_, path.c_str(), "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
      return code == ZOK || code == ZNODEEXISTS;
    });
  }
  bool has(const std::string& path) {
    int code = ZCONNECTIONLOSS;
    wait_until("exists " + path, [&] {
      code = zoo_exists(handle_, path.c_str(), 0, nullptr);
      return code == ZOK || code == ZNONODE;
    });
    return code == ZOK;
  }

 private:
  zhandle_t* handle_;
};

TEST(ZooKeeperServer, ServesAndRemembersAcrossKillAndRestart) {
  ZooKeeperServer zookeeper;
  EXPECT_EQ(zookeeper.leader(), 0u);
  Client client(zookeeper.connect_string());
  client.create("/kept");
  zookeeper.member(0).kill();
  EXPECT_FALSE(zookeeper.member(0).running());
  zookeeper.member(0).restart();
  EXPECT_TRUE(client.has("/kept"));
}

TEST(ZooKeeperServer, EnsembleGoesOnWithoutItsPausedLeader) {
  ZooKeeperServer zookeeper(ZooKeeperSize::Three);
  Client client(zookeeper.connect_string());
  client.create("/before");
  const size_t leader = zookeeper.leader();
  zookeeper.member(leader).pause();
  client.create("/during");
  EXPECT_TRUE(client.has("/before"));
  zookeeper.member(leader).resume();
  zookeeper.wait_until_ready();
  EXPECT_TRUE(client.has("/during"));
  zookeeper.member(0).stop();
  EXPECT_FALSE(zookeeper.member(0).running());
}

}  // namespace
}  // namespace tidemark::servers
