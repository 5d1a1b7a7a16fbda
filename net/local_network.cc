#include "net/local_network.h"

#include <map>
#include <mutex>
#include <set>

#include "base/assert.h"

namespace tidemark {

// One endpoint as seen from other threads: `alive` guards against messages that arrive after its end.
struct Mailbox {
  explicit Mailbox(Scheduler& on) : scheduler(on) {}
  Scheduler& scheduler;
  Transport::Handlers handlers;  // Touched on the scheduler's loop only.
  bool alive = true;             // Likewise.
};

class LocalNetwork::Hub {
 public:
  void add(const Address& address, std::shared_ptr<Mailbox> box) {
    std::lock_guard lock(mutex_);
    bool fresh = boxes_.emplace(address, std::move(box)).second;
    TM_ASSERT(fresh, address);
  }

  void remove(const Address& address) {
    std::lock_guard lock(mutex_);
    boxes_.erase(address);
    for (const Address& peer : peers_[address]) {
      if (peer == address) continue;  // It has sent to itself.
      peers_[peer].erase(address);
      tell_gone(peer, address);
    }
    peers_.erase(address);
  }

  void send(const Address& from, const Address& to, MessagePtr message) {
    std::lock_guard lock(mutex_);
    auto it = boxes_.find(to);
    if (it == boxes_.end()) {
      tell_gone(from, to);
      return;
    }
    peers_[from].insert(to);
    peers_[to].insert(from);
    deliver(*it->second, it->second, [from, message = std::move(message)](Mailbox& box) {
      if (box.handlers.on_message) box.handlers.on_message(from, message);
    });
  }

 private:
  template <typename Task>
  void deliver(Mailbox& box, std::shared_ptr<Mailbox> keep, Task task) {
    box.scheduler.post([keep = std::move(keep), task = std::move(task)] {
      if (keep->alive) task(*keep);
    });
  }

  void tell_gone(const Address& whom, const Address& gone) {
    auto it = boxes_.find(whom);
    if (it == boxes_.end()) return;
    deliver(*it->second, it->second, [gone](Mailbox& box) {
      if (box.handlers.on_disconnect) box.handlers.on_disconnect(gone);
    });
  }

  std::mutex mutex_;
  std::map<Address, std::shared_ptr<Mailbox>> boxes_;
  std::map<Address, std::set<Address>> peers_;
};

class LocalNetwork::Endpoint : public Transport {
 public:
  Endpoint(std::shared_ptr<Hub> hub, Address address, Scheduler& scheduler)
      : hub_(std::move(hub)), address_(std::move(address)), box_(std::make_shared<Mailbox>(scheduler)) {
    hub_->add(address_, box_);
  }
  ~Endpoint() override {
    box_->alive = false;
    hub_->remove(address_);
  }

  void send(const Address& to, MessagePtr message) override { hub_->send(address_, to, std::move(message)); }
  size_t unsent_bytes(const Address&) const override { return 0; }
  void set_handlers(Handlers handlers) override { box_->handlers = std::move(handlers); }

 private:
  std::shared_ptr<Hub> hub_;
  Address address_;
  std::shared_ptr<Mailbox> box_;
};

LocalNetwork::LocalNetwork() : hub_(std::make_shared<Hub>()) {}
LocalNetwork::~LocalNetwork() = default;

std::unique_ptr<Transport> LocalNetwork::connect(const Address& address, Scheduler& scheduler) {
  return std::make_unique<Endpoint>(hub_, address, scheduler);
}

}  // namespace tidemark
