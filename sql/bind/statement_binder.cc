#include "sql/bind/statement_binder.h"

#include "sql/parse/lexer.h"
#include "sql/parse/parser.h"
#include "sql/types/text_scan.h"

namespace tidemark::sql {
namespace statement_detail {

Result<TableSchemaPtr, SqlError> find_table(const ast::TableName& name, const Binding& binding) {
  TableSchemaPtr table = binding.catalog.find_table(name.schema, name.name);
  if (table != nullptr) return table;
  const std::string shown = name.schema.empty() ? name.name : name.schema + "." + name.name;
  return SqlError{
      sqlstate::kUndefinedTable, "relation \"" + shown + "\" does not exist", name.location + 1, {}, {}};
}

Result<TableSchemaPtr, SqlError> find_writable(const ast::TableName& name, const Binding& binding) {
  TM_SQL_ASSIGN(TableSchemaPtr table, find_table(name, binding));
  switch (table->kind) {
    case SchemaKind::Managed: return table;
    case SchemaKind::External:
      return SqlError{sqlstate::kWrongObjectType,
                      "table \"" + name.name + "\" is fed from Kafka",
                      name.location + 1,
                      {},
                      "Write to its topic."};
    case SchemaKind::View:
      return SqlError{sqlstate::kWrongObjectType,
                      "cannot change materialized view \"" + name.name + "\"",
                      name.location + 1,
                      {},
                      "Write to the tables it is made from."};
    case SchemaKind::Virtual:
      return SqlError{sqlstate::kWrongObjectType,
                      "cannot change system table \"" + name.name + "\"",
                      name.location + 1,
                      {},
                      {}};
  }
  TM_UNREACHABLE();
}

Scope scope_of(const TableSchema& table, const std::string& alias, int shift) {
  Scope out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    out.columns.push_back({alias, table.columns[i].name, table.columns[i].type, static_cast<int>(i) + shift,
                           false, table.columns[i].hidden});
  }
  return out;
}

Result<ExpressionPtr, SqlError> default_of(const SchemaColumn& column, const Binding& binding) {
  if (column.default_sql.empty()) return make_constant(Value::null(), column.type);
  TM_SQL_ASSIGN(const ast::ExprPtr parsed, parse_expression(column.default_sql));
  const Scope nothing;
  ExpressionBinder binder(binding.catalog, binding.params, nothing, Clause::Default, nullptr);
  TM_SQL_ASSIGN(ExpressionPtr value, binder.bind(*parsed));
  return binder.coercer().assign(std::move(value), column.type, column.name);
}

Result<std::vector<NamedColumn>, SqlError> parse_column_list(const ast::Option& option) {
  const SqlError invalid{sqlstate::kInvalidParameterValue,
                         option.name + " must be a list of columns",
                         option.location + 1,
                         {},
                         "Write " + option.name + " = 'column, ...'."};
  std::vector<NamedColumn> out;
  Lexer lexer(option.value);
  bool wants_name = true;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (token.kind == TokenKind::Comma) {
      if (wants_name) return invalid;
      wants_name = true;
      continue;
    }
    if (!wants_name) {
      if (equals_ignoring_case(token.text, "desc")) {
        out.back().descending = true;
      } else if (!equals_ignoring_case(token.text, "asc")) {
        return invalid;
      }
      continue;
    }
    if (token.kind != TokenKind::Word &&
        !(token.kind == TokenKind::Quoted && token.text.starts_with('"') && token.text.size() > 2)) {
      return invalid;
    }
    std::string name(token.text);
    if (token.kind == TokenKind::Quoted) {
      name = name.substr(1, name.size() - 2);
    } else {
      for (char& c : name) c = to_lower(c);
    }
    out.push_back({name, false});
    wants_name = false;
  }
  if (wants_name) return invalid;
  return out;
}

namespace {

Bound bind_select(const ast::Select& select, const Binding& binding) {
  if (std::optional<Bound> hold = bind_hold_writes(select)) return std::move(*hold);
  QueryBinder binder(binding.catalog, binding.params);
  TM_SQL_ASSIGN(RelationPtr query, binder.bind(select));
  return BoundStatement{SelectStatement{optimize(std::move(query))}};
}

Bound bind_explain(const ast::Explain& explain, const Binding& binding) {
  ExplainStatement out;
  for (const ast::Option& option : explain.options) {
    if (option.name == "analyze")
      out.analyze = option.value != "false" && option.value != "off" && option.value != "0";
    if (option.name == "format") {
      if (option.value != "text" && option.value != "json") {
        return SqlError{sqlstate::kInvalidParameterValue,
                        "unrecognized value for EXPLAIN option \"format\": \"" + option.value + "\"",
                        option.location + 1,
                        {},
                        "Write text or json."};
      }
      out.json = option.value == "json";
    }
  }
  TM_SQL_ASSIGN(BoundStatement inner,
                bind_statement(*explain.statement, binding.sql, binding.catalog, binding.params));
  out.statement = std::make_unique<BoundStatement>(std::move(inner));
  return BoundStatement{std::move(out)};
}

}  // namespace
}  // namespace statement_detail

Result<BoundStatement, SqlError> bind_statement(const ast::Statement& statement, std::string_view sql,
                                                const Catalog& catalog, ParamTypes& params) {
  using namespace statement_detail;
  const Binding binding{catalog, params, sql};
  struct Visitor {
    const Binding& binding;
    Bound operator()(const ast::SelectPtr& s) const { return bind_select(*s, binding); }
    Bound operator()(const ast::CreateTable& s) const { return bind_create_table(s, binding); }
    Bound operator()(const ast::CreateView& s) const { return bind_create_view(s, binding); }
    Bound operator()(const ast::AlterView& s) const { return bind_alter_view(s, binding); }
    Bound operator()(const ast::Drop& s) const { return bind_drop(s, binding); }
    Bound operator()(const ast::Insert& s) const { return bind_insert(s, binding); }
    Bound operator()(const ast::Update& s) const { return bind_update(s, binding); }
    Bound operator()(const ast::Delete& s) const { return bind_delete(s, binding); }
    Bound operator()(const ast::Copy& s) const { return bind_copy(s, binding); }
    Bound operator()(const ast::Explain& s) const { return bind_explain(s, binding); }
    Bound operator()(const ast::Show& s) const { return BoundStatement{s}; }
    Bound operator()(const ast::Set& s) const { return BoundStatement{s}; }
    Bound operator()(const ast::Transaction& s) const { return BoundStatement{s}; }
    Bound operator()(const ast::Deallocate& s) const { return BoundStatement{s}; }
    Bound operator()(const ast::DiscardAll& s) const { return BoundStatement{s}; }
  };
  return std::visit(Visitor{binding}, statement.body);
}

}  // namespace tidemark::sql
