#include "coordinator/zookeeper_coordination.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/assert.h"
#include "coordinator/entry_tree.h"
#include "coordinator/facts.h"

namespace tidemark {

namespace {

CoordinationError error_of(int code) {
  switch (code) {
    case ZNONODE: return CoordinationError::NoNode;
    case ZNODEEXISTS: return CoordinationError::NodeExists;
    case ZBADVERSION: return CoordinationError::BadVersion;
    case ZNOTEMPTY: return CoordinationError::NotEmpty;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZMARSHALLINGERROR:  // Of a multi: the session ended under it. It was not sent.
    case ZSESSIONMOVED:
    case ZCLOSING: return CoordinationError::Disconnected;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE: return CoordinationError::SessionExpired;  // The handle is of no use any more.
    default: return CoordinationError::Refused;
  }
}

// A call under way. Run once: on a thread of the client, or by close() if the client has forgotten it.
struct Call {
  std::function<void(int code, const void* payload)> run;
  std::shared_ptr<Call> self;  // Held for the client, which knows the address alone, until it is run.
};

struct DataPayload {
  std::string_view data;
  const Stat* stat;
};

void complete(const void* call, int code, const void* payload) {
  // Given to the client as a Call*, which hands it back as a pointer to const.
  std::shared_ptr<Call> held = std::move(static_cast<Call*>(const_cast<void*>(call))->self);
  held->run(code, payload);
}

void on_data(int code, const char* value, int length, const Stat* stat, const void* call) {
  DataPayload payload{value && length > 0 ? std::string_view(value, static_cast<size_t>(length)) : "", stat};
  complete(call, code, &payload);
}
void on_stat(int code, const Stat* stat, const void* call) {
  complete(call, code, stat);
}
void on_strings(int code, const String_vector* strings, const void* call) {
  complete(call, code, strings);
}
void on_nothing(int code, const void* call) {
  complete(call, code, nullptr);
}
void on_string(int, const char*, const void*) {}

}  // namespace

// Shared with tasks on the loop. Everything but `handle_`'s use is on the loop.
class ZooKeeperCoordination::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Scheduler& scheduler, ZooKeeperOptions options)
      : scheduler_(scheduler), options_(std::move(options)) {}
  ~Impl() { TM_ASSERT(handle_ == nullptr); }

  // What the client's threads see of us. Lives as long as its handle.
  struct Context {
    Scheduler& scheduler;
    std::weak_ptr<Impl> impl;
    uint64_t session_count;
  };

  void open() {
    TM_ASSERT(handle_ == nullptr);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    context_ = std::make_unique<Context>(Context{scheduler_, weak_from_this(), ++session_count_});
    handle_ =
        zookeeper_init(options_.servers.c_str(), &Impl::on_session_event,
                       static_cast<int>(options_.session_timeout.value / 1000), nullptr, context_.get(), 0);
    if (handle_ == nullptr) return open_later();  // No name resolves, no threads, no memory.
    if (!options_.digest.empty()) {
      zoo_add_auth(handle_, "digest", options_.digest.data(), static_cast<int>(options_.digest.size()),
                   nullptr, nullptr);
    }
    make_root();
  }

  void close() {
    if (handle_ != nullptr) zookeeper_close(handle_);
    handle_ = nullptr;
    context_.reset();
    // The client's threads are gone. Calls that came to their end while they were stopping are forgotten.
    for (const auto& [number, call] : calls_)
      if (call->self != nullptr) complete(call.get(), ZCLOSING, nullptr);
  }

  void new_session() {
    if (state_ != SessionState::Expired) return;
    close();
    enter(SessionState::Connecting);
    open();
  }

  void on_session(std::function<void(SessionState)> listener) {
    listeners_.push_back(listener);
    tell(std::move(listener));
  }

  std::string path_of(const std::string& path) const {
    if (options_.root.empty()) return path;
    return path == "/" ? options_.root : options_.root + path;
  }

  // Starts a call by `start(handle, call)`, which gives an error code if it can not.
  template <typename T, typename Start, typename Parse>
  void call(Start start, Parse parse, Done<T> done) {
    uint64_t number = next_call_++;
    auto finish = [weak = weak_from_this(), number,
                   done = std::move(done)](Result<T, CoordinationError> result) {
      auto self = weak.lock();
      if (!self) return;
      self->calls_.erase(number);
      done(std::move(result));
    };
    auto call = std::make_shared<Call>();
    call->run = [&scheduler = scheduler_, parse, finish](int code, const void* payload) {
      Result<T, CoordinationError> result =
          code == ZOK ? Result<T, CoordinationError>(parse(payload)) : error_of(code);
      scheduler.post([finish, result = std::move(result)] { finish(result); });
    };
    call->self = call;
    calls_[number] = call;
    int code = handle_ == nullptr ? ZCONNECTIONLOSS : start(handle_, call.get());
    if (code != ZOK) complete(call.get(), code, nullptr);
  }

  // The number stands for the watch in the client's threads.
  uint64_t keep(Watch watch) {
    if (!watch) return 0;
    watches_[next_watch_] = std::move(watch);
    return next_watch_++;
  }
  void forget(uint64_t watch) { watches_.erase(watch); }
  static watcher_fn watcher_for(uint64_t watch) { return watch == 0 ? nullptr : &Impl::on_watch; }
  static void* context_of(uint64_t watch) { return reinterpret_cast<void*>(watch); }

  const ACL_vector* acl() const {
    return options_.digest.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
  }
  // Of the connection that was told of last: what the client's threads hold may be changing.
  const Credentials& credentials() const { return credentials_; }

 private:
  // Called by the client's threads: they copy, post and return.
  static void on_session_event(zhandle_t* handle, int type, int state, const char*, void*) {
    auto* context = static_cast<const Context*>(zoo_get_context(handle));
    if (type != ZOO_SESSION_EVENT || context == nullptr) return;
    const clientid_t* id = zoo_client_id(handle);
    Credentials credentials{id->client_id, std::string(id->passwd, sizeof id->passwd)};
    context->scheduler.post([weak = context->impl, count = context->session_count, state, credentials] {
      auto self = weak.lock();
      if (!self || self->session_count_ != count) return;
      self->credentials_ = credentials;
      self->on_state(state);
    });
  }
  static void on_watch(zhandle_t* handle, int type, int, const char*, void* watch) {
    auto* context = static_cast<const Context*>(zoo_get_context(handle));
    if (type == ZOO_SESSION_EVENT || context == nullptr) return;  // It stays set; on_state() has the rest.
    context->scheduler.post([weak = context->impl, number = reinterpret_cast<uint64_t>(watch)] {
      auto self = weak.lock();
      auto found = self ? self->watches_.extract(number) : decltype(self->watches_)::node_type();
      if (!found.empty()) found.mapped()();
    });
  }

  // There never was a session that could have expired: it is still being connected.
  void open_later() {
    scheduler_.post_after(kFactRetryDelay, [weak = weak_from_this(), count = session_count_] {
      auto self = weak.lock();
      if (self && self->session_count_ == count) self->open();
    });
  }

  void on_state(int state) {
    if (state == ZOO_CONNECTED_STATE) {
      make_root();
      enter(SessionState::Connected);
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
      enter(SessionState::Expired);
      for (auto& [number, watch] : std::exchange(watches_, {})) {
        scheduler_.post([weak = weak_from_this(), watch = std::move(watch)] {
          if (weak.lock()) watch();
        });
      }
    } else if (state_ == SessionState::Connected) {
      enter(SessionState::Suspended);
    }
  }

  void enter(SessionState next) {
    if (state_ == next) return;
    state_ = next;
    for (const auto& listener : listeners_) tell(listener);
  }
  void tell(std::function<void(SessionState)> listener) {
    scheduler_.post([weak = weak_from_this(), listener = std::move(listener), now = state_] {
      if (weak.lock()) listener(now);
    });
  }

  // Requests keep their order, so those sent after it find the root. It is ours as what is below it, since
  // who may remove an entry is said by the one above; what is above the root is shared with others.
  void make_root() {
    for (size_t end = options_.root.find('/', 1); !options_.root.empty();
         end = options_.root.find('/', end + 1)) {
      const bool is_last = end == std::string::npos;
      zoo_acreate(handle_, options_.root.substr(0, end).c_str(), "", 0,
                  is_last ? acl() : &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, &on_string, nullptr);
      if (is_last) return;
    }
  }

  Scheduler& scheduler_;
  const ZooKeeperOptions options_;
  std::unique_ptr<Context> context_;
  zhandle_t* handle_ = nullptr;
  uint64_t session_count_ = 0;  // Tells events of an earlier handle.
  Credentials credentials_;
  SessionState state_ = SessionState::Connecting;
  std::vector<std::function<void(SessionState)>> listeners_;
  std::map<uint64_t, Watch> watches_;
  uint64_t next_watch_ = 1;
  std::map<uint64_t, std::shared_ptr<Call>> calls_;
  uint64_t next_call_ = 1;
};

