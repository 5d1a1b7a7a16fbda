// The system tables as a session of this cluster sees them: follows the facts that they tell of.
#pragma once

#include "coordinator/membership.h"
#include "proto/facts.pb.h"
#include "sql/session/catalog_snapshot.h"
#include "sql/session/virtual_tables.h"

namespace tidemark::sql {

// Lives on one loop. REQUIRES: all outlive it.
class ClusterTables : public VirtualTables {
 public:
  ClusterTables(Coordination& coordination, Scheduler& scheduler, const CatalogPlans& plans);

  void set_catalog(const pb::Catalog& catalog, CatalogSnapshotPtr snapshot);

  TableSchemaPtr find(std::string_view schema, std::string_view name) const override;
  Result<Rows, SqlError> rows(const TableSchema& table, const SessionState& session) const override;

 private:
  const CatalogPlans& plans_;
  pb::Catalog catalog_;  // Without views that are built beside others.
  CatalogSnapshotPtr snapshot_;
  pb::RegionMap map_;
  pb::RingFact ring_;
  std::vector<pb::ProcessFact> nodes_, view_managers_;
  FactWatch map_watch_, ring_watch_;
  EntriesWatch nodes_watch_, view_managers_watch_;
};

}  // namespace tidemark::sql
