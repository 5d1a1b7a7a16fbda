// A catalog for tests, from CREATE TABLE statements.
#pragma once

#include <map>
#include <string>

#include "sql/bind/statement.h"
#include "sql/catalog.h"
#include "sql/parse/parser.h"

namespace tidemark::sql::testing {

class TestCatalog : public Catalog {
 public:
  // REQUIRES: a CREATE TABLE that is right.
  void create(const std::string& sql, SchemaKind kind = SchemaKind::Managed) {
    const auto parsed = parse_statements(sql);
    TM_ASSERT(parsed.ok());
    ParamTypes params;
    auto bound = bind_statement((*parsed)[0], sql, *this, params);
    TM_ASSERT(bound.ok(), bound.error().message);
    TableSchema table = std::get<CreateTableStatement>(bound->body).table;
    table.id = TableId{next_id_++};
    table.kind = kind;
    tables_[table.name] = std::make_shared<TableSchema>(table);
  }

  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override {
    const auto found = tables_.find(name);
    return found == tables_.end() || !(schema.empty() || schema == "public") ? nullptr : found->second;
  }

 private:
  std::map<std::string, TableSchemaPtr, std::less<>> tables_;
  uint32_t next_id_ = 1;
};

}  // namespace tidemark::sql::testing
