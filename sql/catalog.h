// What the binder knows about tables. The real catalog, catalog tables of PostgreSQL and tests all speak
// this.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "sql/expr/function.h"
#include "sql/types/key_encoding.h"
#include "sql/types/sql_type.h"

namespace tidemark::sql {

enum class SchemaKind : uint8_t {
  Managed,   // Written through Tidemark.
  External,  // Fed from a Kafka topic.
  View,
  Virtual,  // Rows made on the fly: pg_catalog.
};

struct SchemaColumn {
  std::string name;
  SqlType type;
  bool not_null = false;
  bool hidden = false;           // Not the user's: no name finds it.
  std::string default_sql = {};  // An expression; empty for NULL.
};

struct ClusteringColumn {
  int column;
  SortOrder order = SortOrder::Ascending;
};

struct TableSchema {
  TableId id;
  std::string schema = "public";
  std::string name;
  SchemaKind kind = SchemaKind::Managed;
  std::vector<SchemaColumn> columns;
  // The primary key: these columns hashed, then those sorted within.
  std::vector<int> distribution;
  std::vector<ClusteringColumn> clustering;

  int find_column(std::string_view column) const {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].hidden && columns[i].name == column) return static_cast<int>(i);
    }
    return -1;
  }
  // Column indexes of the key, in its order.
  std::vector<int> key_columns() const {
    std::vector<int> out = distribution;
    for (const ClusteringColumn& part : clustering) out.push_back(part.column);
    return out;
  }
};

using TableSchemaPtr = std::shared_ptr<const TableSchema>;

class Catalog {
 public:
  virtual ~Catalog() = default;

  // Null if there is none. An empty schema means the search path: public, then pg_catalog.
  virtual TableSchemaPtr find_table(std::string_view schema, std::string_view name) const = 0;

  virtual const FunctionRegistry& functions() const { return FunctionRegistry::builtin(); }
};

}  // namespace tidemark::sql
