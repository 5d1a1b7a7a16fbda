#include "sql/system/system_tables.h"

#include "base/assert.h"
#include "sql/system/table_list.h"

namespace tidemark::sql {
namespace system_detail {
namespace {

struct ColumnKind {
  std::string_view name;
  TypeKind kind;
  Rows::Cell if_not_said;
};

// The types of PostgreSQL's catalog, by those that Tidemark has: oid is bigint, name and "char" are text.
const ColumnKind& column_kind(std::string_view name) {
  static const ColumnKind kKinds[] = {
      {"oid", TypeKind::BigInt, int64_t{0}},
      {"name", TypeKind::Text, std::string()},
      {"char", TypeKind::Text, std::string()},
      {"bool", TypeKind::Boolean, false},
      {"int2", TypeKind::SmallInt, int64_t{0}},
      {"int4", TypeKind::Integer, int64_t{0}},
      {"int8", TypeKind::BigInt, int64_t{0}},
      {"float8", TypeKind::Double, 0.0},
      {"num", TypeKind::Integer, {}},
      {"count", TypeKind::BigInt, {}},
      {"rate", TypeKind::Double, {}},
      {"text", TypeKind::Text, {}},
      {"timestamptz", TypeKind::TimestampTz, {}},
  };
  for (const ColumnKind& kind : kKinds) {
    if (kind.name == name) return kind;
  }
  TM_UNREACHABLE();
}

OwnedValue value_of(const Rows::Cell& cell, TypeKind kind) {
  struct Visitor {
    TypeKind kind;
    Value operator()(std::monostate) const { return Value::null(); }
    Value operator()(bool value) const {
      TM_ASSERT(kind == TypeKind::Boolean);
      return Value::boolean(value);
    }
    Value operator()(int64_t value) const {
      if (kind == TypeKind::Double) return Value::float8(static_cast<double>(value));
      TM_ASSERT(is_integer(kind));
      return Value::of_int(kind, value);
    }
    Value operator()(double value) const {
      TM_ASSERT(kind == TypeKind::Double);
      return Value::float8(value);
    }
    Value operator()(const std::string& value) const {
      TM_ASSERT(kind == TypeKind::Text);
      return Value::text(value);
    }
  };
  return OwnedValue(std::visit(Visitor{kind}, cell));
}

// Takes "name type" off the front of a list of columns.
std::pair<std::string_view, std::string_view> take_column(std::string_view& columns) {
  const size_t end = columns.find(", ");
  const std::string_view column = columns.substr(0, end);
  columns.remove_prefix(end == std::string_view::npos ? columns.size() : end + 2);
  const size_t space = column.find(' ');
  TM_ASSERT(space != std::string_view::npos);
  return {column.substr(0, space), column.substr(space + 1)};
}

}  // namespace

void Rows::add(std::initializer_list<Named> cells) {
  std::vector<OwnedValue> row = defaults_;
  for (const Named& cell : cells) {
    const int column = table_.find_column(cell.name);
    TM_ASSERT(column >= 0);
    row[column] = value_of(cell.cell, table_.columns[column].type.kind);
  }
  rows_.push_back(std::move(row));
}

}  // namespace system_detail

namespace {

// Ids of the cluster's tables start at 1 and do not come near.
constexpr uint32_t kFirstId = 0xf0000000;

}  // namespace

const SystemTables& SystemTables::builtin() {
  static const SystemTables tables;
  return tables;
}

SystemTables::SystemTables() {
  for (const system_detail::SystemTable& table : system_detail::table_list()) {
    auto schema = std::make_shared<TableSchema>();
    schema->id = TableId{kFirstId + static_cast<uint32_t>(entries_.size())};
    schema->schema = table.schema;
    schema->name = table.name;
    schema->kind = SchemaKind::Virtual;
    Entry& entry = entries_.emplace_back();
    for (std::string_view rest = table.columns; !rest.empty();) {
      const auto [name, type] = system_detail::take_column(rest);
      const system_detail::ColumnKind& kind = system_detail::column_kind(type);
      schema->columns.push_back({std::string(name), SqlType::of(kind.kind)});
      entry.defaults.push_back(system_detail::value_of(kind.if_not_said, kind.kind));
    }
    by_name_[schema->schema + "." + schema->name] = entries_.size() - 1;
    entry.schema = std::move(schema);
  }
}

TableSchemaPtr SystemTables::find(std::string_view schema, std::string_view name) const {
  const auto found =
      by_name_.find(std::string(schema.empty() ? "pg_catalog" : schema) + "." + std::string(name));
  return found == by_name_.end() ? nullptr : entries_[found->second].schema;
}

std::vector<std::vector<OwnedValue>> SystemTables::rows(TableId table, const SystemState& state) const {
  const size_t index = table.value - kFirstId;
  TM_ASSERT(index < entries_.size());
  const auto make = system_detail::table_list()[index].rows;
  if (make == nullptr) return {};
  system_detail::Rows out(*entries_[index].schema, entries_[index].defaults);
  make(system_detail::known_of(state), out);
  return out.take();
}

}  // namespace tidemark::sql
