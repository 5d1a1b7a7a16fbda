// Elect coordinator (docs/protocols.md): each node queues up in /election with an ephemeral sequential entry
// and watches the one before it; the first is the coordinator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "coordinator/facts.h"
#include "proto/facts.pb.h"

namespace tidemark {

class Election {
 public:
  // Told the path of this process's entry when it is elected, and none when its session is lost. Between the
  // loss and the news of it another may be elected: whatever an elected one writes, it writes together with
  // a check of that entry, so that a deposed one can write nothing.
  using Listener = std::function<void(const std::optional<std::string>& entry)>;

  Election(Scheduler& scheduler, Coordination& coordination, Random& random, pb::ProcessFact self,
           Listener listener);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Something failed that would not have, if this process were still elected.
  void look_again();
  // For an orderly end: leaves the queue, so that the next one need not wait for the session to expire.
  void withdraw(std::function<void()> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// An entry's place in the queue: names sort by it.
std::string election_number(const std::string& name);
// Who is the coordinator, by what an EntriesWatch of paths::kElection tells.
std::optional<pb::ProcessFact> coordinator_from(const std::vector<EntriesWatch::Named>& entries);

}  // namespace tidemark
