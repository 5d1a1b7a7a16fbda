// What EXPLAIN shows, line by line.
#pragma once

#include <string>
#include <vector>

#include "sql/bind/relation.h"
#include "sql/session/catalog_snapshot.h"

namespace tidemark::sql {

// The operators of a query, and how many regions each table is read from.
std::vector<std::string> explain_query(const Relation& query);

// The tables of a view and where their rows live; its flows; what a change of each source costs.
std::vector<std::string> explain_view(const ViewPlan& plan, const CatalogSnapshot& catalog);

}  // namespace tidemark::sql
