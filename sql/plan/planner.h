// Plans views: from a bound query to tables and flows.
//
// A query is taken apart into streams, flows of rows whose columns are expressions over the changes of one
// table (or over the pairs of a join); projections and conditions vanish into them. Where rows have to be
// kept, because they are added up, ranked or joined, a table takes them: the view itself, if nothing is left
// to do but what a reader can compute, or else an auxiliary one, whose changes are the next stream.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sql/bind/relation.h"
#include "sql/plan/stored_table.h"
#include "sql/plan/view_plan.h"

namespace tidemark::sql {

struct PlanOptions {
  std::string name;
  std::string sql;
  TableId first_id;  // Of the view; auxiliary tables follow.
  // Columns of the view; none: by what identifies its rows.
  std::vector<int> distribute_by;
  std::vector<ClusteringColumn> cluster_by;
  // The tables that the query names. Null: there is none.
  std::function<StoredTablePtr(TableId)> find_table;
};

Result<ViewPlan, SqlError> plan_view(const Relation& query, const PlanOptions& options);

}  // namespace tidemark::sql
