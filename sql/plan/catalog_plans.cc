#include "sql/plan/catalog_plans.h"

#include <algorithm>

#include "sql/bind/query_binder.h"
#include "sql/parse/parser.h"
#include "sql/plan/planner.h"

namespace tidemark::sql {

// The tables that a view could name when it was made.
class CatalogPlans::CatalogThen : public Catalog {
 public:
  CatalogThen(const CatalogPlans& plans, uint64_t version) : plans_(plans), version_(version) {}

  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override {
    if (!schema.empty() && schema != "public") return nullptr;
    auto named = plans_.by_name_.find(std::string(name));
    if (named == plans_.by_name_.end()) return nullptr;
    for (TableId id : named->second) {
      const Known& known = *plans_.find(id);
      const bool alive = known.created < version_ && (known.dropped == 0 || known.dropped >= version_);
      const bool beside = known.is_replacement && (known.filled == 0 || known.filled >= version_);
      if (alive && !beside) return schema_of(*known.table);
    }
    return nullptr;
  }

 private:
  const CatalogPlans& plans_;
  const uint64_t version_;
};

const CatalogPlans::Known* CatalogPlans::find(TableId id) const {
  const bool known = id.value < known_.size() && known_[id.value].table != nullptr;
  return known ? &known_[id.value] : nullptr;
}

std::shared_ptr<const ViewPlan> CatalogPlans::view(TableId id) const {
  const Known* found = find(id);
  return found == nullptr ? nullptr : found->view;
}

StoredTablePtr CatalogPlans::table(TableId id) const {
  const Known* found = find(id);
  return found == nullptr ? nullptr : found->table;
}

void CatalogPlans::update(const pb::Catalog& catalog, std::vector<std::string>& failures) {
  std::vector<const pb::TableDefinition*> added;
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (definition.kind() == pb::AUXILIARY) continue;
    if (find(TableId{definition.id()}) == nullptr) {
      added.push_back(&definition);
    } else {
      known_[definition.id()].dropped = definition.dropped();
      known_[definition.id()].filled = definition.filled();
    }
  }
  // Ids grow: what a view is made from comes before it.
  std::sort(added.begin(), added.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
  for (const pb::TableDefinition* definition : added) add(*definition, failures);
}

void CatalogPlans::add(const pb::TableDefinition& definition, std::vector<std::string>& failures) {
  if (known_.size() <= definition.id()) known_.resize(definition.id() + size_t{1});
  Known& known = known_[definition.id()];
  known.created = definition.created();
  known.dropped = definition.dropped();
  known.filled = definition.filled();
  known.is_replacement = definition.replaces() != 0;
  if (definition.kind() == pb::VIEW) {
    add_view(definition, failures);
  } else if (Result<StoredTablePtr> table = stored_table(definition); table.ok()) {
    known.table = std::move(*table);
  } else {
    failures.push_back(definition.name() + ": " + table.error().message);
  }
  if (known.table) by_name_[definition.name()].push_back(TableId{definition.id()});
}

void CatalogPlans::add_view(const pb::TableDefinition& definition, std::vector<std::string>& failures) {
  const CatalogThen then(*this, definition.created());
  Result<ViewPlan, SqlError> plan = plan_statement(definition.sql(), TableId{definition.id()}, then,
                                                   [this](TableId id) { return table(id); });
  if (!plan.ok()) {
    failures.push_back(definition.name() + ": " + plan.error().message);
    return;
  }
  Known& known = known_[definition.id()];
  known.view = std::make_shared<const ViewPlan>(std::move(*plan));
  known.table = stored_view(*known.view);
}

}  // namespace tidemark::sql
