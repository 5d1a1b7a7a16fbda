// Coordination: a small tree of versioned facts with ephemeral entries and watches, as ZooKeeper has it.
// Two implementations under one contract suite: in process (embedded, simulation) and ZooKeeper's C client.
// Lives on one worker's loop; callbacks run on it, never from inside a call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

enum class CoordinationError : uint8_t {
  NoNode,
  NodeExists,
  BadVersion,  // A compare-and-set lost, or a check of a multi failed.
  NotEmpty,
  Disconnected,    // It may or may not have happened: read, then decide.
  SessionExpired,  // Ephemeral entries are gone; only new_session() helps.
  Refused,         // Bad path, too large, not allowed. Final.
};
const char* to_string(CoordinationError error);

enum class EntryMode : uint8_t { Persistent, Ephemeral, EphemeralSequential };

struct Entry {
  std::string data;
  int32_t version = 0;         // Grows with each set.
  int64_t created = 0;         // Unique per creation: tells a re-created entry from the old one.
  bool own_ephemeral = false;  // Belongs to this session.
};

// One part of a multi: all happen, or none.
struct CoordinationOp {
  enum class Kind : uint8_t { Check, Create, Set, Remove };
  Kind kind = Kind::Check;
  std::string path;
  std::string data;                        // Create, Set.
  std::optional<int32_t> version;          // Check, Set, Remove: what it must be at.
  EntryMode mode = EntryMode::Persistent;  // Create.
};

enum class SessionState : uint8_t { Connecting, Connected, Suspended, Expired };

class Coordination {
 public:
  virtual ~Coordination() = default;

  template <typename T>
  using Done = std::function<void(Result<T, CoordinationError>)>;
  // Called at most once, some time after the entry or its children have changed or the session was lost.
  // Several changes may give one call: whoever watches reads again and compares. May be empty: no watch. Set
  // only if the call succeeds; a get or children of what is not there sets none (exists does).
  using Watch = std::function<void()>;

  virtual void get(const std::string& path, Watch watch, Done<Entry> done) = 0;
  // Names, sorted. NoNode if there is none.
  virtual void children(const std::string& path, Watch watch, Done<std::vector<std::string>> done) = 0;
  // True if it is there; the watch also tells of its creation.
  virtual void exists(const std::string& path, Watch watch, Done<bool> done) = 0;
  // Gives the path, with its number for EphemeralSequential. Missing parents are an error.
  virtual void create(const std::string& path, const std::string& data, EntryMode mode,
                      Done<std::string> done) = 0;
  virtual void multi(std::vector<CoordinationOp> ops, Done<std::vector<std::string>> done) = 0;

  // Adds a listener: told on every change of state, and once with the present one. It stays for good: let it
  // hold a weak pointer.
  virtual void on_session(std::function<void(SessionState)> listener) = 0;
  // After Expired: a fresh session; otherwise nothing, so that everyone who needs one may ask. What was
  // ephemeral must be created again.
  virtual void new_session() = 0;
};

// No entry may be larger; larger facts are written in chunks (see facts.h).
inline constexpr size_t kEntryBytesMax = 900'000;

}  // namespace tidemark
