// The schema tidemark: the cluster as it is.
#include <algorithm>

#include "sql/system/table_list.h"
#include "sql/types/array_text.h"

namespace tidemark::sql::system_detail {
namespace {

std::string_view kind_name(pb::TableKind kind) {
  switch (kind) {
    case pb::MANAGED: return "table";
    case pb::EXTERNAL: return "external";
    case pb::VIEW: return "view";
    default: return "";
  }
}

// The names of what a view is made from.
std::string sources_of(const pb::TableDefinition& view, const Known& known) {
  std::vector<ArrayElement> names;
  for (uint32_t source : view.sources()) {
    for (const KnownRelation& relation : known.relations) {
      if (!relation.is_system() && relation.definition->id() == source)
        names.emplace_back(relation.schema->name);
    }
  }
  return format_array(names);
}

ViewStatus status_of(const pb::TableDefinition& view, const SystemState& state) {
  const auto found = std::find_if(state.views.begin(), state.views.end(),
                                  [&](const ViewStatus& status) { return status.view.value == view.id(); });
  ViewStatus out = found == state.views.end() ? ViewStatus{} : *found;
  if (out.state.empty()) out.state = view.filled() != 0 ? "ready" : view.begun() != 0 ? "filling" : "created";
  return out;
}

std::string_view process_of(const pb::RingFact& ring, const std::string& identity) {
  for (const pb::RingFact::Bearer& bearer : ring.bearers()) {
    if (bearer.identity() == identity) return bearer.process();
  }
  return identity;
}

}  // namespace

void rows_of_tidemark_tables(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.is_system()) continue;
    rows.add({{"id", relation.definition->id()},
              {"name", relation.schema->name},
              {"kind", kind_name(relation.definition->kind())},
              {"definition", relation.definition->sql()},
              {"key", key_list(relation)},
              {"created", relation.definition->created()}});
  }
}

void rows_of_tidemark_views(const Known& known, Rows& rows) {
  for (const KnownRelation& relation : known.relations) {
    if (relation.kind != 'm') continue;
    const ViewStatus status = status_of(*relation.definition, known.state);
    rows.add({{"id", relation.definition->id()},
              {"name", relation.schema->name},
              {"definition", query_of(*relation.definition)},
              {"sources", sources_of(*relation.definition, known)},
              {"state", status.state},
              {"lag_records", status.lag_records},
              {"lag_ms", status.lag_ms},
              {"lag_region", status.lag_region},
              {"lag_lane", status.lag_lane},
              {"backfill_percent", status.backfill_percent},
              {"backfill_rows_per_second", status.backfill_rows_per_second},
              {"backfill_rows_per_second_max", status.backfill_rows_per_second_max},
              {"backfill_seconds_left", status.backfill_seconds_left}});
  }
}

void rows_of_tidemark_regions(const Known& known, Rows& rows) {
  if (known.state.regions == nullptr) return;
  for (const pb::RegionEntry& region : known.state.regions->regions()) {
    std::vector<ArrayElement> replicas;
    for (const pb::Replica& replica : region.replicas()) replicas.emplace_back(replica.node());
    rows.add({{"region", region.region()},
              {"first_shard", region.shards().begin()},
              {"end_shard", region.shards().end()},
              {"generation", region.generation()},
              {"owner", region.owner()},
              {"replicas", format_array(replicas)},
              {"sealed", region.sealed()},
              {"log_floor", region.floor()}});
  }
}

void rows_of_tidemark_ring(const Known& known, Rows& rows) {
  if (known.state.ring == nullptr) return;
  const pb::Ring& ring = known.state.ring->ring();
  for (const pb::Ring::Slice& slice : ring.slices()) {
    if (slice.member() >= static_cast<uint32_t>(ring.members_size())) continue;
    const std::string& member = ring.members(static_cast<int>(slice.member()));
    rows.add({{"version", ring.version()},
              {"first_shard", slice.shards().begin()},
              {"end_shard", slice.shards().end()},
              {"view_manager", member},
              {"process", process_of(*known.state.ring, member)}});
  }
}

void rows_of_tidemark_nodes(const Known& known, Rows& rows) {
  for (const pb::ProcessFact& node : known.state.nodes) {
    rows.add({{"name", node.name()},
              {"address", node.address()},
              {"sql_address", node.sql_address()},
              {"weight", node.weight()}});
  }
}

void rows_of_tidemark_view_managers(const Known& known, Rows& rows) {
  for (const pb::ProcessFact& manager : known.state.view_managers) {
    rows.add({{"name", manager.name()},
              {"address", manager.address()},
              {"weight", manager.weight()},
              {"standby", manager.standby()}});
  }
}

}  // namespace tidemark::sql::system_detail
