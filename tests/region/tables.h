// Tables for tests: small definitions, and their rows from plain values.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "proto/catalog.pb.h"
#include "sql/table/table_codec.h"

namespace tidemark {

// What lies in a row of a test: bigints, or NULL.
using Cell = std::optional<int64_t>;
using Cells = std::vector<Cell>;

class TestTable {
 public:
  explicit TestTable(pb::TableDefinition definition);

  TableId id() const { return TableId{definition_.id()}; }
  const pb::TableDefinition& definition() const { return definition_; }
  // One cell per column.
  sql::EncodedRow encode(const Cells& cells) const;
  Cells decode(std::string_view key, std::string_view row) const;

 private:
  pb::TableDefinition definition_;
  std::shared_ptr<const sql::TableCodec> codec_;
};

// All columns are bigints: the first `distribution` are hashed, the next `clustering` sort within.
struct TableShape {
  uint32_t id = 0;
  pb::TableKind kind = pb::MANAGED;
  pb::RowRule rule = pb::PUT;
  int distribution = 1;
  int clustering = 0;
  int values = 1;
  std::vector<uint32_t> sources = {};
  uint32_t view = 0;
};
pb::TableDefinition define(const TableShape& shape);

// A catalog that grows by versions.
class TestCatalog {
 public:
  void create(pb::TableDefinition definition);  // A new version.
  void create_together(std::vector<pb::TableDefinition> definitions);
  void begin(uint32_t view);
  void pace(uint32_t view, std::optional<uint64_t> rows_per_second);
  void drop(uint32_t table);
  std::shared_ptr<const pb::Catalog> get() const { return std::make_shared<pb::Catalog>(catalog_); }
  uint64_t version() const { return catalog_.version(); }

 private:
  pb::TableDefinition& at(uint32_t id);
  pb::Catalog catalog_;
};

}  // namespace tidemark
