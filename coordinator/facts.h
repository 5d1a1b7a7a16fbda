// Where the facts lie in Coordination, and how to read and write them: facts larger than an entry are split
// into chunks beside a pointer. All calls on the worker's loop. Who is alive: membership.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/scheduler.h"
#include "coordinator/coordination.h"

namespace tidemark {

// The messages are those of proto/facts.proto and proto/catalog.proto. All paths are below the root that the
// Coordination was configured with.
namespace paths {
inline constexpr char kCluster[] = "/cluster";             // ClusterFact. Written once.
inline constexpr char kNodes[] = "/nodes";                 // NAME: ephemeral ProcessFact.
inline constexpr char kViewManagers[] = "/view-managers";  // NAME of the process: ephemeral ProcessFact.
inline constexpr char kElection[] = "/election";           // Ephemeral sequential; ProcessFact of the node.
inline constexpr char kRegionMap[] = "/region-map";        // RegionMap, in chunks.
inline constexpr char kRing[] = "/ring";                   // RingFact, in chunks.
inline constexpr char kCatalog[] = "/catalog";             // Catalog, in chunks.
inline constexpr char kWishes[] = "/wishes";               // WishFact, in chunks.
inline constexpr char kOperations[] = "/operations";       // OperationsFact, in chunks.
inline constexpr char kStaged[] = "/staged";               // StagedFact, in chunks.
inline constexpr char kHistory[] = "/history";             // HistoryFact, in chunks.
}  // namespace paths

// Names of nodes and view managers are parts of paths and of what people type.
bool is_valid_member_name(std::string_view name);

// Creates the folders that processes register in. Safe to call by many, again and again.
void ensure_folders(Coordination& coordination, std::function<void(Result<void, CoordinationError>)> done);

// A fact as it was read.
struct Fact {
  std::string data;
  int32_t version = 0;              // Of the pointer's entry: what a compare-and-set expects.
  std::vector<std::string> chunks;  // Paths of the chunks that hold it.
};

// The whole fact. The watch tells of a change of the pointer.
void read_fact(Coordination& coordination, const std::string& path, Coordination::Watch watch,
               Coordination::Done<Fact> done);

// One fact of a write: replaces the fact that was read as `old` (none: creates it).
struct FactWrite {
  std::string path;
  std::string data;
  std::optional<Fact> old;
};

// Writes all of the facts if nobody else has since, and if `checks` hold, or none: chunks first, then
// pointers, checks and removal of the old chunks at once. `nonce` names the chunks and must be unique.
// BadVersion, NodeExists, NoNode: somebody else was first, or a check failed. Disconnected: it may have
// happened. A write that fails leaves its chunks behind: sweep_chunks(). A new fact that does not fit one
// entry is there as an empty one before it is written, since chunks lie below their pointer; it stays so if
// that fails.
void write_facts(Coordination& coordination, std::vector<FactWrite> writes, uint64_t nonce,
                 std::vector<CoordinationOp> checks,
                 std::function<void(Result<void, CoordinationError>)> done);

// Removes the chunks of a fact that its pointer does not name, while `checks` hold and the pointer is the one
// that was read (BadVersion: it was not; perhaps a write whose answer was lost). Anybody else who is about
// to write the fact must fail by its checks: only an elected coordinator, with its election entry checked,
// may call it, and not during a write of its own.
void sweep_chunks(Coordination& coordination, const std::string& path, std::vector<CoordinationOp> checks,
                  std::function<void(Result<void, CoordinationError>)> done);

// Follows one fact: reads it, and again after every change, disconnection and new session, until destroyed.
class FactWatch {
 public:
  // Called with every version seen, never the same twice in a row; some may be missed. None: there is none.
  using OnFact = std::function<void(const std::optional<Fact>&)>;

  FactWatch(Coordination& coordination, Scheduler& scheduler, std::string path, OnFact on_fact);
  ~FactWatch();
  FactWatch(const FactWatch&) = delete;
  FactWatch& operator=(const FactWatch&) = delete;

  void look_again();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Follows the entries below a path, with their data: who is alive.
class EntriesWatch {
 public:
  struct Named {
    std::string name;
    Entry entry;
  };
  // Called with all of them, in order of their names, whenever the set or one's data may have changed. Only
  // what has changed is read for that.
  using OnEntries = std::function<void(const std::vector<Named>&)>;

  EntriesWatch(Coordination& coordination, Scheduler& scheduler, std::string path, OnEntries on_entries);
  ~EntriesWatch();
  EntriesWatch(const EntriesWatch&) = delete;
  EntriesWatch& operator=(const EntriesWatch&) = delete;

  void look_again();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// How long the watches wait after an error before they read again.
inline constexpr Micros kFactRetryDelay{100'000};

// Larger facts are written in chunks. Several facts fit one multi.
inline constexpr size_t kFactInlineBytesMax = 200'000;
inline constexpr size_t kFactChunkBytesMax = 800'000;

}  // namespace tidemark
