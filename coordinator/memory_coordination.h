// Coordination within one process: embedded, and in the simulation, where it can be as unkind as a real one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/scheduler.h"
#include "coordinator/coordination.h"
#include "coordinator/entry_tree.h"

namespace tidemark {

// What a simulation may ask for. All zero: a perfect connection.
struct CoordinationFaults {
  Micros delay_max{0};        // Of a request and of a reply, each drawn anew; order is kept.
  Micros watch_delay_max{0};  // Of a watch's call: the longer, the more changes it stands for.
  double lose_request = 0;    // The connection breaks before the request arrives,
  double lose_reply = 0;      // or after: it has happened, and nobody knows.
  Micros reconnect_delay_max{0};
  double lagging = 0;  // The share of sessions that read from a server that lags behind,
  Micros lag_max{0};   // by so much at most. Who writes sees there what it wrote, and all before it.
  Micros session_timeout{6'000'000};  // A session without a connection for so long expires.
};

struct CoordinationCounters {
  uint64_t lost_requests = 0;
  uint64_t lost_replies = 0;
  uint64_t past_reads = 0;  // Of what was no longer so.
};

class MemoryCoordination;

// The tree that all sessions share. Lives on one loop; sessions may live on others. Must outlive them, and
// its loop must run no task of it after it is gone.
class CoordinationTree {
 public:
  explicit CoordinationTree(Scheduler& scheduler, const CoordinationFaults& faults = {});

  // A tree that outlives restarts: it begins with `entries`, and after each change of persistent entries
  // `save` is called with EntryTree::snapshot() before anyone hears of the change.
  using Save = std::function<void(const std::string& snapshot)>;
  CoordinationTree(Scheduler& scheduler, EntryTree entries, Save save);

  // On the tree's loop. A session that is ended hears of it when it next has a connection. A hung process
  // keeps its session: nothing here looks at what its loop does.
  void expire(SessionNumber session);
  void set_faults(const CoordinationFaults& faults);
  void set_observer(EntryTree::Observer observer) { entries_.set_observer(std::move(observer)); }
  // From now on connections are perfect; the timeout of sessions stays.
  void end_faults() { set_faults({.session_timeout = faults_.session_timeout}); }
  const EntryTree& entries() const { return entries_; }
  const CoordinationCounters& counters() const { return counters_; }

 private:
  friend class MemoryCoordination;
  struct Client;
  using Change = std::function<void(EntryTree&)>;

  Scheduler& scheduler_;
  CoordinationFaults faults_;
  CoordinationCounters counters_;
  EntryTree entries_;
  std::map<SessionNumber, std::weak_ptr<Client>> clients_;
  std::map<SessionNumber, uint64_t> lonely_;  // Without a connection; the number tells an old timer.
  uint64_t next_lonely_ = 1;
  Save save_;
  uint64_t saved_changes_ = 0;
  std::optional<EntryTree> behind_;  // The server that lags, once there are such faults;
  std::vector<Change> unseen_;       // what it has not heard of;
  std::set<SessionNumber> lagging_;  // and those that read there.

  void follow(Change change);
  void catch_up();
  EntryTree& seen_by(SessionNumber session);
  Result<std::vector<std::string>, CoordinationError> apply(SessionNumber session,
                                                            const std::vector<CoordinationOp>& ops);
  void save_changes();
  void deliver_watches();
  void deliver_watches_of(EntryTree& entries);
  void connect(std::shared_ptr<Client> client, SessionNumber session, bool lags);
  void connection_lost(SessionNumber session);
};

// One session: one per process. Destroying it closes the session at once, as an orderly end does.
class MemoryCoordination : public Coordination {
 public:
  MemoryCoordination(CoordinationTree& tree, Scheduler& scheduler, Random random);
  ~MemoryCoordination() override;

  void get(const std::string& path, Watch watch, Done<Entry> done) override;
  void children(const std::string& path, Watch watch, Done<std::vector<std::string>> done) override;
  void exists(const std::string& path, Watch watch, Done<bool> done) override;
  void create(const std::string& path, const std::string& data, EntryMode mode,
              Done<std::string> done) override;
  void multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) override;
  void on_session(std::function<void(SessionState)> listener) override;
  void new_session() override;

  // For tests and simulations, on the session's loop.
  void disconnect();  // Until reconnect(); the session expires if that takes too long.
  void reconnect();
  void abandon();  // The process died: no further call comes, and the session ends by its timeout.
  SessionNumber session() const;

 private:
  template <typename T, typename Read>
  void read(EntryTree::WatchKind kind, const std::string& path, Watch watch, Read read_entry, Done<T> done);

  std::shared_ptr<CoordinationTree::Client> client_;
};

}  // namespace tidemark
