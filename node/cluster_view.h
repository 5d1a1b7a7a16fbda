// What a node knows of its cluster: the region map, the rings, the catalog and who is alive, as the newest
// facts say. Follows them and tells of changes. Lives on the node's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/scheduler.h"
#include "coordinator/facts.h"
#include "coordinator/membership.h"
#include "net/transport.h"
#include "node/queue/region_queues.h"
#include "node/queue/rings.h"
#include "proto/catalog.pb.h"
#include "proto/facts.pb.h"

namespace tidemark {

class ClusterView : public ViewManagerDirectory {
 public:
  struct Listener {
    std::function<void()> on_map;  // Also once when it is known that there is none yet.
    std::function<void()> on_rings;
    std::function<void()> on_catalog;
    std::function<void()> on_view_managers;
    std::function<void()> on_coordinator;
    std::function<void(const std::string&)> say;  // A fact that does not parse.
  };

  ClusterView(Coordination& coordination, Scheduler& scheduler, ShardCount shards, Listener listener);
  ~ClusterView() override;

  void look_again();
  void look_at_map_again();

  // Version 0, without regions, while there is none.
  const pb::RegionMap& map() const { return *map_; }
  const Rings& rings() const { return rings_; }
  std::shared_ptr<const pb::Catalog> catalog() const { return catalog_; }  // nullptr: not known yet.

  // nullptr: there is none.
  const pb::RegionEntry* region(RegionId id) const;
  // The region, not sealed, that holds the shard.
  const pb::RegionEntry* region_of(ShardId shard) const;
  // Empty: not alive.
  Address address_of(const std::string& node) const;
  Address coordinator() const { return coordinator_; }

  std::optional<Bearer> bearer(const std::string& identity) const override;

 private:
  void on_map(const std::optional<Fact>& fact);
  void on_ring(const std::optional<Fact>& fact);
  void on_catalog(const std::optional<Fact>& fact);
  void on_election(const std::vector<EntriesWatch::Named>& entries);

  Listener listener_;
  std::unique_ptr<pb::RegionMap> map_;
  pb::RingFact ring_;
  Rings rings_;
  std::shared_ptr<const pb::Catalog> catalog_;
  Members nodes_;
  Members view_managers_;
  Address coordinator_;

  // Last: they call back while the rest is there.
  FactWatch map_watch_;
  FactWatch ring_watch_;
  FactWatch catalog_watch_;
  EntriesWatch nodes_watch_;
  EntriesWatch view_managers_watch_;
  EntriesWatch election_watch_;
};

}  // namespace tidemark
