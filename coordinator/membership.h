// Who is alive: ephemeral entries, one per process, that hold a ProcessFact.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/scheduler.h"
#include "coordinator/facts.h"
#include "proto/facts.pb.h"

namespace tidemark {

// Keeps an ephemeral entry for this process, through lost connections and expired sessions (it asks for a
// new session itself). If the name is taken, by another process or by the session of a predecessor that has
// not expired yet, it waits until it is free. Lives on the worker's loop.
class Registration {
 public:
  // `folder` is paths::kNodes or paths::kViewManagers. The listener, if any, is told true when the entry is
  // there and false when it is lost.
  Registration(Scheduler& scheduler, Coordination& coordination, std::string folder, pb::ProcessFact self,
               std::function<void(bool)> listener = nullptr);
  // Stops keeping it. The entry goes when the session ends, or at once after withdraw().
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  bool registered() const;
  // For an orderly end: removes the entry, so that others need not wait for the session to expire.
  void withdraw(std::function<void()> done);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

using Members = std::map<std::string, pb::ProcessFact>;  // By name.

// What an EntriesWatch of paths::kNodes or paths::kViewManagers tells. Entries that do not parse, or name
// another process, are left out: they are not ours.
Members members_from(const std::vector<EntriesWatch::Named>& entries);

// The process that bears a view manager's identity: the standby that took it over, else the process of that
// name. Null if it is not alive: the identity's queues are deactivated until it has a bearer again.
const pb::ProcessFact* bearer_of(const pb::RingFact& ring, const Members& view_managers,
                                 const std::string& identity);
// The identity that a process bears, empty if none: it waits as a standby.
std::string identity_of(const pb::RingFact& ring, const std::string& process);

}  // namespace tidemark
