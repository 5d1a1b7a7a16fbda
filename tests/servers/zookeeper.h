// A real ZooKeeper: one server, or an ensemble of three.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/servers/ports.h"
#include "tests/servers/server.h"

namespace tidemark::servers {

enum class ZooKeeperSize : uint8_t { One = 1, Three = 3 };

// Serves when the constructor returns. Throws ServerError.
//
//   ZooKeeperServer zookeeper(ZooKeeperSize::Three);
//   zookeeper.member(0).pause();
class ZooKeeperServer {
 public:
  explicit ZooKeeperServer(ZooKeeperSize size = ZooKeeperSize::One);

  // Of all members, for clients: "127.0.0.1:10001,127.0.0.1:10002".
  std::string connect_string() const;

  size_t size() const { return members_.size(); }
  Server& member(size_t index) { return *members_.at(index)->server; }
  // Which member leads now (of one: 0). Waits until there is one.
  size_t leader();

  // Until every member serves, as part of the ensemble.
  void wait_until_ready();

 private:
  struct Member {
    HeldPort client_port;
    HeldPort peer_port;
    HeldPort election_port;
    std::unique_ptr<Server> server;
  };
  std::string mode_of(size_t index) const;
  void configure(size_t index);

  TemporaryDirectory directory_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace tidemark::servers
