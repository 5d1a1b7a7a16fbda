// Discarding logs (docs/design.md, "What must always hold", 8), and the begin of views.
#include <algorithm>

#include "coordinator/catalog_size.h"
#include "coordinator/step_list.h"

#include "base/mutation.h"

namespace tidemark::steps {

namespace {

// How far the region's log may be cut: what every replica has in a checkpoint and every lane has committed
// past, both recorded. Its present floor if nothing can go.
uint64_t possible_floor(const Situation& now, const pb::RegionEntry& entry) {
  size_t needed = now.facts.cluster.embedded() || TM_MUTATION("trim with one checkpoint") ? 1 : 2;
  auto log = now.log(entry.region());
  // A second replica that is there for a move only would take its checkpoint away with it.
  const size_t lasting = std::min<size_t>(now.facts.wishes.replicas(), entry.replicas_size());
  if (!log || lasting < needed) return entry.floor();
  uint64_t floor = TM_MUTATION("trim by checkpoint only") ? UINT64_MAX : log->committed_floor;
  for (const auto& replica : entry.replicas()) {
    if (TM_MUTATION("trim with an absent standby") && !now.is_node_alive(replica.node())) continue;
    if (!now.has_checkpoint(entry, replica.node())) return entry.floor();
    floor = std::min(floor, now.status(entry.region(), replica.node())->checkpoint());
  }
  if (floor == UINT64_MAX) return entry.floor();
  return std::max(floor, entry.floor());
}

const pb::Operation* discarding(const Situation& now) {
  for (const auto& operation : now.facts.operations.running())
    if (operation.kind() == pb::Operation::DISCARD_LOGS && operation.offsets_size() == 0) return &operation;
  return nullptr;
}

// What the operation has found: where each log begins now.
void answer(Step& step, uint64_t operation) {
  for (auto& mine : *step.after.operations.mutable_running()) {
    if (mine.id() != operation) continue;
    for (const auto& entry : step.after.map.regions()) {
      if (entry.sealed()) continue;
      mine.add_regions(entry.region());
      mine.add_offsets(entry.floor());
    }
  }
}

}  // namespace

MaybeStep raise_floors(const Situation& now) {
  const pb::Operation* asked = discarding(now);
  uint64_t enough = asked ? 1 : now.settings.discard_records_min;
  if (enough == 0) return std::nullopt;
  std::map<uint64_t, uint64_t> floors;
  for (const auto* entry : now.live_regions()) {
    uint64_t floor = possible_floor(now, *entry);
    if (floor - entry->floor() >= enough) floors[entry->region()] = floor;
  }
  if (floors.empty() && !asked) return std::nullopt;
  Step step = begin_step(now, StepKind::RaiseFloors, std::to_string(floors.size()) + " logs are cut");
  if (!floors.empty()) raise_map_version(step);
  for (const auto& [region, floor] : floors) entry_in(step, region).set_floor(floor);
  if (asked) answer(step, asked->id());
  return step;
}

namespace {

uint32_t view_of(const pb::TableDefinition& table) {
  return table.kind() == pb::AUXILIARY ? table.view() : table.id();
}

// Those of the views, with their bytes in the next version, that it has room for: the others come later.
// Never none: what belongs to one view was created in one version.
std::set<uint32_t> first_that_fit(const std::map<uint32_t, size_t>& views) {
  std::set<uint32_t> out;
  size_t bytes = 0;
  for (const auto& [view, more] : views) {
    bytes += more;
    if (!out.empty() && bytes > kCatalogChangeBytesMax) break;
    out.insert(view);
  }
  return out;
}

}  // namespace

// Effects and pages of a view start everywhere only when the view is known everywhere. A view begins with its
// auxiliary tables, and not before one that it is made from.
MaybeStep begin_views(const Situation& now) {
  uint64_t known = UINT64_MAX;
  for (const auto* entry : now.live_regions()) {
    auto log = now.log(entry->region());
    if (!TM_MUTATION("begin before every region knows the view"))
      known = std::min(known, log ? log->catalog_version : 0);
  }
  auto waits = [known](const pb::TableDefinition& table) {
    bool derived = table.kind() == pb::VIEW || table.kind() == pb::AUXILIARY;
    return derived && table.begun() == 0 && table.dropped() == 0 && table.created() <= known;
  };
  std::map<uint32_t, size_t> waiting;
  for (const auto& table : now.facts.catalog.tables())
    if (waits(table)) waiting[view_of(table)] += catalog_change_bytes(table);
  if (waiting.empty()) return std::nullopt;
  const std::set<uint32_t> begun = first_that_fit(waiting);
  uint64_t version = now.facts.catalog.version() + 1;
  Step step = begin_step(now, StepKind::BeginViews, "catalog " + std::to_string(version));
  step.after.catalog.set_version(version);
  for (auto& table : *step.after.catalog.mutable_tables())
    if (waits(table) && begun.contains(view_of(table))) table.set_begun(version);
  return step;
}

namespace {

bool is_filled(const Situation& now, const pb::TableDefinition& view) {
  const auto& regions = now.live_regions();
  return std::all_of(regions.begin(), regions.end(), [&](const auto* entry) {
    auto log = now.log(entry->region());
    return log && log->catalog_version >= view.begun() && !log->backfilling.contains(view.id());
  });
}

// Is it the view, or an auxiliary table of it?
bool belongs_to(const pb::TableDefinition& table, uint32_t view) {
  return (table.id() == view || table.view() == view) && table.dropped() == 0;
}

// The view that another has taken the place of, with its auxiliary tables.
void drop_replaced(pb::Catalog& catalog, uint32_t view) {
  for (auto& table : *catalog.mutable_tables())
    if (belongs_to(table, view)) table.set_dropped(catalog.version());
}

// What a version takes in which `view` is filled: that of what it drops.
size_t bytes_to_fill(const pb::Catalog& catalog, const pb::TableDefinition& view) {
  if (view.replaces() == 0) return 0;
  const auto& tables = catalog.tables();
  const auto dropped = std::count_if(tables.begin(), tables.end(),
                                     [&](const auto& table) { return belongs_to(table, view.replaces()); });
  return static_cast<size_t>(dropped) * kCatalogDropBytes;
}

}  // namespace

// A view may be read without waiting, and takes the place of the one it replaces, once every region has
// committed past its last page of it.
MaybeStep fill_views(const Situation& now) {
  std::map<uint32_t, size_t> waiting;
  for (const auto& table : now.facts.catalog.tables()) {
    bool waits =
        table.kind() == pb::VIEW && table.begun() != 0 && table.filled() == 0 && table.dropped() == 0;
    if (waits && is_filled(now, table)) waiting[table.id()] = bytes_to_fill(now.facts.catalog, table);
  }
  if (waiting.empty()) return std::nullopt;
  const std::set<uint32_t> filled = first_that_fit(waiting);
  uint64_t version = now.facts.catalog.version() + 1;
  Step step = begin_step(now, StepKind::FillViews, "catalog " + std::to_string(version));
  step.after.catalog.set_version(version);
  for (auto& table : *step.after.catalog.mutable_tables()) {
    if (!filled.contains(table.id())) continue;
    table.set_filled(version);
    if (table.replaces() != 0) drop_replaced(step.after.catalog, table.replaces());
  }
  return step;
}

}  // namespace tidemark::steps
