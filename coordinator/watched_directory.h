// The region directory of a process that follows the facts: the region map and who is alive.
#pragma once

#include <vector>

#include "base/guarded_scheduler.h"
#include "base/scheduler.h"
#include "base/wakeup.h"
#include "coordinator/facts.h"
#include "net/region_directory.h"

namespace tidemark {

// Lives on the worker's loop. REQUIRES: coordination and scheduler outlive it.
class WatchedDirectory final : public RegionDirectory {
 public:
  WatchedDirectory(Coordination& coordination, Scheduler& scheduler);

  const RegionPlace* find(ShardId shard) const override;
  // Reads at once, or when a while has passed since the last time, which is twice as long each time that
  // brings nothing new: whoever is sent to a node that is lost asks until the map names another, and the
  // whole cluster reads the map and all nodes then. (What changes is told by a watch, too, and read at once.)
  void look_again() override;
  static constexpr Micros kLookAgainGapMin{10'000};
  static constexpr Micros kLookAgainGapMax{640'000};

  // In the order of their shards; empty while nothing is known.
  const std::vector<RegionPlace>& places() const { return places_; }
  MapVersion version() const { return version_; }

 private:
  void read();
  void on_map(const std::optional<Fact>& fact);
  void on_nodes(const std::vector<EntriesWatch::Named>& entries);
  void fill_addresses();

  GuardedScheduler scheduler_;
  Wakeup wakeup_;
  Micros read_at_;  // Because somebody asked, or first. Not by a watch: a change is read when it is told.
  Micros gap_{kLookAgainGapMin};
  std::vector<RegionPlace> places_;
  MapVersion version_;
  std::vector<std::pair<NodeId, Address>> alive_;
  FactWatch map_watch_;
  EntriesWatch nodes_watch_;
};

}  // namespace tidemark
