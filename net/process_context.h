// All that a role (storage node, view manager, coordinator, client) knows of the outside world. Production
// fills it with Asio, TCP, ZooKeeper, Kafka or files; the simulation with simulated ones. The roles
// themselves are the same code in both: deterministic, one loop, no clock, socket, thread or file.
#pragma once

#include "base/random.h"
#include "base/scheduler.h"
#include "net/transport.h"

namespace tidemark {

class Coordination;
class LogStore;

struct ProcessContext {
  Scheduler& scheduler;
  Transport& transport;
  Coordination& coordination;
  Random& random;
  LogStore* logs = nullptr;  // Storage nodes only.
};

}  // namespace tidemark
