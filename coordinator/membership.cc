#include "coordinator/membership.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace tidemark {

struct Registration::State : std::enable_shared_from_this<State> {
  State(Scheduler& s, Coordination& c, const std::string& folder, const pb::ProcessFact& self,
        std::function<void(bool)> l)
      : scheduler(s),
        coordination(c),
        path(folder + "/" + self.name()),
        data(self.SerializeAsString()),
        listener(std::move(l)) {}

  void start() {
    coordination.on_session([weak = weak_from_this()](SessionState state) {
      auto self = weak.lock();
      if (self && !self->withdrawn) self->on_session(state);
    });
  }

  void on_session(SessionState state) {
    if (state == SessionState::Expired) {
      become(false);
      coordination.new_session();
    } else if (state == SessionState::Connected && !registered) {
      create();
    }
  }

  void create() {
    if (busy || withdrawn) return;
    busy = true;
    coordination.create(path, data, EntryMode::Ephemeral, [weak = weak_from_this()](auto result) {
      auto self = weak.lock();
      if (!self) return;
      self->busy = false;
      self->on_created(result.ok() ? std::nullopt : std::optional(result.error()));
    });
  }

  void on_created(std::optional<CoordinationError> error) {
    if (!error || *error == CoordinationError::NodeExists) return look();
    // Also of an expired session: the next one may have come while this was under way.
    if (*error != CoordinationError::NoNode) return create_later();
    ensure_folders(coordination, [weak = weak_from_this()](auto) {
      if (auto self = weak.lock()) self->create_later();
    });
  }

  // Whose is it? Also watches it: an entry that vanishes is created again.
  void look() {
    coordination.get(
        path,
        [weak = weak_from_this()] {
          auto self = weak.lock();
          if (self && !self->withdrawn) self->create();
        },
        [weak = weak_from_this()](auto result) {
          auto self = weak.lock();
          if (!self) return;
          self->become(result.ok() && result->own_ephemeral);
          if (!result.ok()) self->create_later();
        });
  }

  void create_later() {
    scheduler.post_after(kFactRetryDelay, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->create();
    });
  }

  void become(bool now) {
    if (registered == now) return;
    registered = now;
    if (listener) listener(now);
  }

  void withdraw(std::function<void()> done) {
    withdrawn = true;
    std::vector<CoordinationOp> ops(1);
    ops[0].kind = CoordinationOp::Kind::Remove;
    ops[0].path = path;
    if (!registered) return scheduler.post(std::move(done));
    coordination.multi(std::move(ops), [weak = weak_from_this(), done = std::move(done)](auto) {
      if (auto self = weak.lock()) self->become(false);
      done();
    });
  }

  Scheduler& scheduler;
  Coordination& coordination;
  const std::string path;
  const std::string data;
  const std::function<void(bool)> listener;
  bool registered = false;
  bool busy = false;
  bool withdrawn = false;
};

Registration::Registration(Scheduler& scheduler, Coordination& coordination, std::string folder,
                           pb::ProcessFact self, std::function<void(bool)> listener)
    : state_(std::make_shared<State>(scheduler, coordination, folder, self, std::move(listener))) {
  TM_ASSERT(is_valid_member_name(self.name()), self.name());
  state_->start();
}

Registration::~Registration() = default;

bool Registration::registered() const {
  return state_->registered;
}

void Registration::withdraw(std::function<void()> done) {
  state_->withdraw(std::move(done));
}

Members members_from(const std::vector<EntriesWatch::Named>& entries) {
  Members out;
  for (const auto& [name, entry] : entries) {
    pb::ProcessFact fact;
    if (fact.ParseFromString(entry.data) && fact.name() == name) out[name] = std::move(fact);
  }
  return out;
}

const pb::ProcessFact* bearer_of(const pb::RingFact& ring, const Members& view_managers,
                                 const std::string& identity) {
  const std::string* process = &identity;
  for (const auto& bearer : ring.bearers()) {
    if (bearer.identity() != identity && bearer.process() == identity) process = nullptr;
  }
  for (const auto& bearer : ring.bearers())
    if (bearer.identity() == identity) process = &bearer.process();
  if (process == nullptr) return nullptr;  // Its own process bears another.
  auto found = view_managers.find(*process);
  return found == view_managers.end() ? nullptr : &found->second;
}

std::string identity_of(const pb::RingFact& ring, const std::string& process) {
  for (const auto& bearer : ring.bearers())
    if (bearer.process() == process) return bearer.identity();
  for (const auto& bearer : ring.bearers())
    if (bearer.identity() == process) return {};  // Another has taken it over.
  // One that leaves bears its identity until no lane has to be committed under a ring that names it.
  auto names = [&process](const pb::Ring& one) {
    return std::find(one.members().begin(), one.members().end(), process) != one.members().end();
  };
  bool named = names(ring.ring()) || std::any_of(ring.previous().begin(), ring.previous().end(), names);
  return named ? process : std::string();
}

}  // namespace tidemark
