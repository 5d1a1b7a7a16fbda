#include "sql/plan/catalog_plans.h"

#include "sql/bind/query_binder.h"
#include "sql/parse/parser.h"
#include "sql/plan/planner.h"

namespace tidemark::sql {

namespace {

// The tables that a view could name when it was made.
class CatalogThen : public Catalog {
 public:
  CatalogThen(const pb::Catalog& catalog, uint64_t version, const CatalogPlans& plans)
      : catalog_(catalog), version_(version), plans_(plans) {}

  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override {
    if (!schema.empty() && schema != "public") return nullptr;
    for (const pb::TableDefinition& table : catalog_.tables()) {
      const bool alive = table.created() < version_ && (table.dropped() == 0 || table.dropped() >= version_);
      const bool beside = table.replaces() != 0 && (table.filled() == 0 || table.filled() >= version_);
      if (!alive || beside || table.kind() == pb::AUXILIARY || table.name() != name) continue;
      if (StoredTablePtr stored = plans_.table(TableId{table.id()})) return schema_of(*stored);
    }
    return nullptr;
  }

 private:
  const pb::Catalog& catalog_;
  const uint64_t version_;
  const CatalogPlans& plans_;
};

}  // namespace

std::shared_ptr<const ViewPlan> CatalogPlans::view(TableId id) const {
  auto found = views_.find(id);
  return found == views_.end() ? nullptr : found->second;
}

StoredTablePtr CatalogPlans::table(TableId id) const {
  auto found = tables_.find(id);
  return found == tables_.end() ? nullptr : found->second;
}

void CatalogPlans::update(const pb::Catalog& catalog, std::vector<std::string>& failures) {
  // Ids grow: what a view is made from comes before it.
  std::map<uint32_t, const pb::TableDefinition*> by_id;
  for (const pb::TableDefinition& definition : catalog.tables()) by_id[definition.id()] = &definition;
  for (const auto& [number, definition] : by_id) {
    const TableId id{number};
    if (definition->kind() == pb::AUXILIARY || tables_.contains(id)) continue;
    if (definition->kind() == pb::VIEW) {
      add_view(*definition, catalog, failures);
    } else if (Result<StoredTablePtr> table = stored_table(*definition); table.ok()) {
      tables_[id] = std::move(*table);
    } else {
      failures.push_back(definition->name() + ": " + table.error().message);
    }
  }
}

void CatalogPlans::add_view(const pb::TableDefinition& definition, const pb::Catalog& catalog,
                            std::vector<std::string>& failures) {
  const CatalogThen then(catalog, definition.created(), *this);
  Result<ViewPlan, SqlError> plan = plan_statement(definition.sql(), TableId{definition.id()}, then,
                                                   [this](TableId id) { return table(id); });
  if (!plan.ok()) {
    failures.push_back(definition.name() + ": " + plan.error().message);
    return;
  }
  auto kept = std::make_shared<const ViewPlan>(std::move(*plan));
  tables_[TableId{definition.id()}] = stored_view(*kept);
  views_[TableId{definition.id()}] = std::move(kept);
}

}  // namespace tidemark::sql
