#include "coordinator/memory_coordination.h"

#include <functional>
#include <utility>

#include "base/assert.h"

namespace tidemark {

// A session's end of the connection. All members but `tree` belong to the session's loop.
struct CoordinationTree::Client : std::enable_shared_from_this<Client> {
  // Runs on the tree's loop; gives what to run on the session's.
  using Work = std::function<std::function<void()>(CoordinationTree&, SessionNumber)>;
  using Fail = std::function<void(CoordinationError)>;
  using Watch = Coordination::Watch;

  Client(CoordinationTree& t, Scheduler& s, Random r) : tree(t), scheduler(s), random(r) {}

  Micros draw(Micros max) {
    return Micros{max.value == 0 ? 0 : static_cast<int64_t>(random.below(static_cast<uint64_t>(max.value)))};
  }

  // Keeps the order of what was sent: each timer sends whatever is first.
  void delayed(std::deque<std::function<void()>>& line, std::function<void()> task) {
    Micros delay = draw(tree.faults_.delay_max);
    if (delay.value == 0 && line.empty()) return task();
    line.push_back(std::move(task));
    scheduler.post_after(delay, [self = shared_from_this(), &line] {
      if (line.empty()) return;  // The process has died.
      auto next = std::move(line.front());
      line.pop_front();
      next();
    });
  }

  // The owner is gone. What waits for answers refers to this client, which would keep itself for ever.
  void bury() {
    dead = true;
    auto waiting = std::exchange(in_flight, {});
    auto watching = std::exchange(watches, {});
    unsent.clear();
    listeners.clear();
    outgoing.clear();
    incoming.clear();
  }

  void submit(Work work, Fail fail) {
    if (dead) return;  // A dead process sends nothing.
    if (state != SessionState::Connected && state != SessionState::Connecting) {
      CoordinationError error = state == SessionState::Expired ? CoordinationError::SessionExpired
                                                               : CoordinationError::Disconnected;
      return scheduler.post([self = shared_from_this(), fail = std::move(fail), error] {
        if (!self->dead) fail(error);
      });
    }
    uint64_t request = next_request++;
    in_flight[request] = std::move(fail);
    if (state == SessionState::Connecting) {
      unsent.emplace_back(request, std::move(work));
      return;
    }
    send(request, std::move(work));
  }

  void send(uint64_t request, Work work) {
    if (random.chance(tree.faults_.lose_request)) {
      ++tree.counters_.lost_requests;
      return break_connection();
    }
    bool lose_reply = random.chance(tree.faults_.lose_reply);
    // Of the session that it was sent in: one that begins while it is on its way has nothing to do with it.
    delayed(outgoing, [this, request, work = std::move(work), lose_reply, by = session] {
      tree.scheduler_.post([self = shared_from_this(), request, work, lose_reply, by] {
        self->arrive(request, work, lose_reply, by);
      });
    });
  }

  // On the tree's loop.
  void arrive(uint64_t request, const Work& work, bool lose_reply, SessionNumber by) {
    std::function<void()> reply;
    if (tree.entries_.has_session(by)) reply = work(tree, by);
    tree.save_changes();
    scheduler.post([self = shared_from_this(), request, reply = std::move(reply), lose_reply, by] {
      self->delayed(self->incoming,
                    [self, request, reply, lose_reply, by] { self->answer(request, reply, lose_reply, by); });
    });
    tree.deliver_watches();
  }

  void answer(uint64_t request, const std::function<void()>& reply, bool lose_reply, SessionNumber by) {
    if (dead || by != session || !in_flight.contains(request)) return;
    if (lose_reply) {
      ++tree.counters_.lost_replies;
      return break_connection();
    }
    if (!reply) return expire();
    in_flight.erase(request);
    reply();
  }

  // Everything in flight has an unknown outcome.
  void lose_all(CoordinationError error) {
    auto lost = std::exchange(in_flight, {});
    unsent.clear();
    for (auto& [request, fail] : lost) {
      scheduler.post([self = shared_from_this(), fail = std::move(fail), error] {
        if (!self->dead) fail(error);
      });
    }
  }

  void break_connection() {
    disconnect();
    scheduler.post_after(draw(tree.faults_.reconnect_delay_max), [self = shared_from_this()] {
      if (!self->held) self->reconnect();
    });
  }

  void disconnect() {
    if (state != SessionState::Connected) return;
    enter(SessionState::Suspended);
    lose_all(CoordinationError::Disconnected);
    tree.scheduler_.post(
        [self = shared_from_this(), session = session] { self->tree.connection_lost(session); });
  }

  void reconnect() {
    if (state != SessionState::Suspended || dead) return;
    tree.scheduler_.post(
        [self = shared_from_this(), session = session] { self->tree.connect(self, session, false); });
  }

  // With a session of its own, at whatever server.
  void begin() {
    bool lags = tree.faults_.lagging > 0 && random.chance(tree.faults_.lagging);
    tree.scheduler_.post([self = shared_from_this(), lags] { self->tree.connect(self, {}, lags); });
  }

