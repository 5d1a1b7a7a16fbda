// Messages between processes, as cores' drivers see them. At most once, in order per peer while the
// connection lives; anything may be lost. Over TCP in production, in process when embedded, simulated in
// tests. Lives on one worker's loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/types.h"

namespace tidemark {

namespace pb {
class Message;
}

// "host:port" of a listener; or a name that the transport gave to an incoming connection, good for answers
// as long as the connection lives.
TM_QUANTITY(Address, std::string)

using MessagePtr = std::shared_ptr<const pb::Message>;

class Transport {
 public:
  virtual ~Transport() = default;

  // Connects on demand. Dropped, silently, if the peer can not be reached or its window is full for too
  // long: whoever needs an answer asks again.
  virtual void send(const Address& to, MessagePtr message) = 0;

  // Bytes queued towards the peer and not yet taken by the network: senders of bulk hold back on it.
  virtual size_t unsent_bytes(const Address& to) const = 0;

  struct Handlers {
    std::function<void(const Address& from, MessagePtr message)> on_message;
    std::function<void(const Address& peer)> on_disconnect;
  };
  virtual void set_handlers(Handlers handlers) = 0;
};

}  // namespace tidemark
