// Listening sockets. For the .cc files of drivers only: includes Asio.
#pragma once

#include <asio/ip/tcp.hpp>

#include "base/result.h"
#include "net/transport.h"

namespace tidemark {

struct HostPort {
  std::string host;
  std::string port;
};
HostPort split_address(const Address& address);

// Opens, binds and listens. Gives the address with the port that was chosen. Error: says which and why.
Result<Address> open_acceptor(asio::ip::tcp::acceptor& acceptor, const Address& listen);

}  // namespace tidemark
