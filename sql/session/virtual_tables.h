// Tables whose rows are made on the fly: pg_catalog, information_schema, tidemark.
#pragma once

#include <string_view>
#include <vector>

#include "sql/catalog.h"
#include "sql/parse/try.h"
#include "sql/types/value.h"

namespace tidemark::sql {

struct SessionState;

class VirtualTables {
 public:
  virtual ~VirtualTables() = default;

  // Of kind Virtual; null if there is none. An empty schema means pg_catalog.
  virtual TableSchemaPtr find(std::string_view schema, std::string_view name) const = 0;

  using Rows = std::vector<std::vector<OwnedValue>>;
  // All rows of a table that find() gave, as the session sees them.
  virtual Result<Rows, SqlError> rows(const TableSchema& table, const SessionState& session) const = 0;
};

}  // namespace tidemark::sql
