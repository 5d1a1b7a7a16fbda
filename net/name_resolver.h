// Host names to addresses, without holding up a loop. For the .cc files of drivers only: includes Asio.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded_scheduler.h"
#include "net/acceptor.h"

namespace tidemark {

// Lives on the loop.
class NameResolver {
 public:
  explicit NameResolver(Scheduler& loop) : loop_(loop), guarded_(loop) {}

  using Endpoints = asio::ip::tcp::resolver::results_type;
  using Done = std::function<void(const Endpoints&)>;  // Empty: none was found.
  // Calls `done` on the loop; for a numeric address at once. Names wait for their servers on a few threads:
  // one that nobody answers for takes one of them, however often it is asked for.
  void resolve(const HostPort& where, Done done);

  // Nobody is told any more. Waits for what is being asked. REQUIRES: done before the loop ends.
  void stop();

 private:
  using Name = std::pair<std::string, std::string>;
  void look_up(const Name& name);
  void finish(const Name& name, const Endpoints& found);

  Scheduler& loop_;
  GuardedScheduler guarded_;
  std::map<Name, std::vector<Done>> waiting_;
  std::unique_ptr<asio::thread_pool> threads_;  // Made for the first name.
};

}  // namespace tidemark
