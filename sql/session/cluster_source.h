// Rows of the cluster's tables for ad-hoc reads: by key, by prefix, page by page with the next one on its
// way.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "sql/execute/row_source.h"
#include "sql/session/service_state.h"

namespace tidemark::sql {

// Lives on the loop; must outlive the execution over it. What is under way when it is destroyed is dropped.
class ClusterSource : public RowSource {
 public:
  // `on_rows` is called when a cursor that said Pending has more, never from inside next().
  ClusterSource(ServiceState& service, const SessionState& session, CatalogSnapshotPtr catalog,
                std::function<void()> on_rows);

  Result<std::unique_ptr<RowCursor>, SqlError> open(const ScanRequest& request) override;

 private:
  ServiceState& service_;
  const SessionState& session_;
  CatalogSnapshotPtr catalog_;
  std::function<void()> on_rows_;
  // Of the system tables that were read: subqueries read them once for each row.
  std::map<TableId, std::shared_ptr<const VirtualTables::Rows>> virtual_rows_;
};

}  // namespace tidemark::sql
