#include "sql/session/token_paths.h"

#include <algorithm>
#include <map>
#include <set>

namespace tidemark::sql {

namespace {

// By a table, those whose changes it is made from.
using Feeds = std::map<TableId, std::set<TableId>>;

void add_flow(const FlowPlan& flow, const ViewPlan& plan, Feeds& feeds) {
  std::vector<TableId> sources{flow.table};
  if (flow.source == FlowSource::Join) sources = {flow.left, flow.right};
  std::vector<TableId> targets{flow.sink.table};
  // The region itself writes the first rows of a multiset, in the same record.
  for (const pb::TableDefinition& table : plan.tables) {
    if (table.top_of() != 0 && TableId{table.top_of()} == flow.sink.table)
      targets.push_back(TableId{table.id()});
  }
  for (TableId target : targets) feeds[target].insert(sources.begin(), sources.end());
}

class Walk {
 public:
  Walk(const Feeds& feeds, TableId from, size_t paths_max)
      : feeds_(feeds), from_(from), paths_max_(paths_max) {}

  // From the view back to where the change is made.
  void visit(TableId table) {
    if (paths.size() == paths_max_) return;
    reversed_.push_back(table);
    if (auto found = feeds_.find(table); found != feeds_.end()) {
      for (TableId source : found->second) {
        if (source == from_) {
          paths.emplace_back(reversed_.rbegin(), reversed_.rend());
        } else {
          visit(source);
        }
      }
    }
    reversed_.pop_back();
  }

  std::vector<std::vector<TableId>> paths;

 private:
  const Feeds& feeds_;
  const TableId from_;
  const size_t paths_max_;
  std::vector<TableId> reversed_;
};

}  // namespace

std::vector<CatalogTablePtr> views_behind(const CatalogSnapshot& catalog, TableId view) {
  std::vector<CatalogTablePtr> out;
  std::set<TableId> seen;
  std::vector<TableId> left{view};
  while (!left.empty()) {
    CatalogTablePtr table = catalog.table(left.back());
    left.pop_back();
    if (!table || !seen.insert(TableId{table->definition.id()}).second) continue;
    if (table->plan) out.push_back(table);
    for (uint32_t source : table->definition.sources()) left.push_back(TableId{source});
  }
  return out;
}

std::vector<TableId> tables_behind(const CatalogSnapshot& catalog, TableId view) {
  std::set<TableId> out;
  for (const CatalogTablePtr& behind : views_behind(catalog, view)) {
    for (uint32_t source : behind->definition.sources()) {
      CatalogTablePtr table = catalog.table(TableId{source});
      if (table && !table->plan) out.insert(TableId{source});
    }
  }
  return {out.begin(), out.end()};
}

std::vector<std::vector<TableId>> token_paths(const CatalogSnapshot& catalog, TableId from, TableId view,
                                              size_t paths_max) {
  Feeds feeds;
  for (const CatalogTablePtr& table : views_behind(catalog, view)) {
    for (const FlowPlan& flow : table->plan->flows) add_flow(flow, *table->plan, feeds);
  }
  Walk walk(feeds, from, paths_max);
  walk.visit(view);
  return std::move(walk.paths);
}

}  // namespace tidemark::sql
