#include "net/vanished_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace tidemark {

namespace {

constexpr int kIdleSeconds = 60, kProbeSeconds = 10, kProbes = 6;
constexpr int kUnacknowledgedMillis = 60'000;

void set(asio::ip::tcp::socket& socket, int level, int name, int value) {
  (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

}  // namespace

void close_if_silent(asio::ip::tcp::socket& socket) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

void close_if_unacknowledged(asio::ip::tcp::socket& socket) {
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMillis);
}

}  // namespace tidemark
