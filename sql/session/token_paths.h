// How the changes of a table reach a view: through which tables, auxiliary ones and other views included.
#pragma once

#include <vector>

#include "sql/session/catalog_snapshot.h"

namespace tidemark::sql {

// Each path leads from the first table that `from` feeds to `view`. None: `from` does not feed it. At most
// `paths_max` of them.
std::vector<std::vector<TableId>> token_paths(const CatalogSnapshot& catalog, TableId from, TableId view,
                                              size_t paths_max);

// The tables that are no views whose changes reach the view.
std::vector<TableId> tables_behind(const CatalogSnapshot& catalog, TableId view);

// The view and all views that it is made from.
std::vector<CatalogTablePtr> views_behind(const CatalogSnapshot& catalog, TableId view);

}  // namespace tidemark::sql
