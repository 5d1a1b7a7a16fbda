// tm_servers: real servers for scripts. Starts what is asked for, prints one line of JSON with the addresses,
// and ends, with all servers, when its standard input closes or it is interrupted.
//
//   tm_servers --zookeeper 3 --kafka 1 --postgres
//   {"zookeeper":"127.0.0.1:10001,...","kafka":"127.0.0.1:10004","postgres":"host=127.0.0.1 port=10005 ..."}
//
// Commands on standard input, a line each: stop|start|kill|pause|resume|restart zookeeper|kafka|postgres
// [index]. Each is answered by a line: ok, or error and the reason.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "tests/servers/kafka.h"
#include "tests/servers/postgres.h"
#include "tests/servers/zookeeper.h"

namespace tidemark::servers {
namespace {

constexpr const char* kUsage = "usage: tm_servers [--zookeeper 1|3] [--kafka 1|3] [--postgres]\n";

struct Servers {
  std::unique_ptr<ZooKeeperServer> zookeeper;
  std::unique_ptr<KafkaCluster> kafka;
  std::unique_ptr<PostgresServer> postgres;

  Server& find(const std::string& kind, size_t index) {
    if (kind == "zookeeper" && zookeeper && index < zookeeper->size()) return zookeeper->member(index);
    if (kind == "kafka" && kafka && index < kafka->size()) return kafka->broker(index);
    if (kind == "postgres" && postgres && index == 0) return postgres->server();
    throw ServerError("no such server: " + kind + " " + std::to_string(index));
  }
};

// A count of servers: 1 or 3, else 0.
int parse_size(const char* text) {
  if (text == nullptr) return 0;
  return std::strcmp(text, "1") == 0 ? 1 : std::strcmp(text, "3") == 0 ? 3 : 0;
}

bool start(int argc, char** argv, Servers& servers) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--postgres") {
      servers.postgres = std::make_unique<PostgresServer>();
      continue;
    }
    const int size = parse_size(argv[++i]);
    if (size == 0) return false;
    if (flag == "--zookeeper") {
      servers.zookeeper = std::make_unique<ZooKeeperServer>(static_cast<ZooKeeperSize>(size));
    } else if (flag == "--kafka") {
      servers.kafka = std::make_unique<KafkaCluster>(static_cast<KafkaSize>(size));
    } else {
      return false;
    }
  }
  return true;
}

// Addresses hold nothing that JSON would want escaped.
void print_addresses(const Servers& servers) {
  std::map<std::string, std::string> addresses;
  if (servers.zookeeper) addresses["zookeeper"] = servers.zookeeper->connect_string();
  if (servers.kafka) addresses["kafka"] = servers.kafka->bootstrap();
  if (servers.postgres) addresses["postgres"] = servers.postgres->connection_string();
  std::string line;
  for (const auto& [kind, address] : addresses) {
    line += (line.empty() ? "" : ",") + ("\"" + kind + "\":\"" + address + "\"");
  }
  std::cout << "{" << line << "}" << std::endl;
}

void obey(const std::string& line, Servers& servers) {
  static const std::map<std::string, void (Server::*)()> kVerbs = {
      {"stop", &Server::stop},   {"start", &Server::start},   {"kill", &Server::kill},
      {"pause", &Server::pause}, {"resume", &Server::resume}, {"restart", &Server::restart}};
  std::istringstream words(line);
  std::string verb;
  std::string kind;
  size_t index = 0;
  words >> verb >> kind >> index;
  const auto it = kVerbs.find(verb);
  if (it == kVerbs.end()) throw ServerError("unknown command: " + verb);
  (servers.find(kind, index).*it->second)();
}

void obey_until_end(int interrupts, Servers& servers) {
  std::string input;
  while (true) {
    pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {interrupts, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0) continue;
    if (watched[1].revents != 0) return;
    char piece[512];
    const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n <= 0) return;
    input.append(piece, static_cast<size_t>(n));
    for (size_t end; (end = input.find('\n')) != std::string::npos; input.erase(0, end + 1)) {
      try {
        obey(input.substr(0, end), servers);
        std::cout << "ok" << std::endl;
      } catch (const ServerError& error) {
        std::cout << "error " << error.what() << std::endl;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::servers

int main(int argc, char** argv) {
  using namespace tidemark::servers;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // Blocked before the first library starts a thread, so that all of them inherit it.
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int interrupts = signalfd(-1, &set, SFD_CLOEXEC);
  try {
    Servers servers;
    if (!start(argc, argv, servers)) {
      std::fputs(kUsage, stderr);
      return 2;
    }
    print_addresses(servers);
    obey_until_end(interrupts, servers);
  } catch (const ServerError& error) {
    std::fprintf(stderr, "tm_servers: %s\n", error.what());
    return 1;
  }
  return 0;
}
