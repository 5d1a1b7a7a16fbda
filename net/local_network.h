// Transport between roles in one process: messages are handed over by pointer, never encoded.
#pragma once

#include <memory>

#include "base/scheduler.h"
#include "net/transport.h"

namespace tidemark {

// Knows who is reachable under which name. Outlives the transports made by it.
class LocalNetwork {
 public:
  LocalNetwork();
  ~LocalNetwork();

  // A transport whose handlers run on `scheduler`. Destroying it makes the address unreachable, and peers
  // that have exchanged messages with it are told of the disconnection.
  // REQUIRES: nobody has the address; destroyed on the scheduler's loop.
  std::unique_ptr<Transport> connect(const Address& address, Scheduler& scheduler);

 private:
  class Hub;
  class Endpoint;
  std::shared_ptr<Hub> hub_;
};

}  // namespace tidemark
