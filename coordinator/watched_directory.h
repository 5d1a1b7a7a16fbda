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
  // Reads at once, or as soon as kLookAgainGap has passed since the last time: whoever is sent to a node that
  // is lost asks until the map names another, and the whole cluster reads the map and all nodes then.
  void look_again() override;
  static constexpr Micros kLookAgainGap{10'000};

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
  std::vector<RegionPlace> places_;
  MapVersion version_;
  std::vector<std::pair<NodeId, Address>> alive_;
  FactWatch map_watch_;
  EntriesWatch nodes_watch_;
};

}  // namespace tidemark
