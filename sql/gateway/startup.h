// What a client says of itself in its startup packet.
#pragma once

#include <string>
#include <vector>

#include "sql/gateway/session.h"
#include "sql/gateway/wire.h"

namespace tidemark::sql {

struct Startup {
  SessionRequest request;
  std::vector<std::string> unknown_options;  // Of the protocol: _pq_.*
};

// `body`: what follows the version.
Result<Startup, SqlError> read_startup(WireReader& body);

}  // namespace tidemark::sql