namespace {

// What a multi is made of, which the client reads and writes until its completion.
struct MultiBuffers {
  std::vector<CoordinationOp> ops;
  std::vector<std::string> paths;
  std::vector<std::string> created;  // Buffers for the names of created entries.
  std::vector<zoo_op_t> raw;
  std::vector<zoo_op_result_t> results;

  void prepare(const ACL_vector* acl) {
    raw.resize(ops.size());
    results.resize(ops.size());
    created.resize(ops.size());
    for (size_t i = 0; i < ops.size(); ++i) prepare_one(i, acl);
  }

  void prepare_one(size_t i, const ACL_vector* acl) {
    const CoordinationOp& op = ops[i];
    const char* path = paths[i].c_str();
    int version = op.version.value_or(-1);
    int size = static_cast<int>(op.data.size());
    switch (op.kind) {
      case CoordinationOp::Kind::Check: return zoo_check_op_init(&raw[i], path, version);
      case CoordinationOp::Kind::Remove: return zoo_delete_op_init(&raw[i], path, version);
      case CoordinationOp::Kind::Set:
        return zoo_set_op_init(&raw[i], path, op.data.data(), size, version, nullptr);
      case CoordinationOp::Kind::Create:
        created[i].resize(paths[i].size() + 32);
        return zoo_create_op_init(&raw[i], path, op.data.data(), size, acl, mode_of(op.mode),
                                  created[i].data(), static_cast<int>(created[i].size()));
    }
    TM_UNREACHABLE();
  }

