// Rows on their way, while a plan is made.
#pragma once

#include <vector>

#include "sql/plan/view_plan.h"

namespace tidemark::sql {

struct Stream {
  FlowSource source = FlowSource::Table;
  TableId table;
  TableId left, right;
  bool outer = false;

  SplitPlan split;  // Table.

  // Over the source's columns; with a split, those and its two.
  std::vector<ExpressionPtr> columns;  // Null where nobody needs it.
  ExpressionPtr filter;
  std::vector<ExpressionPtr> identity;
  size_t identity_distribution = 0;  // How many of them a table of these rows is distributed by.
};

using Streams = std::vector<Stream>;

}  // namespace tidemark::sql
