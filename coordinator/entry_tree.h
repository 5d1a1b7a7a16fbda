// The tree behind MemoryCoordination: entries, sessions and watches, as ZooKeeper has them. Synchronous and
// single-threaded; who hears what when is its user's business.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/coordination.h"

namespace tidemark {

TM_QUANTITY(SessionNumber, uint64_t)  // Zero: none.
TM_QUANTITY(WatchNumber, uint64_t)    // Unique per session.

class EntryTree {
 public:
  enum class WatchKind : uint8_t { Data, Children };
  using FiredWatch = std::pair<SessionNumber, WatchNumber>;

  EntryTree();
  // The same entries and sessions, without watches and observer.
  EntryTree copy() const;

  SessionNumber begin_session();
  // Its ephemeral entries and its watches go. Ending it twice does nothing.
  void end_session(SessionNumber session);
  bool has_session(SessionNumber session) const { return ephemerals_.contains(session); }

  Result<Entry, CoordinationError> get(SessionNumber session, const std::string& path) const;
  Result<std::vector<std::string>, CoordinationError> children(const std::string& path) const;
  Result<bool, CoordinationError> exists(const std::string& path) const;
  // All of the parts, in order, or none.
  Result<std::vector<std::string>, CoordinationError> apply(SessionNumber session,
                                                            const std::vector<CoordinationOp>& ops);

  // Told of each change once it is made, and of who made it. For checkers; must not call back.
  using Observer = std::function<void(SessionNumber session, const std::vector<CoordinationOp>& ops)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }

  // The persistent entries as bytes, and back: what outlives a restart. Sessions and ephemeral entries do
  // not.
  std::string snapshot() const;
  static Result<EntryTree> restore(std::string_view snapshot);
  // Grows with every apply() that changed persistent entries.
  uint64_t persistent_changes() const { return persistent_changes_; }

  // Data: a set, the creation or the removal of the entry. Children: also the removal of the entry itself.
  void watch(WatchKind kind, const std::string& path, SessionNumber session, WatchNumber watch);
  // Those that have fired since the last call, in order; each at most once.
  std::vector<FiredWatch> take_fired() { return std::exchange(fired_, {}); }

 private:
  struct Node {
    std::string data;
    int32_t version = 0;
    int64_t created = 0;
    uint64_t next_sequence = 0;
    SessionNumber owner;  // Of an ephemeral entry.
    std::set<std::string> children;
  };
  using Undo = std::map<std::string, std::optional<Node>>;  // Nodes as they were before.

  Result<std::string, CoordinationError> apply_one(SessionNumber session, const CoordinationOp& op,
                                                   Undo& undo);
  Result<std::string, CoordinationError> create(SessionNumber session, const CoordinationOp& op, Undo& undo);
  Result<std::string, CoordinationError> remove(const CoordinationOp& op, Undo& undo);
  void remember(const std::string& path, Undo& undo) const;
  bool changed_persistently(const std::string& path, const std::optional<Node>& before) const;
  void fire_for(const std::vector<CoordinationOp>& ops, const std::vector<std::string>& paths);
  void fire(WatchKind kind, const std::string& path);
  static std::string parent_of(const std::string& path);
  static std::string name_of(const std::string& path);

  std::map<std::string, Node> nodes_;
  std::map<SessionNumber, std::set<std::string>> ephemerals_;
  std::map<std::pair<WatchKind, std::string>, std::vector<FiredWatch>> watches_;
  std::vector<FiredWatch> fired_;
  uint64_t persistent_changes_ = 0;
  uint64_t next_session_ = 1;
  int64_t next_created_ = 1;
  Observer observer_;
};

// Absolute, no empty part, no "." or "..", no control character.
bool is_valid_entry_path(const std::string& path);

// Together, of one multi: a server cuts the connection on a larger request.
inline constexpr size_t kMultiBytesMax = 1'000'000;
// Paths are valid and sizes within bounds: otherwise the call is Refused.
bool is_acceptable(const std::vector<CoordinationOp>& ops);

}  // namespace tidemark
