#include "tests/servers/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

#include "tests/servers/supervisor.h"

namespace tidemark::servers {
namespace {

constexpr uint16_t kFirstPort = 10000;

// One past the last port that the kernel leaves to servers.
uint16_t end_of_ports() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int first_ephemeral = 32768;
  file >> first_ephemeral;
  return static_cast<uint16_t>(std::clamp(first_ephemeral, kFirstPort + 1000, 32768));
}

bool can_listen(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const bool free =
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0;
  close(fd);
  return free;
}

// A descriptor that holds the port, or -1 if another test holds it.
int hold(uint16_t port) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The leading zero makes the name abstract: no file, and as long-lived as the socket.
  const std::string name = "tidemark-port-" + std::to_string(port);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

HeldPort::HeldPort() {
  std::random_device random;
  const uint16_t end = end_of_ports();
  std::uniform_int_distribution<int> any(kFirstPort, end - 1);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto port = static_cast<uint16_t>(any(random));
    const int held = hold(port);
    if (held < 0) continue;
    if (can_listen(port)) {
      number_ = port;
      hold_ = held;
      return;
    }
    close(held);
  }
  throw ServerError("no free port between " + std::to_string(kFirstPort) + " and " + std::to_string(end));
}

HeldPort::~HeldPort() {
  close(hold_);
}

std::string HeldPort::address() const {
  return "127.0.0.1:" + std::to_string(number_);
}

}  // namespace tidemark::servers
