// Internal to statement binding.
#pragma once

#include "sql/bind/query_binder.h"
#include "sql/bind/statement.h"

namespace tidemark::sql::statement_detail {

struct Binding {
  const Catalog& catalog;
  ParamTypes& params;
  std::string_view sql;
};

using Bound = Result<BoundStatement, SqlError>;

Bound bind_create_table(const ast::CreateTable& statement, const Binding& binding);
Bound bind_create_view(const ast::CreateView& statement, const Binding& binding);
Bound bind_alter_view(const ast::AlterView& statement, const Binding& binding);
Bound bind_drop(const ast::Drop& statement, const Binding& binding);
Bound bind_insert(const ast::Insert& statement, const Binding& binding);
Bound bind_update(const ast::Update& statement, const Binding& binding);
Bound bind_delete(const ast::Delete& statement, const Binding& binding);
Bound bind_copy(const ast::Copy& statement, const Binding& binding);
// None: the query is an ordinary one.
std::optional<Bound> bind_hold_writes(const ast::Select& select);

Result<TableSchemaPtr, SqlError> find_table(const ast::TableName& name, const Binding& binding);
// One that statements may write.
Result<TableSchemaPtr, SqlError> find_writable(const ast::TableName& name, const Binding& binding);
Scope scope_of(const TableSchema& table, const std::string& alias, int shift = 0);
// What a column is if nothing is said.
Result<ExpressionPtr, SqlError> default_of(const SchemaColumn& column, const Binding& binding);

// "a, b desc": names with an optional direction.
struct NamedColumn {
  std::string name;
  bool descending = false;
};
Result<std::vector<NamedColumn>, SqlError> parse_column_list(const ast::Option& option);

}  // namespace tidemark::sql::statement_detail
