#include "node/region/table.h"

#include <algorithm>
#include <set>
#include <string>

namespace tidemark {

namespace {

bool is_auxiliary(const std::map<TableId, Table>& tables, TableId id) {
  auto it = tables.find(id);
  return it == tables.end() || it->second.definition->kind() == pb::AUXILIARY;
}

// The base and view tables that a view and its auxiliary tables are made from.
std::vector<TableId> backfill_sources(const std::map<TableId, Table>& tables, TableId view) {
  std::set<TableId> out;
  for (const auto& [id, table] : tables) {
    if (id != view && TableId{table.definition->view()} != view) continue;
    for (uint32_t source : table.definition->sources()) {
      if (!is_auxiliary(tables, TableId{source})) out.insert(TableId{source});
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace

const Table* TableCatalog::find(TableId id) const {
  return id.value < data_->by_id.size() ? data_->by_id[id.value] : nullptr;
}

Status TableCatalog::apply(const pb::CatalogChange& change, std::vector<TableId>& dropped) {
  if (change.version() != data_->version.value + 1) {
    return Error{"catalog version " + std::to_string(change.version()) + " does not follow " +
                 std::to_string(data_->version.value)};
  }
  auto next = std::make_shared<Data>();
  next->version = CatalogVersion{change.version()};
  next->tables = data_->tables;
  for (const pb::TableDefinition& definition : change.tables()) {
    TableId id{definition.id()};
    if (definition.dropped() != 0) {
      if (next->tables.erase(id) > 0) dropped.push_back(id);
      continue;
    }
    Table& table = next->tables[id];
    table.id = id;
    table.rule = definition.row_rule();
    table.definition = std::make_shared<const pb::TableDefinition>(definition);
  }
  link(*next);
  data_ = std::move(next);
  return {};
}

void TableCatalog::link(Data& data) {
  data.by_id.clear();
  for (auto& [id, table] : data.tables) {
    table.feeds_views = table.rule == pb::JOIN_SIDE;
    table.backfill_sources.clear();
    table.derived_in.clear();
    table.tops.clear();
    if (data.by_id.size() <= id.value) data.by_id.resize(id.value + 1);
    data.by_id[id.value] = &table;
  }
  auto at = [&data](uint32_t id) {
    auto it = data.tables.find(TableId{id});
    return it == data.tables.end() ? nullptr : &it->second;
  };
  for (auto& [id, table] : data.tables) {
    for (uint32_t source : table.definition->sources()) {
      if (Table* from = at(source)) from->feeds_views = true;
    }
    for (const pb::DerivedColumn& derived : table.definition->derived()) {
      Table* multiset = at(derived.multiset());
      if (multiset == nullptr) continue;
      std::vector<TableId>& in = multiset->derived_in;
      if (std::find(in.begin(), in.end(), id) == in.end()) in.push_back(id);
    }
    if (table.rule == pb::TOP) {
      if (Table* multiset = at(table.definition->top_of())) multiset->tops.push_back(id);
    }
    if (table.definition->kind() == pb::VIEW) table.backfill_sources = backfill_sources(data.tables, id);
  }
}

Result<TableCatalog> TableCatalog::from_pb(const pb::Catalog& catalog) {
  auto data = std::make_shared<Data>();
  data->version = CatalogVersion{catalog.version()};
  for (const pb::TableDefinition& definition : catalog.tables()) {
    TableId id{definition.id()};
    if (definition.dropped() != 0 || data->tables.contains(id))
      return Error{"a catalog with dropped or equal tables"};
    data->tables[id] = {
        id, definition.row_rule(), std::make_shared<const pb::TableDefinition>(definition), false, {}, {},
        {}};
  }
  link(*data);
  TableCatalog out;
  out.data_ = std::move(data);
  return out;
}

void TableCatalog::to_pb(pb::Catalog& out) const {
  out.set_version(data_->version.value);
  for (const auto& [id, table] : data_->tables) *out.add_tables() = *table.definition;
}

pb::CatalogChange next_catalog_change(const pb::Catalog& catalog, CatalogVersion from) {
  uint64_t version = from.value + 1;
  pb::CatalogChange out;
  out.set_version(version);
  for (const pb::TableDefinition& definition : catalog.tables()) {
    if (definition.created() != version && definition.begun() != version && definition.dropped() != version)
      continue;
    pb::TableDefinition& table = *out.add_tables();
    table = definition;
    if (table.begun() > version) table.clear_begun();
    if (table.dropped() > version) table.clear_dropped();
  }
  return out;
}

}  // namespace tidemark
