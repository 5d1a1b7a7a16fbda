// Listens for PostgreSQL clients on an AsioLoop and gives each connection a Session.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/asio_loop.h"
#include "net/transport.h"
#include "sql/gateway/connection.h"

namespace tidemark::sql {

struct GatewayOptions {
  Address listen;  // "host:port", port 0 for any.
  size_t connections_max = 1000;
  size_t refused_max =
      100;  // Beyond those: they are told so once they say who they are. More are closed at once.
  Micros startup_timeout{60'000'000};  // A client that has not said who it is by then is sent away.
  ConnectionOptions connection;
};

class GatewayServer {
 public:
  // Sessions are made and used on the loop. Error: says which address and why.
  static Result<std::unique_ptr<GatewayServer>> start(AsioLoop& loop, SessionFactory make_session,
                                                      GatewayOptions options);
  // Closes all connections; their sessions are gone when it returns. On the loop, not from inside a session.
  ~GatewayServer();

  const Address& address() const;
  size_t connection_count() const;

 private:
  class Impl;
  explicit GatewayServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace tidemark::sql
