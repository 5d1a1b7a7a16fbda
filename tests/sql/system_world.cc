#include "tests/sql/system_world.h"

#include "sql/bind/statement.h"
#include "sql/parse/parser.h"
#include "sql/system/table_list.h"

namespace tidemark::sql::testing {

void SystemWorld::create(const std::string& sql) {
  const auto parsed = parse_statements(sql);
  TM_ASSERT(parsed.ok());
  ParamTypes params;
  auto bound = bind_statement((*parsed)[0], sql, *this, params);
  TM_ASSERT(bound.ok(), bound.error().message);
  catalog_.set_version(catalog_.version() + 1);
  catalog_.set_next_id(std::max(1u, catalog_.next_id()));
  if (const auto* table = std::get_if<CreateTableStatement>(&bound->body)) {
    create_table(table->table, sql);
  } else {
    const auto plan = plan_statement(sql, TableId{catalog_.next_id()}, *this,
                                     [this](TableId id) { return plans_.table(id); });
    TM_ASSERT(plan.ok());
    for (pb::TableDefinition definition : plan->tables) {
      definition.set_created(catalog_.version());
      catalog_.set_next_id(definition.id() + 1);
      *catalog_.add_tables() = definition;
    }
  }
  std::vector<std::string> failures;
  plans_.update(catalog_, failures);
  TM_ASSERT(failures.empty());
  refresh();
}

void SystemWorld::create_table(const TableSchema& table, const std::string& sql) {
  pb::TableDefinition& definition = *catalog_.add_tables();
  definition.set_id(catalog_.next_id());
  catalog_.set_next_id(definition.id() + 1);
  definition.set_name(table.name);
  definition.set_kind(pb::MANAGED);
  definition.set_row_rule(pb::PUT);
  definition.set_created(catalog_.version());
  definition.set_sql(sql);
  for (const SchemaColumn& column : table.columns) {
    pb::Column& out = *definition.add_columns();
    out.set_name(column.name);
    out.set_type(type_name(column.type));
    out.set_not_null(column.not_null);
  }
  for (int column : table.distribution) definition.add_distribution(static_cast<uint32_t>(column));
  for (const ClusteringColumn& part : table.clustering) {
    definition.add_clustering(static_cast<uint32_t>(part.column));
    definition.add_clustering_descending(part.order == SortOrder::Descending);
  }
}

TableSchemaPtr SystemWorld::find_table(std::string_view schema, std::string_view name) const {
  for (const pb::TableDefinition& table : catalog_.tables()) {
    const bool is_it = table.name() == name && table.kind() != pb::AUXILIARY;
    if (is_it && (schema.empty() || schema == "public")) return schema_of(*plans_.table(TableId{table.id()}));
  }
  return SystemTables::builtin().find(schema, name);
}

void SystemWorld::refresh() {
  state_.catalog = &catalog_;
  state_.plans = &plans_;
  for (const system_detail::SystemTable& listed : system_detail::table_list()) {
    const TableSchemaPtr schema = SystemTables::builtin().find(listed.schema, listed.name);
    MemoryTable& table = source_.add_table(*schema);
    for (const std::vector<OwnedValue>& row : SystemTables::builtin().rows(schema->id, state_)) {
      std::vector<Value> values;
      for (const OwnedValue& value : row) values.push_back(value.get());
      table.add(values);
    }
  }
}

}  // namespace tidemark::sql::testing
