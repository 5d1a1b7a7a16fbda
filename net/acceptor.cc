#include "net/acceptor.h"

namespace tidemark {

using asio::ip::tcp;

HostPort split_address(const Address& address) {
  size_t colon = address.value.rfind(':');
  if (colon == std::string::npos) return {address.value, ""};
  std::string host = address.value.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return {host, address.value.substr(colon + 1)};
}

Result<Address> open_acceptor(tcp::acceptor& acceptor, const Address& listen) {
  HostPort where = split_address(listen);
  tcp::resolver resolver(acceptor.get_executor());
  asio::error_code error;
  auto found = resolver.resolve(where.host, where.port, tcp::resolver::passive, error);
  if (!error && found.empty()) error = asio::error::host_not_found;
  if (!error) {
    tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  }
  if (error) return Error{"can't listen on " + listen.value + ": " + error.message()};
  return Address{where.host + ":" + std::to_string(acceptor.local_endpoint().port())};
}

}  // namespace tidemark
