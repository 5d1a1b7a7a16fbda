// The facts as one value: read together, written together by compare-and-set. Only an elected coordinator has
// one, so that what it has read stays true until it writes itself; a write that finds otherwise fails whole.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coordinator/facts.h"
#include "coordinator/situation.h"

namespace tidemark {

class FactStore {
 public:
  explicit FactStore(Coordination& coordination);
  ~FactStore();

  // Reads all. `done` is called with an error if one can not be read, or does not parse.
  using Loaded = std::function<void(Result<ClusterFacts, CoordinationError>)>;
  void load(Loaded done);

  // Writes what differs from what was read or written last, if the entry `guard` exists and every fact is
  // still at the version known here, those that stay the same included. After any error: load() again.
  // REQUIRES: load() has succeeded, and no other call is under way.
  void write(const std::string& guard, const ClusterFacts& after, uint64_t nonce,
             std::function<void(Result<void, CoordinationError>)> done);

  // Removes what writes that failed have left behind.
  void sweep(const std::string& guard);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark
