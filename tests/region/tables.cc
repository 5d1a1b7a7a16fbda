#include "tests/region/tables.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

TestTable::TestTable(pb::TableDefinition definition) : definition_(std::move(definition)) {
  Result<sql::TableCodec> codec = sql::TableCodec::make(definition_);
  TM_ASSERT(codec.ok(), codec.ok() ? "" : codec.error().message);
  codec_ = std::make_shared<const sql::TableCodec>(std::move(*codec));
}

sql::EncodedRow TestTable::encode(const Cells& cells) const {
  std::vector<sql::Value> values;
  for (const Cell& cell : cells) values.push_back(cell ? sql::Value::bigint(*cell) : sql::Value::null());
  sql::EncodedRow out;
  codec_->encode(values, out);
  return out;
}

Cells TestTable::decode(std::string_view key, std::string_view row) const {
  sql::Arena arena;
  std::vector<sql::Value> values;
  TM_ASSERT(codec_->decode(key, row, arena, values).ok());
  Cells out;
  for (const sql::Value& value : values) out.push_back(value.is_null() ? Cell() : Cell(value.as_int()));
  return out;
}

pb::TableDefinition define(const TableShape& shape) {
  pb::TableDefinition out;
  out.set_id(shape.id);
  out.set_name("t" + std::to_string(shape.id));
  out.set_kind(shape.kind);
  out.set_row_rule(shape.rule);
  int keys = shape.distribution + shape.clustering;
  for (int i = 0; i < keys + shape.values; ++i) {
    pb::Column& column = *out.add_columns();
    column.set_name("c" + std::to_string(i));
    column.set_type("bigint");
    if (i < shape.distribution) {
      out.add_distribution(static_cast<uint32_t>(i));
    } else if (i < keys) {
      out.add_clustering(static_cast<uint32_t>(i));
      out.add_clustering_descending(false);
    }
  }
  for (uint32_t source : shape.sources) out.add_sources(source);
  out.set_view(shape.view);
  return out;
}

void TestCatalog::create(pb::TableDefinition definition) {
  create_together({std::move(definition)});
}

void TestCatalog::create_together(std::vector<pb::TableDefinition> definitions) {
  catalog_.set_version(catalog_.version() + 1);
  for (pb::TableDefinition& definition : definitions) {
    definition.set_created(catalog_.version());
    *catalog_.add_tables() = std::move(definition);
  }
}

void TestCatalog::begin(uint32_t view) {
  catalog_.set_version(catalog_.version() + 1);
  at(view).set_begun(catalog_.version());
}

void TestCatalog::pace(uint32_t view, std::optional<uint64_t> rows_per_second) {
  catalog_.set_version(catalog_.version() + 1);
  at(view).set_paced(catalog_.version());
  at(view).clear_backfill_rows_per_second();
  if (rows_per_second) at(view).set_backfill_rows_per_second(*rows_per_second);
}

void TestCatalog::drop(uint32_t table) {
  catalog_.set_version(catalog_.version() + 1);
  at(table).set_dropped(catalog_.version());
}

pb::TableDefinition& TestCatalog::at(uint32_t id) {
  auto it = std::find_if(catalog_.mutable_tables()->begin(), catalog_.mutable_tables()->end(),
                         [id](const pb::TableDefinition& table) { return table.id() == id; });
  TM_ASSERT(it != catalog_.mutable_tables()->end(), id);
  return *it;
}

}  // namespace tidemark
