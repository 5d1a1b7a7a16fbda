#include "sql/session/cluster_tables.h"

#include <map>

#include "sql/session/task.h"
#include "sql/system/system_tables.h"

namespace tidemark::sql {

namespace {

template <typename Message>
FactWatch::OnFact keep(Message& out) {
  return [&out](const std::optional<Fact>& fact) {
    Message read;
    if (fact && read.ParseFromString(fact->data)) out = std::move(read);
  };
}

EntriesWatch::OnEntries keep(std::vector<pb::ProcessFact>& out) {
  return [&out](const std::vector<EntriesWatch::Named>& entries) {
    out.clear();
    for (const auto& [name, process] : members_from(entries)) out.push_back(process);
  };
}

void take_lag(const pb::ViewFreshness& told, ViewStatus& out) {
  if (told.regions_unreported() > 0) return;  // It may be behind in those.
  out.lag_records = static_cast<int64_t>(told.lag_records());
  out.lag_ms = static_cast<double>(told.lag_micros()) / 1000;
  if (told.lag_records() == 0) return;
  out.lag_region = static_cast<int64_t>(told.lag_region());
  out.lag_lane = told.lag_lane();
}

void take_backfill(const pb::BackfillProgress& told, ViewStatus& out) {
  out.backfill_percent = static_cast<double>(told.done_per_million()) / 10'000;
  out.backfill_rows_per_second = static_cast<int64_t>(told.rows_per_second());
  if (told.micros_left() >= 0) out.backfill_seconds_left = static_cast<double>(told.micros_left()) / 1e6;
}

// The catalog knows the limit before the coordinator has heard how the backfill goes.
void take_limit(const pb::TableDefinition& view, ViewStatus& out) {
  if (view.filled() != 0 || !view.has_backfill_rows_per_second()) return;
  out.backfill_rows_per_second_max = static_cast<int64_t>(view.backfill_rows_per_second());
  if (view.backfill_rows_per_second() > 0) return;
  if (out.state == "filling") out.state = "paused";
  out.backfill_seconds_left.reset();
}

const pb::ViewFreshness* find(const pb::FreshnessReply& told, TableId view) {
  for (const pb::ViewFreshness& one : told.views())
    if (one.view() == view.value) return &one;
  return nullptr;
}

std::vector<ViewStatus> statuses(const CatalogSnapshot& catalog, const pb::FreshnessReply& freshness) {
  std::map<TableId, ViewStatus> out;
  for (const auto& [id, known] : catalog.tables()) {
    const pb::TableDefinition& view = known->definition;
    if (view.kind() != pb::VIEW) continue;
    // The backfill of what is built beside a view is shown with that one, whose name it has. Its id is lower.
    const bool is_beside = view.replaces() != 0 && view.filled() == 0;
    ViewStatus& status = out[is_beside ? TableId{view.replaces()} : id];
    const pb::ViewFreshness* told = find(freshness, id);
    if (!is_beside) {
      status.view = id;
      status.state = catalog.is_readable(id) ? "ready" : "filling";
      if (told) take_lag(*told, status);
    }
    if (told && told->has_backfill()) take_backfill(told->backfill(), status);
    take_limit(view, status);
  }
  std::vector<ViewStatus> list;
  for (auto& [id, status] : out) list.push_back(std::move(status));
  return list;
}

}  // namespace

ClusterTables::ClusterTables(Coordination& coordination, Scheduler& scheduler, const CatalogPlans& plans)
    : plans_(plans),
      map_watch_(coordination, scheduler, paths::kRegionMap, keep(map_)),
      ring_watch_(coordination, scheduler, paths::kRing, keep(ring_)),
      nodes_watch_(coordination, scheduler, paths::kNodes, keep(nodes_)),
      view_managers_watch_(coordination, scheduler, paths::kViewManagers, keep(view_managers_)) {}

void ClusterTables::set_catalog(const pb::Catalog& catalog, CatalogSnapshotPtr snapshot) {
  snapshot_ = std::move(snapshot);
  catalog_ = catalog;
  catalog_.clear_tables();
  for (const pb::TableDefinition& table : catalog.tables()) {
    if (table.replaces() == 0 || table.filled() != 0) *catalog_.add_tables() = table;
  }
}

TableSchemaPtr ClusterTables::find(std::string_view schema, std::string_view name) const {
  return SystemTables::builtin().find(schema, name);
}

Result<VirtualTables::Rows, SqlError> ClusterTables::rows(const TableSchema& table,
                                                          const SessionState& session) const {
  SystemState state;
  state.catalog = &catalog_;
  state.plans = &plans_;
  state.regions = &map_;
  state.ring = &ring_;
  state.nodes = nodes_;
  state.view_managers = view_managers_;
  state.user = session.user;
  state.database = session.database;
  for (const Settings::Shown& one : session.settings.show_all()) {
    state.settings.push_back({one.name, one.value, one.description});
  }
  state.views = statuses(*snapshot_, session.freshness);
  return SystemTables::builtin().rows(table.id, state);
}

}  // namespace tidemark::sql
