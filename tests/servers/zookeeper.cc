#include "tests/servers/zookeeper.h"

#include <fstream>

namespace tidemark::servers {
namespace {

constexpr const char* kJar = "/usr/share/java/zookeeper.jar";
// The jar of ZooKeeper names no logger.
constexpr const char* kLoggerJar = "/usr/share/java/slf4j-simple.jar";

// The value of "Mode: ..." in the answer to `srvr`; a member that has no quorum gives none.
std::string mode_in(const std::string& answer) {
  const size_t at = answer.find("Mode: ");
  if (at == std::string::npos) return "";
  return answer.substr(at + 6, answer.find('\n', at) - at - 6);
}

}  // namespace

ZooKeeperServer::ZooKeeperServer(ZooKeeperSize size) : directory_("zookeeper") {
  if (!std::filesystem::exists(kJar)) throw ServerError("ZooKeeper is not installed: deploy/setup");
  for (int i = 0; i < static_cast<int>(size); ++i) members_.push_back(std::make_unique<Member>());
  for (size_t i = 0; i < members_.size(); ++i) configure(i);
  for (const auto& member : members_) member->server->launch();
  wait_until_ready();
}

void ZooKeeperServer::configure(size_t index) {
  const std::string name = "zookeeper-" + std::to_string(index);
  const std::filesystem::path home = directory_.path() / name;
  std::filesystem::create_directories(home / "data");
  std::ofstream(home / "data" / "myid") << index + 1 << '\n';
  std::ofstream config(home / "zoo.cfg");
  Member& member = *members_[index];
  config << "dataDir=" << (home / "data").string() << '\n'
         << "clientPort=" << member.client_port.number() << '\n'
         << "clientPortAddress=127.0.0.1\n"
         << "tickTime=500\n"  // Sessions may be as short as a second.
         // A follower that restarts may acknowledge a record before it acknowledges its leader, and its
         // leader then waits for initLimit in vain (ZOOKEEPER-4685, in 3.8.0); 5 s, and they try again.
         // Syncing to disk stays on: without it nearly every restart meets this.
         << "initLimit=10\nsyncLimit=20\n"
         << "maxClientCnxns=0\n"
         << "admin.enableServer=false\n"
         << "4lw.commands.whitelist=*\n";
  for (size_t i = 0; members_.size() > 1 && i < members_.size(); ++i) {
    config << "server." << i + 1 << "=127.0.0.1:" << members_[i]->peer_port.number() << ':'
           << members_[i]->election_port.number() << '\n';
  }
  const Command command{
      .argv = {"java", "-Xms16m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
               "-Dorg.slf4j.simpleLogger.showDateTime=true",
               // A member that waits for others asks again every second, not up to every minute.
               "-Dzookeeper.fastleader.maxNotificationInterval=1000", "-cp",
               std::string(kJar) + ":" + kLoggerJar, "org.apache.zookeeper.server.quorum.QuorumPeerMain",
               (home / "zoo.cfg").string()},
      .log = directory_.path() / (name + ".log"),
      .working_directory = home};
  member.server = std::make_unique<Server>(name, command, [this, index] { return !mode_of(index).empty(); });
}

std::string ZooKeeperServer::mode_of(size_t index) const {
  return mode_in(ask_tcp(members_[index]->client_port.number(), "srvr"));
}

std::string ZooKeeperServer::connect_string() const {
  std::string all;
  for (const auto& member : members_) all += (all.empty() ? "" : ",") + member->client_port.address();
  return all;
}

size_t ZooKeeperServer::leader() {
  size_t found = 0;
  wait_until("ZooKeeper has a leader", [&] {
    for (size_t i = 0; i < members_.size(); ++i) {
      const std::string mode = mode_of(i);
      if (mode != "leader" && mode != "standalone") continue;
      found = i;
      return true;
    }
    return false;
  });
  return found;
}

void ZooKeeperServer::wait_until_ready() {
  for (const auto& member : members_) member->server->wait_until_ready();
}

}  // namespace tidemark::servers
