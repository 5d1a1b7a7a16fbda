#include "coordinator/coordinator_role.h"

#include <deque>

#include "coordinator/admin.h"
#include "coordinator/election.h"
#include "coordinator/fact_store.h"
#include "coordinator/freshness.h"
#include "coordinator/relay.h"
#include "proto/messages.pb.h"

namespace tidemark {

class CoordinatorRole::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(const ProcessContext& context, CoordinatorOptions options)
      : context_(context),
        options_(std::move(options)),
        core_(settings_from(options_), context_.random.next()),
        relay_(context_.scheduler, context_.coordination, context_.transport, context_.random) {}

  void start() {
    nodes_ = std::make_unique<EntriesWatch>(
        context_.coordination, context_.scheduler, paths::kNodes,
        [this](const auto& entries) { hear(news::NodesAlive{members_from(entries)}); });
    view_managers_ = std::make_unique<EntriesWatch>(
        context_.coordination, context_.scheduler, paths::kViewManagers,
        [this](const auto& entries) { hear(news::ViewManagersAlive{members_from(entries)}); });
    election_ = std::make_unique<Election>(context_.scheduler, context_.coordination, context_.random,
                                           options_.self, [this](const auto& entry) { on_election(entry); });
    tick();
  }

  void stop() {
    stopped_ = true;
    ++term_;
  }

  bool on_message(const Address& from, const MessagePtr& message) {
    switch (message->body_case()) {
      case pb::Message::kRegionStatus: remember(message->region_status()); return true;
      case pb::Message::kAdmin:
      case pb::Message::kChangeCatalog:
      case pb::Message::kFreshness: on_request(from, message); return true;
      case pb::Message::kAdminReply:
      case pb::Message::kViewsFreshness:
      case pb::Message::kCatalogChanged: return relay_.pass_back(message);
      default: return false;
    }
  }

  bool is_elected() const { return core_.is_elected(); }

  std::optional<Figures> figures() const {
    if (!core_.is_ready()) return std::nullopt;
    Situation now = core_.situation();
    return Figures{static_cast<size_t>(now.facts.operations.running_size()), freshness_of(now)};
  }

  void withdraw(std::function<void()> done) { election_->withdraw(std::move(done)); }

 private:
  struct Request {
    Address from;
    MessagePtr message;
  };

  static CoordinatorSettings settings_from(const CoordinatorOptions& options) {
    CoordinatorSettings settings = options.settings;
    settings.name = options.self.name();
    return settings;
  }

  // ---- news

  void hear(const CoordinatorNews& one) {
    if (stopped_) return;
    Micros now = context_.scheduler.now();
    CoordinatorCommands commands;
    core_.step(one, {now, options_.wall_clock_micros ? options_.wall_clock_micros() : now.value}, commands);
    obey(commands);
    answer_requests();
  }

