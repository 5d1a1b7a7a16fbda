// What operators do while clients work: views come and go, regions move, split and merge, nodes and view
// managers join and leave. Requests may be refused, or lost: an operator asks again, or does something else.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordinator/facts.h"
#include "proto/catalog.pb.h"
#include "proto/facts.pb.h"
#include "proto/messages.pb.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_cluster.h"
#include "tests/simulation/tables.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/views.h"

namespace tidemark::sim {

class Operator {
 public:
  Operator(SimCluster& cluster, const Scenario& scenario, Tables& tables, Random random, Trace& trace);

  // ---- before the faults: runs the world until it is done

  // The base tables and the first views.
  bool set_up();

  // ---- with faults: to be called once per operation of clients

  void act();

  // ---- facts

  const std::vector<ViewSpec>& views() const { return views_; }  // Alive.
  const pb::Catalog& catalog() const { return catalog_; }
  const pb::RegionMap& map() const { return map_; }
  // Something is under way: an operation, a change of regions, a view that has not begun or is not filled.
  std::string unfinished() const;
  // What should be otherwise in the end: regions that were split or merged are gone, others have all
  // replicas.
  std::string left_over() const;
  // Accepted, by kind.
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

  // Asks until the catalog says so. For the end of a run, when a request may have been lost.
  bool settle_catalog();
  // The same, for backfills to go as fast as they can.
  bool resume_backfills();
  // The same, for one more view.
  bool create_another();
  // The one process to lose for good: all that is wanted can be had without it. nullptr: there is none.
  SimProcess* choose_lost();

 private:
  using Words = std::vector<std::string>;

  void change_regions();
  void change_view_managers();
  void change_nodes();
  void change_views();
  void change_pace();
  ViewSpec random_view(bool later);
  std::vector<ViewSpec> first_views();
  const pb::RegionEntry* random_region();
  void command(const std::string& kind, const Words& words);
  void send(std::shared_ptr<pb::Message> message);
  void on_answer(const pb::Message& message);
  bool is_in_catalog(const std::string& name) const;
  void create(const ViewSpec& view);
  void ask_catalog();
  bool has_wanted() const;
  bool all_filled();
  std::string lacking_replicas() const;
  bool has_checkpoint(const pb::Replica& replica, RegionId region) const;

  SimCluster& cluster_;
  const Scenario& scenario_;
  Tables& tables_;
  Random random_;
  Trace& trace_;

  ProcessScheduler loop_;
  SimSession coordination_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<FactWatch>> watches_;
  pb::Catalog catalog_;
  pb::RegionMap map_;
  pb::OperationsFact operations_;
  pb::WishFact wishes_;

  std::string lost_;  // The process that never comes back.
  std::vector<ViewSpec> views_;
  std::map<std::string, int> made_;  // Views ever, by kind, for their names.
  pb::CatalogRequest wanted_;        // Until the catalog has it.
  std::map<uint64_t, std::string> asked_;
  uint64_t next_request_ = 1;
  std::map<std::string, uint64_t> counts_;
};

}  // namespace tidemark::sim
