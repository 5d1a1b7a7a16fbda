// Where the facts lie in Coordination, and how to read and write them: facts larger than an entry are split
// into chunks beside a pointer. All calls on the worker's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scheduler.h"
#include "coordinator/coordination.h"

namespace tidemark {

// The messages are those of proto/facts.proto and proto/catalog.proto.
namespace paths {
inline constexpr char kCluster[] = "/cluster";             // ClusterFact. Written once.
inline constexpr char kNodes[] = "/nodes";                 // NAME: ephemeral ProcessFact.
inline constexpr char kViewManagers[] = "/view-managers";  // NAME of the process: ephemeral ProcessFact.
inline constexpr char kElection[] = "/election";           // Ephemeral sequential; ProcessFact of the node.
inline constexpr char kRegionMap[] = "/region-map";        // RegionMap, in chunks.
inline constexpr char kRing[] = "/ring";                   // RingFact, in chunks.
inline constexpr char kCatalog[] = "/catalog";             // Catalog, in chunks.
inline constexpr char kWishes[] = "/wishes";               // WishFact, in chunks.
inline constexpr char kStaged[] = "/staged";               // What operators have staged, in chunks.
}  // namespace paths

// A fact as it was read.
struct Fact {
  std::string data;
  int32_t version = 0;              // Of the pointer's entry: what a compare-and-set expects.
  std::vector<std::string> chunks;  // Paths of the chunks that hold it.
};

// The whole fact. The watch tells of a change of the pointer.
void read_fact(Coordination& coordination, const std::string& path, Coordination::Watch watch,
               Coordination::Done<Fact> done);

// Replaces the fact that was read as `old` (none: creates it) if nobody else has since, and if `checks` hold:
// chunks first, then pointer, checks and removal of the old chunks at once. `nonce` names the chunks and
// must be unique. BadVersion, NodeExists: somebody else was first, or a check failed.
void write_fact(Coordination& coordination, const std::string& path, std::string data,
                const std::optional<Fact>& old, uint64_t nonce, std::vector<CoordinationOp> checks,
                Coordination::Done<Fact> done);

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
  // Called with all of them, in order of their names, whenever the set or one's data may have changed.
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

}  // namespace tidemark
