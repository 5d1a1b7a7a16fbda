// A real PostgreSQL: the oracle of tests.
#pragma once

#include <memory>
#include <string>

#include "tests/servers/ports.h"
#include "tests/servers/server.h"

namespace tidemark::servers {

// Serves when the constructor returns. Throws ServerError. Durability is off: it forgets nothing on kill -9
// of its processes, but a power cut is not its business here.
class PostgresServer {
 public:
  PostgresServer();

  // For libpq: a superuser, no password, database "postgres".
  std::string connection_string() const;
  uint16_t port() const { return port_.number(); }
  Server& server() { return *server_; }

 private:
  bool answers() const;

  TemporaryDirectory directory_;
  HeldPort port_;
  std::unique_ptr<Server> server_;
};

}  // namespace tidemark::servers