  static int mode_of(EntryMode mode) {
    switch (mode) {
      case EntryMode::Persistent: return ZOO_PERSISTENT;
      case EntryMode::Ephemeral: return ZOO_EPHEMERAL;
      case EntryMode::EphemeralSequential: return ZOO_EPHEMERAL_SEQUENTIAL;
    }
    TM_UNREACHABLE();
  }

  std::vector<std::string> names(size_t root_size) const {
    std::vector<std::string> out;
    for (size_t i = 0; i < ops.size(); ++i) {
      bool is_create = ops[i].kind == CoordinationOp::Kind::Create;
      out.push_back(is_create ? std::string(created[i].c_str()).substr(root_size) : ops[i].path);
    }
    return out;
  }
};

}  // namespace

ZooKeeperCoordination::ZooKeeperCoordination(Scheduler& scheduler, ZooKeeperOptions options)
    : impl_(std::make_shared<Impl>(scheduler, std::move(options))) {
  impl_->open();
}

ZooKeeperCoordination::~ZooKeeperCoordination() {
  impl_->close();
}

void ZooKeeperCoordination::get(const std::string& path, Watch watch, Done<Entry> done) {
  uint64_t number = impl_->keep(std::move(watch));
  auto start = [&](zhandle_t* handle, Call* call) -> int {
    if (!is_valid_entry_path(path)) return ZBADARGUMENTS;
    return zoo_awget(handle, impl_->path_of(path).c_str(), Impl::watcher_for(number),
                     Impl::context_of(number), &on_data, call);
  };
  struct Got {
    Entry entry;
    int64_t owner;
  };
  auto parse = [](const void* payload) {
    const auto& got = *static_cast<const DataPayload*>(payload);
    return Got{{std::string(got.data), got.stat->version, got.stat->czxid, false}, got.stat->ephemeralOwner};
  };
  impl_->call<Got>(start, parse, [impl = impl_.get(), number, done = std::move(done)](auto result) {
    if (!result.ok()) {
      impl->forget(number);
      return done(result.error());
    }
    result->entry.own_ephemeral = result->owner != 0 && result->owner == impl->credentials().session;
    done(std::move(result->entry));
  });
}

