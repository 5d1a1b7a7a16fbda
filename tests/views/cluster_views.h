// Views kept by a whole simulated cluster: nodes, regions, logs, coordinators, and view managers that come,
// go and die.
#pragma once

#include <set>

#include "tests/simulation/sim_cluster.h"
#include "tests/view_manager/flow_world.h"
#include "tests/views/maintained_views.h"

namespace tidemark::views {

class ClusterViews : public MaintainedViews {
 public:
  explicit ClusterViews(uint64_t seed) : ClusterViews(options(seed)) {}
  explicit ClusterViews(const SimClusterOptions& options);

  SimCluster& cluster() { return cluster_; }

  void create_table(const Step& step) override;
  std::string create_view(const Step& step) override;
  void drop_view(const std::string& name) override;
  void write(const std::vector<Step>& batch) override;
  void change_view_managers(StepKind change) override;
  // When it is as wanted, or has not become so for long.
  Lines read(const std::string& view, const Lines& wanted) override;
  // As it is, right or not yet.
  Lines read_now(const std::string& view);
  Lines types(const std::string& view) override { return planner_.types(view); }

 private:
  static SimClusterOptions options(uint64_t seed);
  void create(const std::string& name);
  void write_one(const Step& step);
  void finish_writes();
  void add_view_manager();
  void remove_view_manager();
  void replace_view_manager();
  std::map<std::string, std::string> scan(TableId table);

  FlowWorld planner_;  // Its tables stay empty: definitions only.
  SimCluster cluster_;
  Random random_;
  CatalogVersion version_;
  int in_flight_ = 0;
  std::set<std::string> keys_in_flight_;
  std::vector<int> members_{0, 1};  // View managers that were asked to work.
};

}  // namespace tidemark::views
