#include "view_manager/view_manager.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/guarded_scheduler.h"
#include "base/wakeup.h"
#include "coordinator/facts.h"
#include "coordinator/membership.h"
#include "coordinator/watched_directory.h"
#include "proto/catalog.pb.h"
#include "view_manager/view_programs.h"

namespace tidemark {

namespace {

constexpr size_t kEarlyMax = 256;
constexpr Micros kTickMin{1'000};

}  // namespace

class ViewManager::Impl {
 public:
  Impl(const ProcessContext& context, ViewManagerOptions options)
      : context_(context), options_(std::move(options)), scheduler_(context.scheduler) {}

  void start() {
    directory_.emplace(context_.coordination, scheduler_);
    ring_watch_.emplace(context_.coordination, scheduler_, paths::kRing,
                        [this](const std::optional<Fact>& fact) { on_ring(fact); });
    map_watch_.emplace(context_.coordination, scheduler_, paths::kRegionMap,
                       [this](const std::optional<Fact>& fact) { on_map(fact); });
    catalog_watch_.emplace(context_.coordination, scheduler_, paths::kCatalog,
                           [this](const std::optional<Fact>& fact) { on_catalog(fact); });
    registration_.emplace(scheduler_, context_.coordination, paths::kViewManagers, options_.self);
  }

  void stop(std::function<void()> done) {
    core_.reset();
    catalog_watch_.reset();
    map_watch_.reset();
    ring_watch_.reset();
    directory_.reset();
    if (!registration_) return done();
    registration_->withdraw(std::move(done));
  }

  bool on_message(const Address& from, const MessagePtr& message) {
    switch (message->body_case()) {
      case pb::Message::kQueueOpen:
      case pb::Message::kQueueRecords:
      case pb::Message::kQueueClose:
      case pb::Message::kEffectsAnswer: break;
      case pb::Message::kRefusal:
        if (!core_ || !core_->asked(message->request())) return false;
        directory_->look_again();
        break;
      default: return false;
    }
    if (core_) {
      core_->on_message(from, message);
      pump_soon();
    } else if (message->has_queue_open() || message->has_queue_close()) {
      keep_early(from, message);
    }
    return true;
  }

  const ViewManagerCore* core() const { return core_.get(); }

 private:
  void on_ring(const std::optional<Fact>& fact) {
    if (!fact || !ring_.ParseFromString(fact->data)) return;
    const std::string identity = identity_of(ring_, options_.self.name());
    if (identity != identity_) {
      // There is nothing to keep of another identity: its lanes are opened anew by their owners.
      identity_ = identity;
      core_.reset();
      if (!identity.empty()) {
        core_ = std::make_unique<ViewManagerCore>(ViewManagerId{identity}, options_.shards, programs_,
                                                  options_.limits, context_.random.next() >> 1);
        core_->on_regions(map_);
      }
    }
    if (!core_) return;
    core_->on_ring(ring_);
    for (const auto& [from, message] : std::exchange(early_, {})) core_->on_message(from, message);
    pump_soon();
  }

  // A node may have heard before us that lanes are ours: without this it would open their queues again only
  // when it has waited for an answer, and they would stand still that long.
  void keep_early(const Address& from, const MessagePtr& message) {
    if (!ring_watch_) return;  // It has stopped.
    if (early_.size() == kEarlyMax) early_.pop_front();
    early_.emplace_back(from, message);
    ring_watch_->look_again();
  }

  void on_map(const std::optional<Fact>& fact) {
    if (!fact || !map_.ParseFromString(fact->data) || !core_) return;
    core_->on_regions(map_);
    pump_soon();
  }

  void on_catalog(const std::optional<Fact>& fact) {
    pb::Catalog catalog;
    if (!fact || !catalog.ParseFromString(fact->data)) return;
    std::vector<std::string> failures;
    programs_.update(catalog, failures);
    for (const std::string& failure : failures) {
      if (options_.on_failure) options_.on_failure(failure);
    }
    if (core_) pump_soon();
  }

  // Once per turn of the loop, however many messages came: they are combined.
  void pump_soon() {
    if (pump_posted_) return;
    pump_posted_ = true;
    scheduler_.post([this] {
      pump_posted_ = false;
      pump();
    });
  }

  void pump() {
    if (!core_) return;
    core_->tick(scheduler_.now());
    std::vector<Outgoing> out;
    core_->pump(out);
    for (Outgoing& outgoing : out) send(std::move(outgoing));
    if (const std::optional<Micros> next = core_->next_tick()) tick_.by(*next);
  }

  // What finds no owner is dropped: the core asks again.
  void send(Outgoing outgoing) {
    if (outgoing.to) return context_.transport.send(*outgoing.to, std::move(outgoing.message));
    const RegionPlace* place = directory_->find(outgoing.shard);
    if (place == nullptr || place->address.value.empty()) return directory_->look_again();
    if (outgoing.message->has_positions()) {
      outgoing.message->mutable_positions()->set_region(place->region.value);
    }
    context_.transport.send(place->address, std::move(outgoing.message));
  }

  const ProcessContext context_;
  const ViewManagerOptions options_;
  GuardedScheduler scheduler_;
  ViewPrograms programs_;
  std::string identity_;
  std::unique_ptr<ViewManagerCore> core_;
  pb::RingFact ring_;
  pb::RegionMap map_;
  std::deque<std::pair<Address, MessagePtr>> early_;  // Of queues, while there is no core; repeated if lost.
  bool pump_posted_ = false;
  Wakeup tick_{scheduler_, kTickMin, [this] { pump(); }};

  std::optional<WatchedDirectory> directory_;
  std::optional<FactWatch> ring_watch_, map_watch_, catalog_watch_;
  std::optional<Registration> registration_;
};

ViewManager::ViewManager(const ProcessContext& context, ViewManagerOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(options))) {}
ViewManager::~ViewManager() = default;

void ViewManager::start() {
  impl_->start();
}
void ViewManager::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}
bool ViewManager::on_message(const Address& from, const MessagePtr& message) {
  return impl_->on_message(from, message);
}
const ViewManagerCore* ViewManager::core() const {
  return impl_->core();
}

}  // namespace tidemark