  void tick() {
    context_.scheduler.post_after(options_.tick, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self || self->stopped_) return;
      self->hear(news::TimePassed{});
      self->tick();
    });
  }

  void on_election(const std::optional<std::string>& entry) {
    ++term_;
    swept_ = false;  // Others may have left chunks meanwhile.
    entry_ = entry.value_or("");
    store_ = entry ? std::make_unique<FactStore>(context_.coordination) : nullptr;
    if (entry) {
      hear(news::Elected{});
    } else {
      hear(news::Deposed{});
    }
  }

  void remember(const pb::RegionStatus& status) {
    if (!core_.is_elected()) return;
    reported_.push_back(status);
    if (reported_.size() > 1) return;
    context_.scheduler.post([weak = weak_from_this()] {
      auto self = weak.lock();
      if (self) self->hear(news::StatusesReported{std::exchange(self->reported_, {})});
    });
  }

  // ---- commands

  void obey(const CoordinatorCommands& commands) {
    if (commands.read_facts) read_facts();
    if (commands.tell_to_look_again) tell_to_look_again();
    for (const std::string& identity : commands.launch)
      if (options_.launch) options_.launch(identity);
    if (commands.write) {
      if (options_.on_step) options_.on_step(*commands.write);
      write(commands.write->after, nullptr);
    }
  }

  void read_facts() {
    store_->load([weak = weak_from_this(), term = term_](auto facts) {
      auto self = weak.lock();
      if (!self || self->term_ != term) return;
      if (facts.ok()) {
        if (!self->swept_) self->store_->sweep(self->entry_);
        self->swept_ = true;
        return self->hear(news::FactsRead{std::move(*facts)});
      }
      self->after_delay(term, [self] { self->read_facts(); });
    });
  }

  // Writes, and then tells the core, and whoever asked for it (true: it was written).
  void write(const ClusterFacts& after, std::function<void(bool)> asked) {
    auto copy = std::make_shared<ClusterFacts>(after);
    store_->write(
        entry_, after, context_.random.next(),
        [weak = weak_from_this(), term = term_, copy, asked](Result<void, CoordinationError> result) {
          auto self = weak.lock();
          if (!self || self->term_ != term) return;
          if (asked) asked(result.ok());
          if (result.ok()) return self->hear(news::Written{std::move(*copy)});
          if (result.error() == CoordinationError::Refused) self->say_refused();
          self->swept_ = false;
          self->election_->look_again();  // Perhaps the entry has gone.
          self->after_delay(term, [self] { self->hear(news::WriteFailed{}); });
        });
  }

  void say_refused() {
    const Micros now = context_.scheduler.now();
    if (said_refused_ && now.value - said_refused_->value < kSayRefusedEvery.value) return;
    said_refused_ = now;
    if (options_.on_refused) options_.on_refused();
  }

  void after_delay(uint64_t term, std::function<void()> task) {
    context_.scheduler.post_after(kFactRetryDelay, [weak = weak_from_this(), term, task = std::move(task)] {
      auto self = weak.lock();
      if (self && !self->stopped_ && self->term_ == term) task();
    });
  }

  void tell_to_look_again() {
    auto message = std::make_shared<pb::Message>();
    message->mutable_look_again();
    std::set<std::string> addresses;
    for (const Members* members : {&core_.nodes(), &core_.view_managers()})
      for (const auto& [name, process] : *members) addresses.insert(process.address());
    for (const std::string& address : addresses)
      if (!address.empty()) context_.transport.send(Address{address}, message);
  }

  // ---- operators

  void on_request(const Address& from, const MessagePtr& message) {
    if (core_.is_elected()) {
      requests_.push_back({from, message});
      return answer_requests();
    }
    relay_.pass_on(from, message, options_.self.name(), [this, from, message] {
      reply_failure(from, *message, "there is no coordinator at the moment: try again");
    });
  }

  void answer_requests() {
    while (core_.is_ready() && !requests_.empty()) {
      Request request = std::move(requests_.front());
      requests_.pop_front();
      if (request.message->has_admin()) {
        answer_admin_request(request);
      } else if (request.message->has_freshness()) {
        auto reply = reply_to(request);
        *reply->mutable_views_freshness() = freshness_of(core_.situation());
        context_.transport.send(request.from, reply);
      } else {
        answer_catalog_request(request);
      }
    }
    if (!core_.is_elected()) requests_.clear();  // They ask again.
  }

  void answer_admin_request(const Request& request) {
    AdminAnswer answer = answer_admin(core_.situation(), request.message->admin());
    auto reply = reply_to(request);
    *reply->mutable_admin_reply() = std::move(answer.reply);
    if (!answer.after) return context_.transport.send(request.from, reply);
    write_for(request, reply, *answer.after);
  }

  void answer_catalog_request(const Request& request) {
    auto reply = reply_to(request);
    pb::CatalogReply& out = *reply->mutable_catalog_changed();
    ClusterFacts after = core_.situation().facts;
    auto next = change_catalog(after.catalog, request.message->change_catalog());
    if (!is_bootstrapped(after)) next = Error{"there is no cluster yet"};
    if (!next.ok()) {
      out.set_message(next.error().message);
      out.set_version(after.catalog.version());
      return context_.transport.send(request.from, reply);
    }
    out.set_ok(true);
    out.set_version(next->version());
    after.catalog = std::move(*next);
    write_for(request, reply, after);
  }

  void write_for(const Request& request, std::shared_ptr<pb::Message> reply, const ClusterFacts& after) {
    core_.begin_write();
    write(after, [this, request, reply](bool written) {
      if (written) return context_.transport.send(request.from, reply);
      reply_failure(request.from, *request.message, "it is not known whether it was begun: ask again");
    });
  }

  static std::shared_ptr<pb::Message> reply_to(const Request& request) {
    auto reply = std::make_shared<pb::Message>();
    reply->set_request(request.message->request());
    return reply;
  }

  void reply_failure(const Address& to, const pb::Message& request, const std::string& reason) {
    auto reply = std::make_shared<pb::Message>();
    reply->set_request(request.request());
    if (request.has_admin()) {
      reply->mutable_admin_reply()->set_exit_code(1);
      reply->mutable_admin_reply()->set_out(reason + "\n");
    } else if (request.has_freshness()) {
      reply->mutable_views_freshness()->set_failed(reason);
    } else {
      reply->mutable_catalog_changed()->set_message(reason);
    }
    context_.transport.send(to, reply);
  }

  const ProcessContext context_;
  const CoordinatorOptions options_;
  Coordinator core_;
  Relay relay_;
  std::unique_ptr<EntriesWatch> nodes_;
  std::unique_ptr<EntriesWatch> view_managers_;
  std::unique_ptr<Election> election_;
  std::unique_ptr<FactStore> store_;  // While elected.
  std::string entry_;                 // The guard of every write.
  uint64_t term_ = 0;                 // Tells the calls of an earlier election.
  bool swept_ = false;                // Chunks that failed writes have left behind, before this one's next.
  std::optional<Micros> said_refused_;
  bool stopped_ = false;
  std::vector<pb::RegionStatus> reported_;
  std::deque<Request> requests_;
};

CoordinatorRole::CoordinatorRole(const ProcessContext& context, CoordinatorOptions options)
    : impl_(std::make_shared<Impl>(context, std::move(options))) {
  impl_->start();
}

CoordinatorRole::~CoordinatorRole() {
  impl_->stop();
}

bool CoordinatorRole::on_message(const Address& from, const MessagePtr& message) {
  return impl_->on_message(from, message);
}

bool CoordinatorRole::is_for_coordinator(const pb::Message& message) {
  return message.has_region_status() || message.has_admin() || message.has_admin_reply() ||
         message.has_change_catalog() || message.has_catalog_changed() || message.has_freshness() ||
         message.has_views_freshness();
}

bool CoordinatorRole::is_elected() const {
  return impl_->is_elected();
}

std::optional<CoordinatorRole::Figures> CoordinatorRole::figures() const {
  return impl_->figures();
}

void CoordinatorRole::withdraw(std::function<void()> done) {
  impl_->withdraw(std::move(done));
}

}  // namespace tidemark
