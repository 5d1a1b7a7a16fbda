#include "tests/simulation/sim_network.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

namespace {
struct Mailbox {
  Scheduler* process;
  Transport::Handlers handlers;
};
}  // namespace

class SimNetwork::State : public std::enable_shared_from_this<State> {
 public:
  State(Scheduler& world, Random random, SimNetworkFaults faults)
      : faults_(faults), world_(world), random_(random) {}

  void add(const Address& address, std::shared_ptr<Mailbox> box) {
    bool fresh = boxes_.emplace(address, std::move(box)).second;
    TM_ASSERT(fresh, address);
  }

  void remove(const Address& address) {
    boxes_.erase(address);
    std::vector<Address> peers;
    for (const auto& [pair, due] : links_) {
      if (pair.first == address) peers.push_back(pair.second);
      if (pair.second == address) peers.push_back(pair.first);
    }
    std::erase_if(links_, [&](const auto& link) {
      return link.first.first == address || link.first.second == address;
    });
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    for (const Address& peer : peers) tell_gone(peer, address);
  }

  void send(const Address& from, const Address& to, MessagePtr message) {
    ++counters_.messages;
    if (tap_) tap_(from, to, *message);
    if (!boxes_.contains(to)) return tell_gone(from, to);
    if (cuts_.contains({from, to})) {
      ++counters_.cut;
      return;
    }
    if (random_.chance(faults_.loss)) {
      ++counters_.lost;
      disconnect(from, to);
      return;
    }
    Micros delay = draw(faults_.delay_max);
    if (random_.chance(faults_.slow)) {
      ++counters_.slow;
      delay = draw(faults_.slow_delay_max);
    }
    // In order per pair: nothing overtakes on one connection.
    Micros& due = links_[{from, to}];
    due = Micros{std::max(due.value, world_.now().value + delay.value)};
    deliver(to, Micros{due.value - world_.now().value}, [from, message](Mailbox& box) {
      if (box.handlers.on_message) box.handlers.on_message(from, message);
    });
  }

  SimNetworkFaults faults_;
  SimNetworkCounters counters_;
  std::set<std::pair<Address, Address>> cuts_;
  Tap tap_;

 private:
  Micros draw(Micros max) { return Micros{random_.between(0, max.value)}; }

  // Both ends hear of it, some time later. What is under way may be overtaken by what the next one brings.
  void disconnect(const Address& a, const Address& b) {
    links_.erase({a, b});
    links_.erase({b, a});
    tell_gone(a, b);
    tell_gone(b, a);
  }

  void tell_gone(const Address& whom, const Address& gone) {
    deliver(whom, draw(faults_.disconnect_delay_max), [gone](Mailbox& box) {
      if (box.handlers.on_disconnect) box.handlers.on_disconnect(gone);
    });
  }

  // To the process that has the address now; a successor under the same address gets nothing of it.
  template <typename Task>
  void deliver(const Address& to, Micros delay, Task task) {
    auto it = boxes_.find(to);
    if (it == boxes_.end()) return;
    it->second->process->post_after(delay,
                                    [weak = std::weak_ptr<Mailbox>(it->second), task = std::move(task)] {
                                      if (const auto box = weak.lock()) task(*box);
                                    });
  }

  Scheduler& world_;
  Random random_;
  std::map<Address, std::shared_ptr<Mailbox>> boxes_;
  std::map<std::pair<Address, Address>, Micros> links_;  // When the last message of the pair arrives.
};

class SimNetwork::Endpoint : public Transport {
 public:
  Endpoint(std::shared_ptr<State> state, Address address, Scheduler& process)
      : state_(std::move(state)), address_(std::move(address)), box_(std::make_shared<Mailbox>()) {
    box_->process = &process;
    state_->add(address_, box_);
  }
  ~Endpoint() override { state_->remove(address_); }

  void send(const Address& to, MessagePtr message) override {
    state_->send(address_, to, std::move(message));
  }
  size_t unsent_bytes(const Address&) const override { return 0; }
  void set_handlers(Handlers handlers) override { box_->handlers = std::move(handlers); }

 private:
  std::shared_ptr<State> state_;
  Address address_;
  std::shared_ptr<Mailbox> box_;
};

SimNetwork::SimNetwork(Scheduler& world, Random random, SimNetworkFaults faults)
    : state_(std::make_shared<State>(world, random, faults)) {}
SimNetwork::~SimNetwork() = default;

void SimNetwork::set_faults(const SimNetworkFaults& faults) {
  state_->faults_ = faults;
}
const SimNetworkCounters& SimNetwork::counters() const {
  return state_->counters_;
}
void SimNetwork::set_tap(Tap tap) {
  state_->tap_ = std::move(tap);
}
void SimNetwork::cut(const Address& from, const Address& to) {
  state_->cuts_.insert({from, to});
}
void SimNetwork::heal_all() {
  state_->cuts_.clear();
}

std::unique_ptr<Transport> SimNetwork::connect(const Address& address, Scheduler& process) {
  return std::make_unique<Endpoint>(state_, address, process);
}

}  // namespace tidemark