void ZooKeeperCoordination::children(const std::string& path, Watch watch,
                                     Done<std::vector<std::string>> done) {
  uint64_t number = impl_->keep(std::move(watch));
  auto start = [&](zhandle_t* handle, Call* call) -> int {
    if (!is_valid_entry_path(path)) return ZBADARGUMENTS;
    return zoo_awget_children(handle, impl_->path_of(path).c_str(), Impl::watcher_for(number),
                              Impl::context_of(number), &on_strings, call);
  };
  auto parse = [](const void* payload) {
    const auto& got = *static_cast<const String_vector*>(payload);
    std::vector<std::string> names(got.data, got.data + got.count);
    std::sort(names.begin(), names.end());
    return names;
  };
  impl_->call<std::vector<std::string>>(start, parse,
                                        [impl = impl_.get(), number, done = std::move(done)](auto result) {
                                          if (!result.ok()) impl->forget(number);
                                          done(std::move(result));
                                        });
}

void ZooKeeperCoordination::exists(const std::string& path, Watch watch, Done<bool> done) {
  uint64_t number = impl_->keep(std::move(watch));
  auto start = [&](zhandle_t* handle, Call* call) -> int {
    if (!is_valid_entry_path(path)) return ZBADARGUMENTS;
    return zoo_awexists(handle, impl_->path_of(path).c_str(), Impl::watcher_for(number),
                        Impl::context_of(number), &on_stat, call);
  };
  auto parse = [](const void*) { return true; };
  impl_->call<bool>(start, parse, [impl = impl_.get(), number, done = std::move(done)](auto result) {
    if (!result.ok() && result.error() == CoordinationError::NoNode) return done(false);  // The watch is set.
    if (!result.ok()) impl->forget(number);
    done(std::move(result));
  });
}

void ZooKeeperCoordination::create(const std::string& path, const std::string& data, EntryMode mode,
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

void ZooKeeperCoordination::multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) {
  auto buffers = std::make_shared<MultiBuffers>();
  bool acceptable = is_acceptable(ops);
  for (const CoordinationOp& op : ops) buffers->paths.push_back(impl_->path_of(op.path));
  buffers->ops = std::move(ops);
  buffers->prepare(impl_->acl());
  auto start = [&](zhandle_t* handle, Call* call) -> int {
    if (!acceptable) return ZBADARGUMENTS;
    if (is_unrecoverable(handle) != ZOK) return ZINVALIDSTATE;
    // If the handle comes to be of no use any more meanwhile, zoo_amulti() frees paths that are ours if there
    // are several. That can happen while a session is being opened; a session that is open loses its
    // connection first.
    if (buffers->ops.size() > 1 && zoo_state(handle) != ZOO_CONNECTED_STATE) return ZCONNECTIONLOSS;
    return zoo_amulti(handle, static_cast<int>(buffers->ops.size()), buffers->raw.data(),
                      buffers->results.data(), &on_nothing, call);
  };
  size_t root_size = impl_->path_of("/") == "/" ? 0 : impl_->path_of("/").size();
  auto parse = [buffers, root_size](const void*) { return buffers->names(root_size); };
  impl_->call<std::vector<std::string>>(start, parse, std::move(done));
}

void ZooKeeperCoordination::on_session(std::function<void(SessionState)> listener) {
  impl_->on_session(std::move(listener));
}

void ZooKeeperCoordination::new_session() {
  impl_->new_session();
}

ZooKeeperCoordination::Credentials ZooKeeperCoordination::credentials() const {
  return impl_->credentials();
}

}  // namespace tidemark
