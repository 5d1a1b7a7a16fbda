// The region directory of a process that follows the facts: the region map and who is alive.
#pragma once

#include <vector>

#include "base/scheduler.h"
#include "coordinator/facts.h"
#include "net/region_directory.h"

namespace tidemark {

// Lives on the worker's loop. REQUIRES: coordination and scheduler outlive it.
class WatchedDirectory final : public RegionDirectory {
 public:
  WatchedDirectory(Coordination& coordination, Scheduler& scheduler);

  const RegionPlace* find(ShardId shard) const override;
  void look_again() override;

  // In the order of their shards; empty while nothing is known.
  const std::vector<RegionPlace>& places() const { return places_; }
  MapVersion version() const { return version_; }

 private:
  void on_map(const std::optional<Fact>& fact);
  void on_nodes(const std::vector<EntriesWatch::Named>& entries);
  void fill_addresses();

  std::vector<RegionPlace> places_;
  MapVersion version_;
  std::vector<std::pair<NodeId, Address>> alive_;
  FactWatch map_watch_;
  EntriesWatch nodes_watch_;
};

}  // namespace tidemark
