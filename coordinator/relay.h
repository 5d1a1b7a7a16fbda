// Passes operators' requests on to whoever is the coordinator, and the answers back.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "base/random.h"
#include "base/scheduler.h"
#include "coordinator/facts.h"
#include "net/transport.h"

namespace tidemark {

class Relay {
 public:
  // REQUIRES: all outlive it.
  Relay(Scheduler& scheduler, Coordination& coordination, Transport& transport, Random& random);

  // Finds the coordinator and sends it the request under a number of its own. `unknown` is called if there is
  // none, or it is `self`: the election is not over.
  void pass_on(const Address& from, const MessagePtr& message, const std::string& self,
               std::function<void()> unknown);
  // True: it answers a request that was passed on, and was sent back.
  bool pass_back(const MessagePtr& message);

 private:
  struct Asker {
    Address address;
    uint64_t request = 0;
  };
  struct State {
    std::map<uint64_t, Asker> waiting;
    uint64_t next;  // Begins anywhere: an answer to what this process asked in an earlier life is nobody's.
  };
  Scheduler& scheduler_;
  Coordination& coordination_;
  Transport& transport_;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark
