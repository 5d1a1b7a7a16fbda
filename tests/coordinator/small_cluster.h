// A situation to decide in, made by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/steps.h"

namespace tidemark {

// Two nodes, one region on both, one view manager.
struct SmallCluster {
  ClusterFacts facts;
  Observed observed;
  CoordinatorSettings settings;

  SmallCluster() {
    for (const char* name : {"n1", "n2"}) {
      observed.nodes[name].set_name(name);
      facts.wishes.add_nodes()->set_name(name);
    }
    observed.view_managers["v1"].set_name("v1");
    facts.wishes.add_view_managers()->set_name("v1");
    facts.wishes.set_replicas(2);
    facts.wishes.set_placement(settings.placement);
    facts.cluster.set_cluster(1);
    facts.cluster.set_shards(8);
    facts.map.set_version(1);
    facts.map.set_next_region(2);
    facts.map.set_next_change(1);
    auto& entry = *facts.map.add_regions();
    entry.set_region(1);
    entry.set_born(1);
    entry.set_owner("n1");
    entry.mutable_shards()->set_end(8);
    for (const char* name : {"n1", "n2"}) {
      auto& replica = *entry.add_replicas();
      replica.set_node(name);
      replica.set_joined(1);
    }
    *facts.ring.mutable_ring() = plan_ring(settings.placement, {8}, {}, {{"v1", 1}}).value();
    report("n1").set_owner(true);
    report("n1").set_ring_version(1);
    report("n1").set_ring_acknowledged(1);
    report("n2");
  }
  void add_split() {
    auto& change = *facts.map.add_changes();
    change.set_id(1);
    change.add_parents(1);
    change.set_phase(pb::RegionChange::SPLIT_SEAL);
    change.add_children()->set_region(2);
  }
  pb::RegionStatus& report(const std::string& node) {
    pb::RegionStatus& status = observed.statuses[1][node];
    status.set_region(1);
    status.set_node(node);
    status.set_joined(1);
    status.set_has_checkpoint(true);
    return status;
  }
  std::optional<Step> next() { return next_step(Situation(facts, observed, settings)); }

  // What it does until there is nothing to do, or for ever.
  std::vector<std::string> take_steps() {
    std::vector<std::string> out;
    for (auto step = next(); step && out.size() < kForEver; step = next()) {
      out.push_back(std::string(to_string(step->kind)) + " " + step->what);
      facts = step->after;
      report_all();
    }
    return out;
  }
  static constexpr size_t kForEver = 30;

  // New replicas get their checkpoints at once, and every ring is acknowledged.
  void report_all() {
    for (const pb::RegionEntry& entry : facts.map.regions()) {
      for (const pb::Replica& replica : entry.replicas()) {
        if (!observed.nodes.contains(replica.node())) continue;
        pb::RegionStatus& status = observed.statuses[entry.region()][replica.node()];
        status.set_region(entry.region());
        status.set_node(replica.node());
        status.set_joined(replica.joined());
        status.set_has_checkpoint(true);
        if (!status.owner()) continue;
        status.set_ring_version(facts.ring.ring().version());
        status.set_ring_acknowledged(facts.ring.ring().version());
      }
    }
  }
};

}  // namespace tidemark
