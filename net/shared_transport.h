// Several roles of one process on one transport, one address: each message goes to the first that takes it,
// disconnections to all.
#pragma once

#include <functional>
#include <memory>

#include "net/transport.h"

namespace tidemark {

class SharedTransport {
 public:
  // Takes over the handlers of `inner`. REQUIRES: `inner` outlives it, and it outlives its facets.
  explicit SharedTransport(Transport& inner);
  ~SharedTransport();

  using Takes = std::function<bool(const pb::Message& message)>;
  // Messages are offered to facets in the order of their making.
  std::unique_ptr<Transport> facet(Takes takes);

 private:
  class State;
  class Facet;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark
