// CREATE TABLE, CREATE and ALTER MATERIALIZED VIEW, DROP.
#include <algorithm>
#include <charconv>
#include <set>

#include "sql/bind/statement_binder.h"
#include "sql/types/row_encoding.h"

namespace tidemark::sql::statement_detail {
namespace {

SqlError undefined_column(const std::string& name, int location) {
  return {sqlstate::kUndefinedColumn, "column \"" + name + "\" does not exist", location + 1, {}, {}};
}

constexpr const char* kBackfillRate = "backfill_rows_per_second";

SqlError unknown_option(const ast::Option& option, std::string known) {
  return {sqlstate::kInvalidParameterValue,
          "unrecognized parameter \"" + option.name + "\"",
          option.location + 1,
          {},
          std::move(known)};
}

Result<RowsPerSecond, SqlError> parse_backfill_rate(const ast::Option& option) {
  RowsPerSecond out;
  const char* end = option.value.data() + option.value.size();
  const auto parsed = std::from_chars(option.value.data(), end, out.value);
  if (parsed.ec == std::errc() && parsed.ptr == end && out <= kRowsPerSecondMax) return out;
  return SqlError{sqlstate::kInvalidParameterValue,
                  "invalid value for parameter \"" + option.name + "\": \"" + option.value + "\"",
                  option.location + 1,
                  {},
                  "A number of rows up to " + std::to_string(kRowsPerSecondMax.value) + "; 0 pauses."};
}

SqlStatus check_kind(const SqlType& type, int location) {
  if (type.kind != TypeKind::Interval && type.kind != TypeKind::Unknown && type.kind != TypeKind::Null)
    return {};
  return SqlError{sqlstate::kFeatureNotSupported,
                  "a column of type " + type_name(type) + " is not supported",
                  location + 1,
                  {},
                  "Store seconds as numeric."};
}

SqlStatus add_column(const ast::ColumnDefinition& source, const Binding& binding, TableSchema& table) {
  if (table.find_column(source.name) >= 0) {
    return SqlError{sqlstate::kDuplicateColumn,
                    "column \"" + source.name + "\" specified more than once",
                    source.location + 1,
                    {},
                    {}};
  }
  SchemaColumn column;
  column.name = source.name;
  column.not_null = source.not_null;
  TM_SQL_ASSIGN(column.type, resolve_type(source.type));
  TM_TRY(check_kind(column.type, source.type.location));
  if (source.default_value != nullptr) {
    const Scope nothing;
    ExpressionBinder binder(binding.catalog, binding.params, nothing, Clause::Default, nullptr);
    TM_SQL_ASSIGN(ExpressionPtr value, binder.bind(*source.default_value));
    TM_SQL_ASSIGN(value, binder.coercer().assign(std::move(value), column.type, column.name));
    column.default_sql = describe(*value, {});
  }
  table.columns.push_back(std::move(column));
  return {};
}

// The primary key's columns that are hashed, and those that sort within, from the options.
SqlStatus set_key(const ast::CreateTable& source, TableSchema& table) {
  std::vector<int> key;
  for (const std::string& name : source.primary_key) {
    const int column = table.find_column(name);
    if (column < 0) return undefined_column(name, source.table.location);
    if (std::find(key.begin(), key.end(), column) != key.end()) {
      return SqlError{sqlstate::kDuplicateColumn,
                      "column \"" + name + "\" appears twice in primary key constraint",
                      source.table.location + 1,
                      {},
                      {}};
    }
    table.columns[column].not_null = true;
    key.push_back(column);
  }
  std::vector<NamedColumn> distribute_by{{source.primary_key[0], false}}, cluster_by;
  for (const ast::Option& option : source.options) {
    if (option.name == "distribute_by") {
      TM_SQL_ASSIGN(distribute_by, parse_column_list(option));
    } else if (option.name == "cluster_by") {
      TM_SQL_ASSIGN(cluster_by, parse_column_list(option));
    } else {
      return unknown_option(option, "Known are distribute_by and cluster_by.");
    }
  }
  const auto take = [&](const NamedColumn& named, int& out) -> SqlStatus {
    out = table.find_column(named.name);
    const auto found = std::find(key.begin(), key.end(), out);
    if (found == key.end()) {
      return SqlError{sqlstate::kInvalidTableDefinition,
                      "column \"" + named.name + "\" is not in the primary key, or named twice",
                      source.table.location + 1,
                      {},
                      "distribute_by and cluster_by are of the primary key's columns."};
    }
    key.erase(found);
    return {};
  };
  for (const NamedColumn& named : distribute_by) TM_TRY(take(named, table.distribution.emplace_back()));
  for (const NamedColumn& named : cluster_by) {
    int column = 0;
    TM_TRY(take(named, column));
    table.clustering.push_back({column, named.descending ? SortOrder::Descending : SortOrder::Ascending});
  }
  for (int column : key) table.clustering.push_back({column, SortOrder::Ascending});
  return {};
}

void collect_sources(const Relation& relation, std::vector<TableSchemaPtr>& out) {
  if (relation.kind == RelationKind::Scan && std::find(out.begin(), out.end(), relation.table) == out.end()) {
    out.push_back(relation.table);
  }
  for (const RelationPtr& input : relation.inputs) collect_sources(*input, out);
}

SqlStatus check_view_columns(const Relation& query, int location) {
  std::set<std::string> names;
  for (const RelationColumn& column : query.columns) {
    if (!names.insert(column.name).second) {
      return SqlError{sqlstate::kDuplicateColumn,
                      "column \"" + column.name + "\" specified more than once",
                      location + 1,
                      {},
                      "Give it a name with AS."};
    }
    TM_TRY(check_kind(column.type, location));
  }
  return {};
}

}  // namespace

Bound bind_create_table(const ast::CreateTable& source, const Binding& binding) {
  CreateTableStatement out;
  out.if_not_exists = source.if_not_exists;
  out.table.schema = source.table.schema.empty() ? "public" : source.table.schema;
  out.table.name = source.table.name;
  if (!out.if_not_exists && binding.catalog.find_table(out.table.schema, out.table.name) != nullptr) {
    return SqlError{sqlstate::kDuplicateTable,
                    "relation \"" + source.table.name + "\" already exists",
                    source.table.location + 1,
                    {},
                    {}};
  }
  if (source.columns.size() > kRowColumnsMax) {
    return SqlError{
        sqlstate::kTooManyColumns, "tables can have at most 1600 columns", source.table.location + 1, {}, {}};
  }
  for (const ast::ColumnDefinition& column : source.columns) TM_TRY(add_column(column, binding, out.table));
  if (source.primary_key.empty()) {
    return SqlError{
        sqlstate::kInvalidTableDefinition,
        "table \"" + source.table.name + "\" has no primary key",
        source.table.location + 1,
        {},
        "Rows are found, distributed and changed by their primary key: write PRIMARY KEY (column, ...)."};
  }
  TM_TRY(set_key(source, out.table));
  return BoundStatement{std::move(out)};
}

Bound bind_create_view(const ast::CreateView& source, const Binding& binding) {
  CreateViewStatement out;
  out.schema = source.view.schema.empty() ? "public" : source.view.schema;
  out.name = source.view.name;
  out.if_not_exists = source.if_not_exists;
  out.or_replace = source.or_replace;
  const bool exists = binding.catalog.find_table(out.schema, out.name) != nullptr;
  if (exists && !out.if_not_exists && !out.or_replace) {
    return SqlError{sqlstate::kDuplicateTable,
                    "relation \"" + out.name + "\" already exists",
                    source.view.location + 1,
                    {},
                    {}};
  }
  QueryBinder binder(binding.catalog, binding.params);
  TM_SQL_ASSIGN(out.query, binder.bind(*source.query));
  if (!binding.params.types.empty()) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "materialized views may not be defined using bound parameters",
                    source.view.location + 1,
                    {},
                    {}};
  }
  if (source.column_names.size() > out.query->columns.size()) {
    return SqlError{
        sqlstate::kSyntaxError, "too many column names were specified", source.view.location + 1, {}, {}};
  }
  for (size_t i = 0; i < source.column_names.size(); ++i) out.query->columns[i].name = source.column_names[i];
  TM_TRY(check_view_columns(*out.query, source.view.location));
  if (volatility_of(*out.query) != Volatility::Immutable) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "functions of time, chance or the session are not supported in materialized views",
                    source.view.location + 1,
                    {},
                    "Keep the time in a column, and compare with now() when reading the view."};
  }
  for (const ast::Option& option : source.options) {
    if (option.name == kBackfillRate) {
      TM_SQL_ASSIGN(out.backfill_rows_per_second, parse_backfill_rate(option));
      continue;
    }
    if (option.name != "distribute_by" && option.name != "cluster_by") {
      return unknown_option(option,
                            "Known are distribute_by, cluster_by and " + std::string(kBackfillRate) + ".");
    }
    TM_SQL_ASSIGN(const std::vector<NamedColumn> names, parse_column_list(option));
    for (const NamedColumn& named : names) {
      const auto found = std::find_if(out.query->columns.begin(), out.query->columns.end(),
                                      [&](const RelationColumn& c) { return c.name == named.name; });
      if (found == out.query->columns.end()) return undefined_column(named.name, option.location);
      const auto column = static_cast<int>(found - out.query->columns.begin());
      if (option.name == "distribute_by") {
        out.distribute_by.push_back(column);
      } else {
        out.cluster_by.push_back({column, named.descending ? SortOrder::Descending : SortOrder::Ascending});
      }
    }
  }
  simplify_expressions(*out.query);
  collect_sources(*out.query, out.sources);
  out.query_sql = std::string(binding.sql.substr(source.query_begin, source.query_end - source.query_begin));
  return BoundStatement{std::move(out)};
}

Bound bind_alter_view(const ast::AlterView& source, const Binding& binding) {
  AlterViewStatement out;
  out.name = source.view.name;
  for (const ast::Option& option : source.options) {
    if (option.name != kBackfillRate)
      return unknown_option(option, "Known is " + std::string(kBackfillRate) + ".");
    if (source.reset) continue;
    TM_SQL_ASSIGN(out.backfill_rows_per_second, parse_backfill_rate(option));
  }
  out.view = binding.catalog.find_table(source.view.schema, source.view.name);
  if (out.view == nullptr && source.if_exists) return BoundStatement{std::move(out)};
  TM_SQL_ASSIGN(out.view, find_table(source.view, binding));
  if (out.view->kind != SchemaKind::View) {
    return SqlError{sqlstate::kWrongObjectType,
                    "\"" + source.view.name + "\" is not a materialized view",
                    source.view.location + 1,
                    {},
                    {}};
  }
  return BoundStatement{std::move(out)};
}

Bound bind_drop(const ast::Drop& source, const Binding& binding) {
  DropStatement out;
  out.cascade = source.cascade;
  for (const ast::TableName& name : source.tables) {
    TableSchemaPtr table = binding.catalog.find_table(name.schema, name.name);
    if (table == nullptr) {
      if (source.if_exists) continue;
      const std::string what = source.materialized_view ? "materialized view" : "table";
      return SqlError{sqlstate::kUndefinedTable, what + " \"" + name.name + "\" does not exist", 0, {}, {}};
    }
    const bool is_view = table->kind == SchemaKind::View;
    if (table->kind == SchemaKind::Virtual || is_view != source.materialized_view) {
      return SqlError{
          sqlstate::kWrongObjectType,
          "\"" + name.name + "\" is not a " + (source.materialized_view ? "materialized view" : "table"),
          0,
          {},
          is_view ? "Use DROP MATERIALIZED VIEW to remove a materialized view." : ""};
    }
    out.tables.push_back(std::move(table));
  }
  return BoundStatement{std::move(out)};
}

}  // namespace tidemark::sql::statement_detail
