// The catalog as of one version, as statements are bound and run against it. Immutable: a statement keeps the
// one it was bound with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/catalog.pb.h"
#include "sql/catalog.h"
#include "sql/plan/catalog_plans.h"
#include "sql/session/virtual_tables.h"
#include "sql/table/table_codec.h"

namespace tidemark::sql {

// A table or view that statements may name, or an auxiliary one of a view.
struct CatalogTable {
  pb::TableDefinition definition;        // With the versions that the catalog gives.
  TableSchemaPtr schema;                 // Null for auxiliary tables.
  StoredTablePtr stored;                 // Null for auxiliary tables.
  std::shared_ptr<const ViewPlan> plan;  // Views only.
  std::shared_ptr<const TableCodec> codec;
};
using CatalogTablePtr = std::shared_ptr<const CatalogTable>;

class CatalogSnapshot : public Catalog {
 public:
  // `plans` knows the catalog. What `before` (or null) has already is taken from it. `virtual_tables` may be
  // null.
  CatalogSnapshot(const pb::Catalog& catalog, const CatalogPlans& plans, const CatalogSnapshot* before,
                  const VirtualTables* virtual_tables);

  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override;

  uint64_t version() const { return version_; }
  uint32_t next_id() const { return next_id_; }
  // Null: not there, or dropped.
  CatalogTablePtr table(TableId id) const;
  // All that are alive, in order of their ids.
  const std::map<TableId, CatalogTablePtr>& tables() const { return tables_; }
  // The view and all that it is made from, in any number of steps, has been filled.
  bool is_readable(TableId id) const;

 private:
  uint64_t version_ = 0;
  uint32_t next_id_ = 1;
  std::map<TableId, CatalogTablePtr> tables_;
  std::map<std::string, TableSchemaPtr, std::less<>> by_name_;
  const VirtualTables* virtual_tables_;
};
using CatalogSnapshotPtr = std::shared_ptr<const CatalogSnapshot>;

}  // namespace tidemark::sql
