#include "bench/orders/tables.h"

#include <algorithm>

#include "bench/orders/feed.h"

namespace tidemark::bench {

const pb::TableDefinition& find_table(const pb::Catalog& catalog, const std::string& name) {
  for (const pb::TableDefinition& table : catalog.tables()) {
    if (table.name() == name) return table;
  }
  TM_UNREACHABLE();
}

const pb::TableDefinition& watched_table(const pb::Catalog& catalog, ViewKind kind) {
  return find_table(catalog, kind == ViewKind::None ? "orders" : "v");
}

Result<pb::Catalog> make_tables(BenchClient& client, ViewKind kind, uint64_t customers) {
  auto tables = client.create([](const pb::Catalog& catalog) {
    const uint32_t next = std::max(catalog.next_id(), 1u);
    return Result<std::vector<pb::TableDefinition>>(
        std::vector<pb::TableDefinition>{orders_table(TableId{next}), customers_table(TableId{next + 1})});
  });
  if (!tables.ok() || kind == ViewKind::None) return tables;
  auto view = client.create([kind](const pb::Catalog& catalog) { return view_tables(kind, catalog); });
  if (!view.ok() || kind != ViewKind::Join) return view;
  TM_TRY(write_customers(client, find_table(*view, "customers"), CatalogVersion{view->version()}, customers));
  return view;
}

}  // namespace tidemark::bench
