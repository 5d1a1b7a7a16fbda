#include "tests/views/cluster_views.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/types/text_format.h"
#include "tests/views/flow_views.h"

namespace tidemark::views {

SimClusterOptions ClusterViews::options(uint64_t seed) {
  SimClusterOptions out;
  out.seed = seed;
  out.standby_view_managers = static_cast<int>(seed % 2);
  out.coordinator.activation = seed % 4 < 2 ? pb::ACTIVATE_BY_NODE : pb::ACTIVATE_BY_COORDINATOR;
  return out;
}

ClusterViews::ClusterViews(const SimClusterOptions& options) : cluster_(options), random_(options.seed) {
  TM_ASSERT(cluster_.run_until([&] { return cluster_.serving(); }));
}

// Asks the coordinator for a table, or for a view with its auxiliary tables.
void ClusterViews::create(const std::string& name) {
  const uint32_t id = planner_.find(name)->id();
  std::vector<pb::TableDefinition> wanted;
  for (pb::TableDefinition table : planner_.catalog().tables()) {
    if (table.id() != id && table.view() != id) continue;
    table.clear_created();
    table.clear_begun();
    wanted.push_back(table);
  }
  version_ = cluster_.create_tables(wanted);
  TM_ASSERT(version_.value != 0, name);
}

void ClusterViews::create_table(const Step& step) {
  add_table(planner_, step);
  create(step.name);
}

std::string ClusterViews::create_view(const Step& step) {
  std::string refused = planner_.create_view(create_view_sql(step));
  if (refused.empty()) create(step.name);
  return refused;
}

void ClusterViews::drop_view(const std::string&) {
  TM_UNREACHABLE();  // Not in scripts for clusters.
}

void ClusterViews::write(const std::vector<Step>& batch) {
  for (const Step& step : batch) write_one(step);
  finish_writes();
}

void ClusterViews::finish_writes() {
  TM_ASSERT(cluster_.run_until([&] { return in_flight_ == 0; }));
  keys_in_flight_.clear();
}

void ClusterViews::write_one(const Step& step) {
  const TableId table{planner_.find(step.name)->id()};
  const sql::TableCodec& codec = planner_.store().codec(table);
  sql::Arena arena;
  std::vector<sql::Value> values(codec.columns().size());
  for (size_t i = 0; i < step.values.size(); ++i) {
    if (step.values[i] == "NULL") continue;
    TM_ASSERT(sql::value_from_text(codec.columns()[i].type, step.values[i], arena, values[i]).ok());
  }
  sql::EncodedRow row;
  codec.encode(values, row);
  // Writes of one key are told apart by their order alone.
  if (!keys_in_flight_.insert(step.name + row.key).second) finish_writes();
  Operation operation;
  operation.kind = step.kind == StepKind::Delete ? OperationKind::Delete : OperationKind::Put;
  operation.table = table;
  operation.hash = row.hash;
  operation.key = row.key;
  operation.row = row.row;
  WriteBatch batch;
  batch.add(operation);
  ++in_flight_;
  cluster_.client().write(std::move(batch), version_, Atomicity::Whole, [this](auto outcome) {
    TM_ASSERT(outcome.ok());
    --in_flight_;
  });
}

// ---- view managers

void ClusterViews::change_view_managers(StepKind change) {
  switch (change) {
    case StepKind::AddViewManager: return add_view_manager();
    case StepKind::RemoveViewManager: return remove_view_manager();
    case StepKind::ReplaceViewManager: return replace_view_manager();
    default: TM_UNREACHABLE();
  }
}

void ClusterViews::add_view_manager() {
  constexpr size_t kMembersMax = 4;
  if (members_.size() >= kMembersMax) return;
  members_.push_back(cluster_.view_manager_count());
  SimProcess& process = cluster_.add_view_manager();
  TM_ASSERT(cluster_.admin({"add-vm", process.name()}));
}

void ClusterViews::remove_view_manager() {
  if (members_.size() < 2) return;
  const auto leaving = members_.begin() + static_cast<std::ptrdiff_t>(random_.below(members_.size()));
  std::string said;
  TM_ASSERT(cluster_.admin({"remove-vm", cluster_.view_manager(*leaving).name()}, &said), said);
  members_.erase(leaving);
}

// It dies in the middle of its work and starts again, with nothing; a standby may be quicker.
void ClusterViews::replace_view_manager() {
  SimProcess& process = cluster_.view_manager(members_[random_.below(members_.size())]);
  process.crash();
  cluster_.run_for(Micros{random_.between(0, 30'000'000)});
  process.start();
}

// ---- reading

std::map<std::string, std::string> ClusterViews::scan(TableId table) {
  std::map<std::string, std::string> out;
  const Micros known_by{cluster_.world().scheduler.now().value + 10'000'000};
  for (std::optional<ScanPosition> at = ScanPosition{}; at;) {
    ScanSpec spec;
    spec.table = table;
    std::optional<Result<RowPage, ClientFailure>> page;
    cluster_.client().scan(spec, *at, [&](auto got) { page = std::move(got); });
    TM_ASSERT(cluster_.run_until([&] { return page.has_value(); }));
    if (!page->ok()) {  // The table is in the catalog, and not yet in the log of each region.
      TM_ASSERT(page->error().code == ClientError::StaleCatalog, page->error().message);
      TM_ASSERT(cluster_.world().scheduler.now() < known_by, table);
      cluster_.run_for(Micros{1'000});
      continue;
    }
    StoredRow row;
    for (RowReader reader((*page)->rows); reader.next(row);) out[std::string(row.key)] = row.row;
    at = (*page)->next;
  }
  return out;
}

Lines ClusterViews::read_now(const std::string& view) {
  return planner_.shown(view, scan(TableId{planner_.find(view)->id()}));
}

Lines ClusterViews::read(const std::string& view, const Lines& wanted) {
  Lines have;
  Micros patience{1'000};
  for (int round = 0; round < 18; ++round, patience.value *= 2) {
    have = read_now(view);
    if (have == wanted) break;
    cluster_.run_for(patience);
  }
  return have;
}

}  // namespace tidemark::views