  void connected(SessionNumber number) {
    if (dead) return tree.scheduler_.post([self = shared_from_this(), number] { self->tree.expire(number); });
    if (state == SessionState::Expired) return;
    session = number;
    enter(SessionState::Connected);
    for (auto& [request, work] : std::exchange(unsent, {})) send(request, std::move(work));
  }

  void expire() {
    if (dead || state == SessionState::Expired) return;
    enter(SessionState::Expired);
    lose_all(CoordinationError::SessionExpired);
    for (auto& [number, watch] : std::exchange(watches, {})) call(watch);
  }

  void call(Watch watch) {
    scheduler.post([self = shared_from_this(), watch = std::move(watch)] {
      if (!self->dead) watch();
    });
  }

  void enter(SessionState next) {
    state = next;
    for (const auto& listener : listeners) tell(listener);
  }

  void tell(const std::function<void(SessionState)>& listener) {
    scheduler.post([self = shared_from_this(), listener, now = state] {
      if (!self->dead) listener(now);
    });
  }

  WatchNumber keep(Watch watch) {
    if (!watch) return {};
    WatchNumber number{next_watch++};
    watches[number] = std::move(watch);
    return number;
  }

  void fired(WatchNumber number) {
    scheduler.post_after(draw(tree.faults_.watch_delay_max), [self = shared_from_this(), number] {
      auto found = self->watches.extract(number);
      if (!found.empty() && !self->dead) found.mapped()();
    });
  }

