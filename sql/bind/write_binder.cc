// INSERT, UPDATE, DELETE and COPY.
#include <algorithm>

#include "sql/bind/simplify.h"
#include "sql/bind/statement_binder.h"

namespace tidemark::sql::statement_detail {
namespace {

Result<int, SqlError> find_column(const TableSchema& table, const std::string& name, int location) {
  const int column = table.find_column(name);
  if (column >= 0) return column;
  return SqlError{sqlstate::kUndefinedColumn,
                  "column \"" + name + "\" of relation \"" + table.name + "\" does not exist",
                  location + 1,
                  {},
                  {}};
}

// The columns that a statement names, or all that are the user's.
Result<std::vector<int>, SqlError> target_columns(const TableSchema& table,
                                                  const std::vector<std::string>& names,
                                                  const std::vector<int>& locations) {
  std::vector<int> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const int location = i < locations.size() ? locations[i] : -1;
    TM_SQL_ASSIGN(const int column, find_column(table, names[i], location));
    if (std::find(out.begin(), out.end(), column) != out.end()) {
      return SqlError{sqlstate::kDuplicateColumn,
                      "column \"" + names[i] + "\" specified more than once",
                      location + 1,
                      {},
                      {}};
    }
    out.push_back(column);
  }
  if (!names.empty()) return out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].hidden) out.push_back(static_cast<int>(i));
  }
  return out;
}

SqlError wrong_count(bool more) {
  return {sqlstate::kSyntaxError,
          more ? "INSERT has more expressions than target columns"
               : "INSERT has more target columns than expressions",
          0,
          {},
          {}};
}

// A full row from values for some columns: the others are their default.
Result<std::vector<ExpressionPtr>, SqlError> complete_row(const TableSchema& table,
                                                          const std::vector<int>& columns,
                                                          std::vector<ExpressionPtr> values,
                                                          const Binding& binding) {
  std::vector<ExpressionPtr> out(table.columns.size());
  Coercer coercer(binding.params);
  for (size_t i = 0; i < values.size(); ++i) {
    const SchemaColumn& column = table.columns[columns[i]];
    if (values[i] == nullptr) continue;
    TM_SQL_ASSIGN(out[columns[i]], coercer.assign(std::move(values[i]), column.type, column.name));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] != nullptr) continue;
    TM_SQL_ASSIGN(out[i], default_of(table.columns[i], binding));
  }
  return out;
}

void name_columns(const TableSchema& table, Relation& relation) {
  relation.columns.clear();
  for (const SchemaColumn& column : table.columns) relation.columns.push_back({column.name, column.type});
}

bool is_plain_values(const ast::Select& select) {
  return !select.values.empty() && select.order_by.empty() && select.limit == nullptr &&
         select.offset == nullptr;
}

Result<RelationPtr, SqlError> bind_values_source(const ast::Insert& insert, const TableSchema& table,
                                                 const std::vector<int>& columns, const Binding& binding) {
  auto out = make_relation(RelationKind::Values, nullptr);
  const Scope nothing;
  for (const std::vector<ast::ExprPtr>& row : insert.source->values) {
    if (row.size() > columns.size()) return wrong_count(true);
    if (row.size() < columns.size() && !insert.columns.empty()) return wrong_count(false);
    ExpressionBinder binder(binding.catalog, binding.params, nothing, Clause::Values, nullptr);
    std::vector<ExpressionPtr> values;
    for (const ast::ExprPtr& cell : row) {
      if (cell->kind == ast::ExprKind::Default) {
        values.push_back(nullptr);
        continue;
      }
      TM_SQL_ASSIGN(ExpressionPtr value, binder.bind(*cell));
      values.push_back(std::move(value));
    }
    TM_SQL_ASSIGN(std::vector<ExpressionPtr> full, complete_row(table, columns, std::move(values), binding));
    out->rows.push_back(std::move(full));
  }
  name_columns(table, *out);
  return out;
}

Result<RelationPtr, SqlError> bind_query_source(const ast::Insert& insert, const TableSchema& table,
                                                const std::vector<int>& columns, const Binding& binding) {
  QueryBinder binder(binding.catalog, binding.params);
  TM_SQL_ASSIGN(RelationPtr query, binder.bind(*insert.source, UnknownLiterals::Keep));
  if (query->columns.size() > columns.size()) return wrong_count(true);
  if (query->columns.size() < columns.size() && !insert.columns.empty()) return wrong_count(false);
  std::vector<ExpressionPtr> values;
  for (size_t i = 0; i < query->columns.size(); ++i) {
    const bool is_literal =
        query->kind == RelationKind::Project && query->columns[i].type.kind == TypeKind::Unknown;
    values.push_back(is_literal ? clone(*query->expressions[i])
                                : make_column(static_cast<int>(i), query->columns[i].type));
  }
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> full, complete_row(table, columns, std::move(values), binding));
  auto out = make_relation(RelationKind::Project, std::move(query));
  out->expressions = std::move(full);
  name_columns(table, *out);
  return optimize(std::move(out));
}

Result<ReturningClause, SqlError> bind_returning(const std::vector<ast::Target>& targets, const Scope& scope,
                                                 const Binding& binding) {
  ReturningClause out;
  ExpressionBinder binder(binding.catalog, binding.params, scope, Clause::Select, nullptr);
  for (const ast::Target& target : targets) {
    if (target.expr->kind == ast::ExprKind::Column && target.expr->flag) {
      for (const ScopeColumn& column : scope.columns) {
        if (column.hidden) continue;
        out.expressions.push_back(make_column(column.index, column.type));
        out.columns.push_back({column.name, column.type});
      }
      continue;
    }
    TM_SQL_ASSIGN(ExpressionPtr value, binder.bind(*target.expr));
    TM_SQL_ASSIGN(value, binder.coercer().settle(std::move(value)));
    const bool is_column = target.expr->kind == ast::ExprKind::Column;
    const std::string name = !target.alias.empty() ? target.alias
                             : is_column           ? target.expr->names.back()
                                                   : "?column?";
    out.columns.push_back({name, value->type});
    out.expressions.push_back(simplify(std::move(value)));
  }
  return out;
}

bool is_key_column(const TableSchema& table, int column) {
  const std::vector<int> key = table.key_columns();
  return std::find(key.begin(), key.end(), column) != key.end();
}

Result<std::vector<BoundAssignment>, SqlError> bind_set(const std::vector<ast::Assignment>& set,
                                                        const TableSchema& table, const Scope& scope,
                                                        const Binding& binding) {
  std::vector<BoundAssignment> out;
  for (const ast::Assignment& assignment : set) {
    TM_SQL_ASSIGN(const int column, find_column(table, assignment.column, assignment.location));
    const int position = assignment.location + 1;
    if (is_key_column(table, column)) {
      return SqlError{sqlstate::kFeatureNotSupported,
                      "changing the primary key column \"" + assignment.column + "\" is not supported",
                      position,
                      {},
                      "Delete the row, and insert it with the other key."};
    }
    for (const BoundAssignment& other : out) {
      if (other.column == column) {
        return SqlError{sqlstate::kSyntaxError,
                        "multiple assignments to same column \"" + assignment.column + "\"",
                        position,
                        {},
                        {}};
      }
    }
    ExpressionPtr value;
    if (assignment.value->kind == ast::ExprKind::Default) {
      TM_SQL_ASSIGN(value, default_of(table.columns[column], binding));
    } else {
      ExpressionBinder binder(binding.catalog, binding.params, scope, Clause::Set, nullptr);
      TM_SQL_ASSIGN(value, binder.bind(*assignment.value));
      TM_SQL_ASSIGN(value,
                    binder.coercer().assign(std::move(value), table.columns[column].type, assignment.column));
    }
    out.push_back({column, simplify(std::move(value))});
  }
  return out;
}

SqlStatus bind_conflict(const ast::Insert& source, const Binding& binding, InsertStatement& out) {
  const TableSchema& table = *out.table;
  std::vector<int> named;
  for (const std::string& name : source.conflict_columns) {
    TM_SQL_ASSIGN(const int column, find_column(table, name, source.table.location));
    named.push_back(column);
  }
  std::vector<int> key = table.key_columns();
  std::sort(named.begin(), named.end());
  std::sort(key.begin(), key.end());
  if (!named.empty() && named != key) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "there is no unique constraint matching the ON CONFLICT specification",
                    source.table.location + 1,
                    {},
                    "Name the primary key's columns."};
  }
  if (source.on_conflict == ast::ConflictAction::Update && named.empty()) {
    return SqlError{sqlstate::kSyntaxError,
                    "ON CONFLICT DO UPDATE requires the primary key's columns",
                    source.table.location + 1,
                    {},
                    {}};
  }
  const std::string& alias = source.alias.empty() ? source.table.name : source.alias;
  Scope scope = scope_of(table, alias);
  // The columns of the row that was to be inserted are found as excluded.column only.
  for (ScopeColumn& column : scope_of(table, "excluded", static_cast<int>(table.columns.size())).columns) {
    column.merged = true;
    scope.columns.push_back(std::move(column));
  }
  TM_SQL_ASSIGN(out.conflict_set, bind_set(source.conflict_set, table, scope, binding));
  if (source.conflict_where != nullptr) {
    ExpressionBinder binder(binding.catalog, binding.params, scope, Clause::Where, nullptr);
    TM_SQL_ASSIGN(out.conflict_where, binder.bind_boolean(*source.conflict_where, "WHERE"));
  }
  return {};
}

// The key's values from WHERE: what makes it one row.
struct KeyCondition {
  std::vector<ExpressionPtr> key;
  ExpressionPtr condition;
};

Result<KeyCondition, SqlError> bind_key(const ast::Expr* where, const TableSchema& table, const Scope& scope,
                                        std::string_view verb, const ast::TableName& name,
                                        const Binding& binding) {
  std::string columns;
  for (int column : table.key_columns())
    columns += (columns.empty() ? "" : " AND ") + table.columns[column].name + " = ...";
  const SqlError not_by_key{sqlstate::kFeatureNotSupported,
                            std::string(verb) + " without the whole primary key is not supported",
                            name.location + 1,
                            {},
                            "Write WHERE " + columns + ", row by row."};
  if (where == nullptr) return not_by_key;
  KeyCondition out;
  ExpressionBinder binder(binding.catalog, binding.params, scope, Clause::Where, nullptr);
  TM_SQL_ASSIGN(out.condition, binder.bind_boolean(*where, "WHERE"));
  // The optimizer finds keys for reads; the same rule finds them here.
  auto scan = make_relation(RelationKind::Scan, nullptr);
  scan->table = std::make_shared<TableSchema>(table);
  name_columns(table, *scan);
  auto filter = make_relation(RelationKind::Filter, std::move(scan));
  filter->condition = clone(*out.condition);
  RelationPtr optimized = optimize(std::move(filter));
  Relation* found = optimized.get();
  while (found->kind != RelationKind::Scan) found = found->inputs[0].get();
  if (found->key_prefix.size() != table.key_columns().size()) return not_by_key;
  out.key = std::move(found->key_prefix);
  return out;
}

Result<char, SqlError> one_character(const ast::Option& option) {
  if (option.value.size() == 1) return option.value[0];
  return SqlError{sqlstate::kInvalidParameterValue,
                  "COPY " + option.name + " must be a single one-byte character",
                  option.location + 1,
                  {},
                  {}};
}

}  // namespace

Bound bind_insert(const ast::Insert& source, const Binding& binding) {
  InsertStatement out;
  TM_SQL_ASSIGN(out.table, find_writable(source.table, binding));
  TM_SQL_ASSIGN(const std::vector<int> columns,
                target_columns(*out.table, source.columns, source.column_locations));
  if (source.source == nullptr) {
    out.source = make_relation(RelationKind::Values, nullptr);
    TM_SQL_ASSIGN(std::vector<ExpressionPtr> row, complete_row(*out.table, columns, {}, binding));
    out.source->rows.push_back(std::move(row));
    name_columns(*out.table, *out.source);
  } else if (is_plain_values(*source.source)) {
    TM_SQL_ASSIGN(out.source, bind_values_source(source, *out.table, columns, binding));
  } else {
    TM_SQL_ASSIGN(out.source, bind_query_source(source, *out.table, columns, binding));
  }
  out.on_conflict = source.on_conflict;
  if (out.on_conflict != ast::ConflictAction::Error) TM_TRY(bind_conflict(source, binding, out));
  const Scope scope = scope_of(*out.table, source.alias.empty() ? source.table.name : source.alias);
  TM_SQL_ASSIGN(out.returning, bind_returning(source.returning, scope, binding));
  return BoundStatement{std::move(out)};
}

Bound bind_update(const ast::Update& source, const Binding& binding) {
  UpdateStatement out;
  TM_SQL_ASSIGN(out.table, find_writable(source.table, binding));
  const Scope scope = scope_of(*out.table, source.alias.empty() ? source.table.name : source.alias);
  TM_SQL_ASSIGN(out.set, bind_set(source.set, *out.table, scope, binding));
  TM_SQL_ASSIGN(KeyCondition where,
                bind_key(source.where.get(), *out.table, scope, "UPDATE", source.table, binding));
  out.key = std::move(where.key);
  out.condition = std::move(where.condition);
  TM_SQL_ASSIGN(out.returning, bind_returning(source.returning, scope, binding));
  return BoundStatement{std::move(out)};
}

Bound bind_delete(const ast::Delete& source, const Binding& binding) {
  DeleteStatement out;
  TM_SQL_ASSIGN(out.table, find_writable(source.table, binding));
  const Scope scope = scope_of(*out.table, source.alias.empty() ? source.table.name : source.alias);
  TM_SQL_ASSIGN(KeyCondition where,
                bind_key(source.where.get(), *out.table, scope, "DELETE", source.table, binding));
  out.key = std::move(where.key);
  out.condition = std::move(where.condition);
  TM_SQL_ASSIGN(out.returning, bind_returning(source.returning, scope, binding));
  return BoundStatement{std::move(out)};
}

Bound bind_copy(const ast::Copy& source, const Binding& binding) {
  CopyStatement out;
  TM_SQL_ASSIGN(out.table, find_writable(source.table, binding));
  TM_SQL_ASSIGN(out.columns, target_columns(*out.table, source.columns, {}));
  for (const ast::Option& option : source.options) {
    if (option.name != "format") continue;
    if (option.value != "csv" && option.value != "text") {
      return SqlError{sqlstate::kFeatureNotSupported,
                      "COPY format \"" + option.value + "\" is not supported",
                      option.location + 1,
                      {},
                      "Write csv or text."};
    }
    if (option.value == "csv") out.options = {CopyFormat::Csv, ',', '"', '"', "", false};
  }
  bool has_escape = false;
  for (const ast::Option& option : source.options) {
    const bool is_csv = out.options.format == CopyFormat::Csv;
    if (option.name == "format") continue;
    if (option.name == "header") {
      out.options.header =
          option.value.empty() || option.value == "true" || option.value == "on" || option.value == "1";
    } else if (option.name == "delimiter") {
      TM_SQL_ASSIGN(out.options.delimiter, one_character(option));
    } else if (option.name == "null") {
      out.options.null_text = option.value;
    } else if (option.name == "quote" && is_csv) {
      TM_SQL_ASSIGN(out.options.quote, one_character(option));
    } else if (option.name == "escape" && is_csv) {
      TM_SQL_ASSIGN(out.options.escape, one_character(option));
      has_escape = true;
    } else if (option.name != "encoding" && option.name != "freeze") {
      return SqlError{sqlstate::kFeatureNotSupported,
                      "COPY option \"" + option.name + "\" is not supported",
                      option.location + 1,
                      {},
                      {}};
    }
  }
  if (!has_escape) out.options.escape = out.options.quote;
  return BoundStatement{std::move(out)};
}

}  // namespace tidemark::sql::statement_detail
