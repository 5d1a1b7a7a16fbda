// The catalog as of one version of a stream: definitions, and what follows from them for a region.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "proto/catalog.pb.h"
#include "proto/log.pb.h"

namespace tidemark {

struct Table {
  TableId id;
  pb::RowRule rule = pb::PUT;
  std::shared_ptr<const pb::TableDefinition> definition;

  // Some view is made from it: its changes carry the row before.
  bool feeds_views = false;
  // VIEW: the base and view tables whose rows its backfill pages bring, in order.
  std::vector<TableId> backfill_sources;
  // MULTISET: the tables of the same groups that the region itself keeps by it.
  std::vector<TableId> derived_in;  // SUM tables with columns derived from it.
  std::vector<TableId> tops;        // TOP tables.

  bool has_derived() const { return definition->derived_size() > 0; }
  // Its rows are read in order: of a group, or under a join key.
  bool is_ordered() const { return rule == pb::MULTISET || rule == pb::JOIN_SIDE || rule == pb::TOP; }
};

// A value: copies share what is equal. Tables dropped are not in it.
class TableCatalog {
 public:
  TableCatalog() : data_(std::make_shared<const Data>()) {}

  CatalogVersion version() const { return data_->version; }
  // None: never there, or dropped. Ids are never reused.
  const Table* find(TableId id) const;
  // The first one that is not before `id`; null: there is none.
  const Table* at_or_after(TableId id) const;
  // All tables, by id.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const TablePtr& table : data_->by_id) {
      if (table) visit(*table);
    }
  }

  // What the change drops is added to `dropped`.
  // Error: it does not follow this version.
  Status apply(const pb::CatalogChange& change, std::vector<TableId>& dropped);

  static Result<TableCatalog> from_pb(const pb::Catalog& catalog);
  void to_pb(pb::Catalog& out) const;

 private:
  using TablePtr = std::shared_ptr<const Table>;
  struct Data {
    CatalogVersion version;
    std::vector<TablePtr> by_id;  // Ids are dense; null where there is none.
  };
  class Editor;

  std::shared_ptr<const Data> data_;
};

// The change by which a stream at version `from` reaches `from` + 1, as the whole catalog tells it. Of a
// table dropped it has the number alone. REQUIRES: from < catalog.version().
pb::CatalogChange next_catalog_change(const pb::Catalog& catalog, CatalogVersion from);

}  // namespace tidemark