  CoordinationTree& tree;
  Scheduler& scheduler;
  Random random;
  SessionNumber session;
  SessionState state = SessionState::Connecting;
  bool dead = false;  // Its owner is gone: no further call.
  bool held = false;  // Disconnected until told otherwise.
  std::vector<std::function<void(SessionState)>> listeners;
  std::map<uint64_t, Fail> in_flight;
  std::vector<std::pair<uint64_t, Work>> unsent;  // Before the first connection.
  std::map<WatchNumber, Watch> watches;
  std::deque<std::function<void()>> outgoing;
  std::deque<std::function<void()>> incoming;
  uint64_t next_request = 1;
  uint64_t next_watch = 1;
};

CoordinationTree::CoordinationTree(Scheduler& scheduler, const CoordinationFaults& faults)
    : scheduler_(scheduler) {
  set_faults(faults);
}

CoordinationTree::CoordinationTree(Scheduler& scheduler, EntryTree entries, Save save)
    : scheduler_(scheduler), faults_(), entries_(std::move(entries)), save_(std::move(save)) {
  saved_changes_ = entries_.persistent_changes();
}

void CoordinationTree::set_faults(const CoordinationFaults& faults) {
  faults_ = faults;
  if (faults_.lagging > 0 && !behind_) behind_ = entries_.copy();
  if (behind_ && faults_.lag_max.value == 0) catch_up();
}

// The server that lags makes the change later, with all others that it lacks by then.
void CoordinationTree::follow(Change change) {
  if (!behind_) return;
  if (unseen_.empty()) scheduler_.post_after(faults_.lag_max, [this] { catch_up(); });
  unseen_.push_back(std::move(change));
}

void CoordinationTree::catch_up() {
  for (const Change& change : std::exchange(unseen_, {})) change(*behind_);
  deliver_watches();
}

Result<std::vector<std::string>, CoordinationError> CoordinationTree::apply(
    SessionNumber session, const std::vector<CoordinationOp>& ops) {
  auto paths = entries_.apply(session, ops);
  // Of the same outcome there.
  follow([session, ops](EntryTree& entries) { static_cast<void>(entries.apply(session, ops)); });
  if (lagging_.contains(session)) catch_up();
  return paths;
}

EntryTree& CoordinationTree::seen_by(SessionNumber session) {
  if (!lagging_.contains(session)) return entries_;
  if (!unseen_.empty()) ++counters_.past_reads;
  return *behind_;
}

void CoordinationTree::save_changes() {
  if (!save_ || saved_changes_ == entries_.persistent_changes()) return;
  saved_changes_ = entries_.persistent_changes();
  save_(entries_.snapshot());
}

void CoordinationTree::connect(std::shared_ptr<Client> client, SessionNumber session, bool lags) {
  lonely_.erase(session);
  bool expired = session.value != 0 && !entries_.has_session(session);
  const SessionNumber asked = session;
  if (session.value == 0) {
    session = entries_.begin_session();
    follow([](EntryTree& entries) { entries.begin_session(); });
    if (lags && behind_) lagging_.insert(session);
  }
  if (!expired) clients_[session] = client;
  client->scheduler.post([client, asked, session, expired] {
    if (client->session != asked) return;  // Asked twice, and a new session was begun meanwhile.
    if (expired) return client->expire();
    client->connected(session);
  });
}

void CoordinationTree::connection_lost(SessionNumber session) {
  uint64_t number = lonely_[session] = next_lonely_++;
  scheduler_.post_after(faults_.session_timeout, [this, session, number] {
    auto found = lonely_.find(session);
    if (found != lonely_.end() && found->second == number) expire(session);
  });
}

void CoordinationTree::expire(SessionNumber session) {
  entries_.end_session(session);
  follow([session](EntryTree& entries) { entries.end_session(session); });
  lagging_.erase(session);
  bool connected = !lonely_.contains(session);
  lonely_.erase(session);
  auto client = clients_.extract(session);
  if (connected && !client.empty()) {
    if (auto alive = client.mapped().lock()) {
      alive->scheduler.post([alive, session] {
        if (alive->session == session) alive->expire();
      });
    }
  }
  deliver_watches();
}

void CoordinationTree::deliver_watches() {
  deliver_watches_of(entries_);
  if (behind_) deliver_watches_of(*behind_);
}

void CoordinationTree::deliver_watches_of(EntryTree& entries) {
  for (const auto& [session, watch] : entries.take_fired()) {
    auto found = clients_.find(session);
    auto client = found == clients_.end() ? nullptr : found->second.lock();
    if (client) client->scheduler.post([client, number = watch] { client->fired(number); });
  }
}

MemoryCoordination::MemoryCoordination(CoordinationTree& tree, Scheduler& scheduler, Random random)
    : client_(std::make_shared<CoordinationTree::Client>(tree, scheduler, random)) {
  client_->begin();
}

MemoryCoordination::~MemoryCoordination() {
  if (client_->dead) return;
  client_->bury();
  client_->tree.scheduler_.post(
      [client = client_, session = client_->session] { client->tree.expire(session); });
}

// A read that sets a watch if it succeeds, and forgets it if not.
template <typename T, typename Read>
void MemoryCoordination::read(EntryTree::WatchKind kind, const std::string& path, Watch watch,
                              Read read_entry, Done<T> done) {
  WatchNumber number = client_->keep(std::move(watch));
  auto finish = [client = client_, number, done = std::move(done)](Result<T, CoordinationError> result) {
    if (!result.ok()) client->watches.erase(number);
    done(std::move(result));
  };
  client_->submit(
      [kind, path, number, read_entry, finish](CoordinationTree& tree, SessionNumber session) {
        EntryTree& entries = tree.seen_by(session);
        Result<T, CoordinationError> result = read_entry(entries, session);
        if (result.ok() && number.value) entries.watch(kind, path, session, number);
        return std::function<void()>([finish, result = std::move(result)] { finish(result); });
      },
      finish);
}

void MemoryCoordination::get(const std::string& path, Watch watch, Done<Entry> done) {
  auto get_entry = [path](EntryTree& entries, SessionNumber session) { return entries.get(session, path); };
  read(EntryTree::WatchKind::Data, path, std::move(watch), get_entry, std::move(done));
}

void MemoryCoordination::children(const std::string& path, Watch watch, Done<std::vector<std::string>> done) {
  auto get_names = [path](EntryTree& entries, SessionNumber) { return entries.children(path); };
  read(EntryTree::WatchKind::Children, path, std::move(watch), get_names, std::move(done));
}

void MemoryCoordination::exists(const std::string& path, Watch watch, Done<bool> done) {
  auto look = [path](EntryTree& entries, SessionNumber) { return entries.exists(path); };
  read(EntryTree::WatchKind::Data, path, std::move(watch), look, std::move(done));
}

void MemoryCoordination::create(const std::string& path, const std::string& data, EntryMode mode,
                                Done<std::string> done) {
  CoordinationOp op;
  op.kind = CoordinationOp::Kind::Create;
  op.path = path;
  op.data = data;
  op.mode = mode;
  multi({std::move(op)}, [done = std::move(done)](auto paths) {
    if (!paths.ok()) return done(paths.error());
    done(paths->front());
  });
}

void MemoryCoordination::multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) {
  client_->submit(
      [ops = std::move(ops), done](CoordinationTree& tree, SessionNumber session) {
        return std::function<void()>([done, result = tree.apply(session, ops)] { done(result); });
      },
      [done](CoordinationError error) { done(error); });
}

void MemoryCoordination::on_session(std::function<void(SessionState)> listener) {
  client_->listeners.push_back(listener);
  client_->tell(listener);
}

void MemoryCoordination::new_session() {
  if (client_->state != SessionState::Expired) return;
  client_->session = {};
  client_->held = false;
  client_->enter(SessionState::Connecting);
  client_->begin();
}

void MemoryCoordination::disconnect() {
  client_->held = true;
  client_->disconnect();
}

void MemoryCoordination::reconnect() {
  client_->held = false;
  client_->reconnect();
}

void MemoryCoordination::abandon() {
  client_->bury();
  client_->tree.scheduler_.post(
      [client = client_, session = client_->session] { client->tree.connection_lost(session); });
}

SessionNumber MemoryCoordination::session() const {
  return client_->session;
}

}  // namespace tidemark
