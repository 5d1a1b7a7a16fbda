// pg_catalog, information_schema and tidemark: tables whose rows are made when they are read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog.h"
#include "sql/system/system_state.h"
#include "sql/types/value.h"

namespace tidemark::sql {

// Immutable; may be used by any thread.
class SystemTables {
 public:
  static const SystemTables& builtin();

  // Of kind Virtual; null: there is none. An empty schema means the search path: of system tables,
  // pg_catalog.
  TableSchemaPtr find(std::string_view schema, std::string_view name) const;

  // All rows of a table that find() gave, in no order. They are made each time: who reads a table often in
  // one statement keeps them.
  std::vector<std::vector<OwnedValue>> rows(TableId table, const SystemState& state) const;

 private:
  SystemTables();

  struct Entry {
    TableSchemaPtr schema;
    std::vector<OwnedValue> defaults;
  };
  std::vector<Entry> entries_;                          // In the order of table_list().
  std::map<std::string, size_t, std::less<>> by_name_;  // "schema.name".
};

}  // namespace tidemark::sql
