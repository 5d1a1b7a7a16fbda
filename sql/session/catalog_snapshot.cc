#include "sql/session/catalog_snapshot.h"

#include <algorithm>
#include <set>

#include "sql/bind/statement.h"
#include "sql/parse/parser.h"

namespace tidemark::sql {

namespace {

// For statements that name no other table.
class NoTables : public Catalog {
 public:
  TableSchemaPtr find_table(std::string_view, std::string_view) const override { return nullptr; }
};

// Defaults and NOT NULL are in the statement only.
TableSchemaPtr schema_of_statement(const pb::TableDefinition& definition) {
  Result<std::vector<ast::Statement>, SqlError> parsed = parse_statements(definition.sql());
  if (!parsed.ok() || parsed->size() != 1) return nullptr;
  ParamTypes params;
  Result<BoundStatement, SqlError> bound =
      bind_statement(parsed->front(), definition.sql(), NoTables(), params);
  if (!bound.ok()) return nullptr;
  auto* create = std::get_if<CreateTableStatement>(&bound->body);
  if (create == nullptr) return nullptr;
  auto out = std::make_shared<TableSchema>(std::move(create->table));
  out->id = TableId{definition.id()};
  return out;
}

TableSchemaPtr make_schema(const pb::TableDefinition& definition, const StoredTable& stored) {
  if (definition.kind() == pb::MANAGED) {
    if (TableSchemaPtr schema = schema_of_statement(definition)) return schema;
  }
  return schema_of(stored);
}

CatalogTablePtr make_table(const pb::TableDefinition& definition, const CatalogPlans& plans,
                           const CatalogTable* before) {
  auto out = before ? std::make_shared<CatalogTable>(*before) : std::make_shared<CatalogTable>();
  out->definition = definition;
  if (before) return out;
  Result<TableCodec> codec = TableCodec::make(definition);
  if (!codec.ok()) return nullptr;
  out->codec = std::make_shared<const TableCodec>(std::move(*codec));
  if (definition.kind() == pb::AUXILIARY) return out;
  const TableId id{definition.id()};
  out->stored = plans.table(id);
  if (out->stored == nullptr) return nullptr;  // Made by a newer release.
  out->plan = plans.view(id);
  out->schema = make_schema(definition, *out->stored);
  return out;
}

bool is_same(const pb::TableDefinition& a, const pb::TableDefinition& b) {
  return a.begun() == b.begun() && a.filled() == b.filled() && a.paced() == b.paced();
}

}  // namespace

CatalogSnapshot::CatalogSnapshot(const pb::Catalog& catalog, const CatalogPlans& plans,
                                 const CatalogSnapshot* before, const VirtualTables* virtual_tables)
    : version_(catalog.version()),
      next_id_(std::max(1u, catalog.next_id())),
      virtual_tables_(virtual_tables) {
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (definition.dropped() != 0) continue;
    const TableId id{definition.id()};
    CatalogTablePtr known = before ? before->table(id) : nullptr;
    CatalogTablePtr table =
        known && is_same(known->definition, definition) ? known : make_table(definition, plans, known.get());
    if (table == nullptr) continue;
    tables_[id] = table;
    const bool is_beside = definition.replaces() != 0 && definition.filled() == 0;
    if (table->schema && !is_beside) by_name_[definition.name()] = table->schema;
  }
}

TableSchemaPtr CatalogSnapshot::find_table(std::string_view schema, std::string_view name) const {
  if (schema.empty() || schema == "public") {
    if (auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    if (!schema.empty()) return nullptr;
  }
  return virtual_tables_ ? virtual_tables_->find(schema, name) : nullptr;
}

CatalogTablePtr CatalogSnapshot::table(TableId id) const {
  auto found = tables_.find(id);
  return found == tables_.end() ? nullptr : found->second;
}

bool CatalogSnapshot::is_readable(TableId id) const {
  std::set<TableId> seen;
  std::vector<TableId> left{id};
  while (!left.empty()) {
    CatalogTablePtr found = table(left.back());
    left.pop_back();
    if (found == nullptr || !seen.insert(TableId{found->definition.id()}).second) continue;
    if (found->definition.kind() == pb::VIEW && found->definition.filled() == 0) return false;
    for (uint32_t source : found->definition.sources()) left.push_back(TableId{source});
  }
  return true;
}

}  // namespace tidemark::sql
