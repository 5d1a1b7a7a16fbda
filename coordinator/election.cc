#include "coordinator/election.h"

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

void sort_by_number(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return election_number(a) < election_number(b); });
}

std::string hex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (size_t i = 0; i < 16; ++i) out[15 - i] = kDigits[value >> (4 * i) & 15];
  return out;
}

}  // namespace

// Entries are "<guid>-<number>": the guid tells whose it is, the number the order.
std::string election_number(const std::string& name) {
  constexpr size_t kDigits = 10;
  return name.size() < kDigits ? name : name.substr(name.size() - kDigits);
}

struct Election::State : std::enable_shared_from_this<State> {
  State(Scheduler& s, Coordination& c, Random& r, const pb::ProcessFact& self, Listener l)
      : scheduler(s), coordination(c), random(r), data(self.SerializeAsString()), listener(std::move(l)) {}

  template <typename Function>
  auto guarded(Function function) {
    return [weak = weak_from_this(), function](auto&&... args) {
      auto self = weak.lock();
      if (self && !self->withdrawn) function(*self, std::forward<decltype(args)>(args)...);
    };
  }

  void start() {
    coordination.on_session(guarded([](State& self, SessionState state) {
      if (state == SessionState::Expired) {
        self.become(std::nullopt);
        self.guid.clear();
        self.coordination.new_session();
      } else if (state == SessionState::Connected) {
        self.look();
      }
    }));
  }

  void join() {
    if (guid.empty()) guid = hex(random.next()) + hex(random.next());
    busy = true;
    coordination.create(paths::kElection + ("/" + guid + "-"), data, EntryMode::EphemeralSequential,
                        guarded([](State& self, auto created) {
                          if (self.must_look_again()) return self.look();
                          if (created.ok()) return self.look();
                          self.on_failure(created.error());
                        }));
  }

  // Where am I in the queue? A reply that was lost is found by the guid: it leaves no second entry.
  void look() {
    again = busy;
    if (std::exchange(busy, true)) return;
    coordination.children(paths::kElection, nullptr, guarded([](State& self, auto names) {
                            if (self.must_look_again()) return self.look();
                            if (!names.ok()) return self.on_failure(names.error());
                            self.on_queue(std::move(*names));
                          }));
  }

  void on_queue(std::vector<std::string> names) {
    sort_by_number(names);
    auto mine = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return !guid.empty() && name.starts_with(guid + "-");
    });
    if (mine == names.end()) {
      become(std::nullopt);
      return join();
    }
    if (mine == names.begin()) return become(paths::kElection + ("/" + *mine));
    become(std::nullopt);
    watch(paths::kElection + ("/" + *(mine - 1)));
  }

  void watch(const std::string& before) {
    busy = true;
    coordination.exists(before, guarded([](State& self) { self.look(); }),
                        guarded([](State& self, auto there) {
                          if (self.must_look_again()) return self.look();
                          if (!there.ok()) return self.on_failure(there.error());
                          if (!*there) self.look();
                        }));
  }

  // Ends the question under way; its answer may be older than what happened meanwhile.
  bool must_look_again() {
    busy = false;
    return std::exchange(again, false);
  }

  void on_failure(CoordinationError error) {
    if (error == CoordinationError::SessionExpired) return;  // The session's listener begins anew.
    auto later = guarded([](State& self, auto&&...) {
      self.scheduler.post_after(kFactRetryDelay, self.guarded([](State& me) { me.look(); }));
    });
    if (error == CoordinationError::NoNode) return ensure_folders(coordination, later);
    later();
  }

  void become(std::optional<std::string> entry) {
    if (entry == elected) return;
    elected = entry;
    listener(elected);
  }

  void withdraw(std::function<void()> done) {
    withdrawn = true;
    if (guid.empty()) return scheduler.post(std::move(done));
    coordination.children(paths::kElection, nullptr,
                          [self = shared_from_this(), done = std::move(done)](auto names) {
                            std::vector<CoordinationOp> ops;
                            for (const std::string& name : names.ok() ? *names : std::vector<std::string>{}) {
                              if (!name.starts_with(self->guid + "-")) continue;
                              ops.emplace_back();
                              ops.back().kind = CoordinationOp::Kind::Remove;
                              ops.back().path = paths::kElection + ("/" + name);
                            }
                            if (ops.empty()) return done();
                            self->coordination.multi(std::move(ops), [self, done](auto) { done(); });
                          });
  }

  Scheduler& scheduler;
  Coordination& coordination;
  Random& random;
  const std::string data;
  const Listener listener;
  std::string guid;  // Empty: not in the queue.
  std::optional<std::string> elected;
  bool busy = false;   // One question at a time.
  bool again = false;  // There was a reason to look while it was under way.
  bool withdrawn = false;
};

Election::Election(Scheduler& scheduler, Coordination& coordination, Random& random, pb::ProcessFact self,
                   Listener listener)
    : state_(std::make_shared<State>(scheduler, coordination, random, self, std::move(listener))) {
  state_->start();
}

Election::~Election() {
  state_->withdrawn = true;  // No further news.
}

void Election::look_again() {
  state_->look();
}

void Election::withdraw(std::function<void()> done) {
  state_->withdraw(std::move(done));
}

std::optional<pb::ProcessFact> coordinator_from(const std::vector<EntriesWatch::Named>& entries) {
  auto first = std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return election_number(a.name) < election_number(b.name);
  });
  pb::ProcessFact fact;
  if (first == entries.end() || !fact.ParseFromString(first->entry.data)) return std::nullopt;
  return fact;
}

}  // namespace tidemark
