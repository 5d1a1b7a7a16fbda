// A catalog made by statements, with its system tables, for tests.
#pragma once

#include <string>

#include "sql/execute/memory_source.h"
#include "sql/system/system_tables.h"

namespace tidemark::sql::testing {

// Tables and views as a cluster would have them, without rows.
class SystemWorld : public Catalog {
 public:
  // REQUIRES: a CREATE TABLE or CREATE MATERIALIZED VIEW that is right.
  void create(const std::string& sql);

  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override;

  // With the rows of system tables as of the last create().
  RowSource& source() { return source_; }
  SystemState& state() { return state_; }
  // To be called when the state was changed.
  void refresh();

 private:
  void create_table(const TableSchema& table, const std::string& sql);

  pb::Catalog catalog_;
  CatalogPlans plans_;
  SystemState state_;
  MemorySource source_;
};

}  // namespace tidemark::sql::testing
