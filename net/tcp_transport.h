// Transport over TCP: framed Protocol Buffers on Asio. Lives on one AsioLoop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/asio_loop.h"
#include "net/transport.h"

namespace tidemark {

struct TcpOptions {
  std::string name;      // Said in the handshake, for logs.
  uint64_t cluster = 0;  // Peers of another cluster are refused; 0 is not compared.
  Address listen;        // "host:port", port 0 for any; empty: only connects.
  Micros connect_timeout{5'000'000};
  Micros handshake_timeout{5'000'000};
  size_t unsent_bytes_max = size_t{64} << 20;  // Per peer; what goes beyond is dropped.
  size_t connections_max = 4096;               // Incoming; further ones are closed.
  // Why connections were closed by us, and which messages were too large to be sent, for people; at most one
  // line per interval.
  std::function<void(const std::string&)> notice;
  Micros notice_interval{1'000'000};
};

class TcpTransport : public Transport {
 public:
  // Listens, if asked to. Error: says which address and why.
  static Result<std::unique_ptr<TcpTransport>> start(AsioLoop& loop, TcpOptions options);
  ~TcpTransport() override;  // On the loop.

  // The address that it listens on, with the port that was chosen.
  const Address& address() const;

  void send(const Address& to, MessagePtr message) override;
  size_t unsent_bytes(const Address& to) const override;
  void set_handlers(Handlers handlers) override;

  class Impl;

 private:
  explicit TcpTransport(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark
