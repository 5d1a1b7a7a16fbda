#include "net/shared_transport.h"

#include <algorithm>
#include <vector>

namespace tidemark {

class SharedTransport::Facet : public Transport {
 public:
  Facet(std::shared_ptr<State> state, Takes takes);
  ~Facet() override;

  void send(const Address& to, MessagePtr message) override;
  size_t unsent_bytes(const Address& to) const override;
  void set_handlers(Handlers handlers) override { handlers_ = std::move(handlers); }

  bool takes(const pb::Message& message) const { return takes_(message); }
  const Handlers& handlers() const { return handlers_; }

 private:
  std::shared_ptr<State> state_;
  Takes takes_;
  Handlers handlers_;
};

class SharedTransport::State {
 public:
  explicit State(Transport& over) : inner(over) {}

  void on_message(const Address& from, const MessagePtr& message) {
    for (Facet* facet : facets) {
      if (!facet->takes(*message)) continue;
      // A copy: a handler may replace itself.
      if (auto handler = facet->handlers().on_message) handler(from, message);
      return;
    }
  }

  void on_disconnect(const Address& peer) {
    for (Facet* facet : std::vector<Facet*>(facets)) {
      bool there = std::find(facets.begin(), facets.end(), facet) != facets.end();
      if (!there) continue;
      if (auto handler = facet->handlers().on_disconnect) handler(peer);
    }
  }

  Transport& inner;
  std::vector<Facet*> facets;
};

SharedTransport::Facet::Facet(std::shared_ptr<State> state, Takes takes)
    : state_(std::move(state)), takes_(std::move(takes)) {
  state_->facets.push_back(this);
}

SharedTransport::Facet::~Facet() {
  std::erase(state_->facets, this);
}

void SharedTransport::Facet::send(const Address& to, MessagePtr message) {
  state_->inner.send(to, std::move(message));
}

size_t SharedTransport::Facet::unsent_bytes(const Address& to) const {
  return state_->inner.unsent_bytes(to);
}

SharedTransport::SharedTransport(Transport& inner) : state_(std::make_shared<State>(inner)) {
  inner.set_handlers(
      {[state = state_](const Address& from, MessagePtr message) { state->on_message(from, message); },
       [state = state_](const Address& peer) { state->on_disconnect(peer); }});
}

SharedTransport::~SharedTransport() {
  state_->inner.set_handlers({});
}

std::unique_ptr<Transport> SharedTransport::facet(Takes takes) {
  return std::make_unique<Facet>(state_, std::move(takes));
}

}  // namespace tidemark
