// What the roles of a process are surrounded by: a network, a coordination service and logs, handed out per
// loop. Embedded, all of it is in this process; in a cluster it is TCP, ZooKeeper and Kafka. The servers in
// this folder are the same in both.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "coordinator/coordination.h"
#include "net/asio_loop.h"
#include "net/transport.h"
#include "wal/log.h"

namespace tidemark {

inline constexpr std::chrono::seconds kStopPatience{10};  // That a role is given to end.

// Thread-safe. REQUIRES: it outlives all that it hands out.
class Surroundings {
 public:
  virtual ~Surroundings() = default;

  // An event loop. Whoever gets one stops it; it may be kept longer than that, for those who still post to
  // it.
  virtual std::shared_ptr<AsioLoop> loop(const std::string& name) { return std::make_shared<AsioLoop>(name); }

  // A session of its own. Destroyed on the loop or after the loop has ended.
  virtual std::unique_ptr<Coordination> coordination(Scheduler& loop) = 0;

  // Destroyed on the loop.
  virtual std::unique_ptr<LogStore> logs(Scheduler& loop) = 0;

  struct Endpoint {
    std::unique_ptr<Transport> transport;  // Destroyed on the loop.
    Address address;                       // Where others reach it; empty if it does not listen.
  };
  struct EndpointOptions {
    std::string name;
    uint64_t cluster = 0;
    Address listen;  // Embedded, the name is the address. Empty: only connects.
  };
  // On the loop. Error: says which address can not be listened on, and why.
  virtual Result<Endpoint> connect(AsioLoop& loop, const EndpointOptions& options) = 0;
};

}  // namespace tidemark
