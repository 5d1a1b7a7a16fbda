// The network of a simulated world: messages are delayed, lost with their connection, held back by
// partitions (also one-way). Between two processes messages keep their order while their connection lives;
// across pairs, and from one connection to the next, they do not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "base/scheduler.h"
#include "net/transport.h"

namespace tidemark {

struct SimNetworkFaults {
  double loss = 0;  // Per message: it goes, and the connection with it.
  double slow = 0;  // Per message: it takes up to `slow_delay_max`.
  Micros delay_max{500};
  Micros slow_delay_max{200'000};
  Micros disconnect_delay_max{50'000};  // After which a peer hears that a connection is gone.
};

struct SimNetworkCounters {
  uint64_t messages = 0;
  uint64_t lost = 0;
  uint64_t slow = 0;
  uint64_t cut = 0;  // Lost in a partition.
};

class SimNetwork {
 public:
  // REQUIRES: `world` outlives it, and it outlives the transports made by it.
  SimNetwork(Scheduler& world, Random random, SimNetworkFaults faults = {});
  ~SimNetwork();

  void set_faults(const SimNetworkFaults& faults);
  const SimNetworkCounters& counters() const;
  // Told of each message as it is sent, whether it will arrive or not. For checkers and traces.
  using Tap = std::function<void(const Address& from, const Address& to, const pb::Message& message)>;
  void set_tap(Tap tap);

  // Messages from `from` to `to` are lost from now on, until healed.
  void cut(const Address& from, const Address& to);
  void heal_all();

  // The transport of one process: handlers run on `process`. Destroying it is the death of the process.
  std::unique_ptr<Transport> connect(const Address& address, Scheduler& process);

 private:
  class State;
  class Endpoint;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark
