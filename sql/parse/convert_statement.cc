#include "sql/parse/convert.h"

namespace tidemark::sql::convert {
namespace {

using StatementResult = Result<ast::Statement, SqlError>;

std::string text_of(const PgQuery__Node* node) {
  if (node == nullptr) return "";
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_STRING: return node->string->sval;
    case PG_QUERY__NODE__NODE_INTEGER: return std::to_string(node->integer->ival);
    case PG_QUERY__NODE__NODE_FLOAT: return node->float_->fval;
    case PG_QUERY__NODE__NODE_BOOLEAN: return node->boolean->boolval ? "true" : "false";
    case PG_QUERY__NODE__NODE_TYPE_NAME:
      return node->type_name->n_names > 0 ? name_of(node->type_name->names[node->type_name->n_names - 1])
                                          : "";
    case PG_QUERY__NODE__NODE_A_CONST: {
      const auto parsed = expression(node, 0);
      if (!parsed.ok()) return "";
      return (*parsed)->kind == ast::ExprKind::Boolean ? ((*parsed)->flag ? "true" : "false")
                                                       : (*parsed)->text;
    }
    default: return "";
  }
}

std::vector<ast::Option> options_of(PgQuery__Node** nodes, size_t count) {
  std::vector<ast::Option> out;
  for (size_t i = 0; i < count; ++i) {
    if (nodes[i]->node_case != PG_QUERY__NODE__NODE_DEF_ELEM) continue;
    const PgQuery__DefElem& option = *nodes[i]->def_elem;
    out.push_back({option.defname, text_of(option.arg), option.location});
  }
  return out;
}

SqlStatus take_column_constraint(const PgQuery__Constraint& source, ast::CreateTable& table,
                                 ast::ColumnDefinition& column) {
  switch (source.contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NULL: return {};
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL: column.not_null = true; return {};
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
      if (!table.primary_key.empty()) {
        return SqlError{sqlstate::kInvalidTableDefinition,
                        "multiple primary keys are not allowed",
                        source.location + 1,
                        {},
                        {}};
      }
      table.primary_key = {column.name};
      return {};
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT: {
      TM_SQL_ASSIGN(column.default_value, expression(source.raw_expr, 0));
      return {};
    }
    case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
      return unsupported("UNIQUE", source.location, "The primary key is what is unique.");
    case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
      return unsupported("CHECK", source.location,
                         "Find the rows by a materialized view with WHERE NOT (...).");
    case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
      return unsupported("a foreign key", source.location,
                         "Find the rows without a partner by a materialized view with a LEFT JOIN.");
    case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
      return unsupported("a generated column", source.location, "Compute it in a materialized view.");
    default: return unsupported("this constraint", source.location);
  }
}

SqlStatus take_column(const PgQuery__ColumnDef& source, ast::CreateTable& table) {
  ast::ColumnDefinition column;
  column.name = source.colname;
  column.location = source.location;
  TM_SQL_ASSIGN(column.type, type_name(source.type_name));
  if (source.coll_clause != nullptr) {
    const std::string name = name_of(source.coll_clause->collname[source.coll_clause->n_collname - 1]);
    if (name != "C" && name != "POSIX" && name != "default") {
      return unsupported("collation \"" + name + "\"", source.coll_clause->location,
                         "Text is ordered by collation \"C\".");
    }
  }
  for (size_t i = 0; i < source.n_constraints; ++i) {
    TM_TRY(take_column_constraint(*source.constraints[i]->constraint, table, column));
  }
  table.columns.push_back(std::move(column));
  return {};
}

SqlStatus take_table_constraint(const PgQuery__Constraint& source, ast::CreateTable& table) {
  if (source.contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY) {
    if (!table.primary_key.empty()) {
      return SqlError{sqlstate::kInvalidTableDefinition,
                      "multiple primary keys are not allowed",
                      source.location + 1,
                      {},
                      {}};
    }
    table.primary_key = names_of(source.keys, source.n_keys);
    return {};
  }
  ast::ColumnDefinition none;
  return take_column_constraint(source, table, none);
}

StatementResult create_table(const PgQuery__CreateStmt& source) {
  ast::CreateTable out;
  out.table = table_name(source.relation);
  const int location = source.relation->location;
  if (source.relation->relpersistence != nullptr && source.relation->relpersistence[0] != 'p') {
    return unsupported("a temporary or unlogged table", location);
  }
  if (source.n_inh_relations > 0 || source.partspec != nullptr || source.partbound != nullptr) {
    return unsupported("inheritance and partitions", location, "Rows are distributed by the primary key.");
  }
  if (source.of_typename != nullptr) return unsupported("a table of a type", location);
  out.if_not_exists = source.if_not_exists;
  out.options = options_of(source.options, source.n_options);
  for (size_t i = 0; i < source.n_table_elts; ++i) {
    const PgQuery__Node& element = *source.table_elts[i];
    if (element.node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) {
      TM_TRY(take_column(*element.column_def, out));
    } else if (element.node_case == PG_QUERY__NODE__NODE_CONSTRAINT) {
      TM_TRY(take_table_constraint(*element.constraint, out));
    } else {
      return unsupported("LIKE in CREATE TABLE", location, "Name the columns.");
    }
  }
  return ast::Statement{std::move(out)};
}

StatementResult create_view(const PgQuery__CreateTableAsStmt& source) {
  const int location = source.into->rel->location;
  if (source.objtype != PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW) {
    return unsupported("CREATE TABLE AS", location,
                       "Write CREATE MATERIALIZED VIEW ... AS, or CREATE TABLE and INSERT.");
  }
  if (source.into->skip_data)
    return unsupported("WITH NO DATA", location, "A view is filled in the background.");
  ast::CreateView out;
  out.view = table_name(source.into->rel);
  out.column_names = names_of(source.into->col_names, source.into->n_col_names);
  out.options = options_of(source.into->options, source.into->n_options);
  out.if_not_exists = source.if_not_exists;
  if (source.query->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) return unsupported("this query", location);
  TM_SQL_ASSIGN(out.query, select(source.query->select_stmt, 0));
  return ast::Statement{std::move(out)};
}

StatementResult alter(const PgQuery__AlterTableStmt& source) {
  const char* hint = "Write ALTER MATERIALIZED VIEW ... SET (option = value), or RESET (option).";
  const int location = source.relation->location;
  if (source.objtype != PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW) {
    return unsupported(
        "ALTER TABLE", -1,
        "Create a table as it should be, and write INSERT INTO ... SELECT ... FROM the old one.");
  }
  if (source.n_cmds != 1) return unsupported("this ALTER MATERIALIZED VIEW", location, hint);
  const PgQuery__AlterTableCmd& command = *source.cmds[0]->alter_table_cmd;
  const bool sets = command.subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions;
  const bool resets = command.subtype == PG_QUERY__ALTER_TABLE_TYPE__AT_ResetRelOptions;
  if (!sets && !resets) return unsupported("this ALTER MATERIALIZED VIEW", location, hint);
  ast::AlterView out;
  out.view = table_name(source.relation);
  out.reset = resets;
  out.if_exists = source.missing_ok;
  out.options = options_of(command.def->list->items, command.def->list->n_items);
  return ast::Statement{std::move(out)};
}

StatementResult drop(const PgQuery__DropStmt& source) {
  ast::Drop out;
  switch (source.remove_type) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE: break;
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW: out.materialized_view = true; break;
    default: return unsupported("DROP of this kind", -1, "Write DROP TABLE or DROP MATERIALIZED VIEW.");
  }
  out.if_exists = source.missing_ok;
  out.cascade = source.behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  for (size_t i = 0; i < source.n_objects; ++i) {
    const PgQuery__List& path = *source.objects[i]->list;
    const std::vector<std::string> names = names_of(path.items, path.n_items);
    out.tables.push_back({names.size() > 1 ? names[names.size() - 2] : "", names.back(), -1});
  }
  return ast::Statement{std::move(out)};
}

Result<std::vector<ast::Assignment>, SqlError> assignments(PgQuery__Node** nodes, size_t count) {
  std::vector<ast::Assignment> out;
  for (size_t i = 0; i < count; ++i) {
    const PgQuery__ResTarget& source = *nodes[i]->res_target;
    if (source.n_indirection > 0) return unsupported("assigning to a part of a column", source.location);
    if (source.val->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) {
      return unsupported("SET (column, ...) = ...", source.location, "Write SET column = value, ...");
    }
    ast::Assignment assignment{source.name, nullptr, source.location};
    TM_SQL_ASSIGN(assignment.value, expression(source.val, 0));
    out.push_back(std::move(assignment));
  }
  return out;
}

std::string alias_of(const PgQuery__RangeVar& table) {
  return table.alias != nullptr ? table.alias->aliasname : "";
}

SqlStatus take_conflict(const PgQuery__OnConflictClause& source, ast::Insert& out) {
  if (source.infer != nullptr) {
    if (source.infer->conname != nullptr && *source.infer->conname != '\0') {
      return unsupported("ON CONFLICT ON CONSTRAINT", source.infer->location,
                         "Name the primary key's columns.");
    }
    if (source.infer->where_clause != nullptr) return unsupported("a partial index", source.infer->location);
    for (size_t i = 0; i < source.infer->n_index_elems; ++i) {
      out.conflict_columns.push_back(source.infer->index_elems[i]->index_elem->name);
    }
  }
  if (source.action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_NOTHING) {
    out.on_conflict = ast::ConflictAction::Nothing;
    return {};
  }
  out.on_conflict = ast::ConflictAction::Update;
  TM_SQL_ASSIGN(out.conflict_set, assignments(source.target_list, source.n_target_list));
  if (source.where_clause != nullptr) {
    TM_SQL_ASSIGN(out.conflict_where, expression(source.where_clause, 0));
  }
  return {};
}

StatementResult insert(const PgQuery__InsertStmt& source) {
  ast::Insert out;
  if (source.with_clause != nullptr) return unsupported("WITH before INSERT", source.with_clause->location);
  out.table = table_name(source.relation);
  out.alias = alias_of(*source.relation);
  for (size_t i = 0; i < source.n_cols; ++i) {
    const PgQuery__ResTarget& column = *source.cols[i]->res_target;
    if (column.n_indirection > 0) return unsupported("inserting into a part of a column", column.location);
    out.columns.push_back(column.name);
    out.column_locations.push_back(column.location);
  }
  if (source.select_stmt != nullptr) {
    TM_SQL_ASSIGN(out.source, select(source.select_stmt->select_stmt, 0));
  }
  if (source.on_conflict_clause != nullptr) TM_TRY(take_conflict(*source.on_conflict_clause, out));
  TM_SQL_ASSIGN(out.returning, targets(source.returning_list, source.n_returning_list, 0));
  return ast::Statement{std::move(out)};
}

StatementResult update(const PgQuery__UpdateStmt& source) {
  ast::Update out;
  if (source.with_clause != nullptr) return unsupported("WITH before UPDATE", source.with_clause->location);
  if (source.n_from_clause > 0) return unsupported("UPDATE ... FROM", source.relation->location);
  out.table = table_name(source.relation);
  out.alias = alias_of(*source.relation);
  TM_SQL_ASSIGN(out.set, assignments(source.target_list, source.n_target_list));
  if (source.where_clause != nullptr) {
    TM_SQL_ASSIGN(out.where, expression(source.where_clause, 0));
  }
  TM_SQL_ASSIGN(out.returning, targets(source.returning_list, source.n_returning_list, 0));
  return ast::Statement{std::move(out)};
}

StatementResult delete_rows(const PgQuery__DeleteStmt& source) {
  ast::Delete out;
  if (source.with_clause != nullptr) return unsupported("WITH before DELETE", source.with_clause->location);
  if (source.n_using_clause > 0) return unsupported("DELETE ... USING", source.relation->location);
  out.table = table_name(source.relation);
  out.alias = alias_of(*source.relation);
  if (source.where_clause != nullptr) {
    TM_SQL_ASSIGN(out.where, expression(source.where_clause, 0));
  }
  TM_SQL_ASSIGN(out.returning, targets(source.returning_list, source.n_returning_list, 0));
  return ast::Statement{std::move(out)};
}

StatementResult copy(const PgQuery__CopyStmt& source) {
  if (!source.is_from || source.relation == nullptr) {
    return unsupported("COPY ... TO", -1, "Write SELECT.");
  }
  if (source.is_program || (source.filename != nullptr && *source.filename != '\0')) {
    return unsupported("COPY from a file of the server", source.relation->location,
                       "Write COPY ... FROM STDIN.");
  }
  if (source.where_clause != nullptr) return unsupported("COPY ... WHERE", source.relation->location);
  return ast::Statement{ast::Copy{table_name(source.relation), names_of(source.attlist, source.n_attlist),
                                  options_of(source.options, source.n_options)}};
}

StatementResult explain(const PgQuery__ExplainStmt& source) {
  ast::Explain out;
  out.options = options_of(source.options, source.n_options);
  TM_SQL_ASSIGN(ast::Statement inner, statement(source.query));
  out.statement = std::make_unique<ast::Statement>(std::move(inner));
  return ast::Statement{std::move(out)};
}

StatementResult set_variable(const PgQuery__VariableSetStmt& source) {
  ast::Set out;
  out.name = source.name != nullptr ? source.name : "";
  out.local = source.is_local;
  switch (source.kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
      for (size_t i = 0; i < source.n_args; ++i) out.values.push_back(text_of(source.args[i]));
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET: out.kind = ast::SetKind::Default; break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL: out.kind = ast::SetKind::ResetAll; break;
    // SET TRANSACTION and SET SESSION CHARACTERISTICS: the options as name=value.
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI:
      for (const ast::Option& option : options_of(source.args, source.n_args)) {
        out.values.push_back(option.name + "=" + option.value);
      }
      break;
    default: return unsupported("SET ... FROM CURRENT", -1);
  }
  return ast::Statement{std::move(out)};
}

StatementResult transaction(const PgQuery__TransactionStmt& source) {
  ast::Transaction out;
  switch (source.kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START: out.kind = ast::TransactionKind::Begin; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT: out.kind = ast::TransactionKind::Commit; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
      out.kind = ast::TransactionKind::Rollback;
      break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
      return unsupported("SAVEPOINT", -1, "Write several transactions.");
    default: return unsupported("a prepared transaction", -1);
  }
  if (source.chain) return unsupported("AND CHAIN", -1);
  for (const ast::Option& option : options_of(source.options, source.n_options)) {
    if (option.name == "transaction_read_only") out.read_only = option.value == "1";
  }
  return ast::Statement{out};
}

}  // namespace

StatementResult statement(const PgQuery__Node* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT: {
      TM_SQL_ASSIGN(ast::SelectPtr query, select(node->select_stmt, 0));
      return ast::Statement{std::move(query)};
    }
    case PG_QUERY__NODE__NODE_CREATE_STMT: return create_table(*node->create_stmt);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT: return create_view(*node->create_table_as_stmt);
    case PG_QUERY__NODE__NODE_DROP_STMT: return drop(*node->drop_stmt);
    case PG_QUERY__NODE__NODE_INSERT_STMT: return insert(*node->insert_stmt);
    case PG_QUERY__NODE__NODE_UPDATE_STMT: return update(*node->update_stmt);
    case PG_QUERY__NODE__NODE_DELETE_STMT: return delete_rows(*node->delete_stmt);
    case PG_QUERY__NODE__NODE_COPY_STMT: return copy(*node->copy_stmt);
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: return explain(*node->explain_stmt);
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
      return ast::Statement{ast::Show{node->variable_show_stmt->name}};
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT: return set_variable(*node->variable_set_stmt);
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT: return transaction(*node->transaction_stmt);
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
      return ast::Statement{
          ast::Deallocate{node->deallocate_stmt->name != nullptr ? node->deallocate_stmt->name : ""}};
    case PG_QUERY__NODE__NODE_DISCARD_STMT: return ast::Statement{ast::DiscardAll{}};
    case PG_QUERY__NODE__NODE_VIEW_STMT:
      return unsupported("CREATE VIEW", -1, "Write CREATE MATERIALIZED VIEW: it is always up to date.");
    case PG_QUERY__NODE__NODE_REFRESH_MAT_VIEW_STMT:
      return unsupported("REFRESH MATERIALIZED VIEW", -1, "Views are always up to date.");
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
      return unsupported("TRUNCATE", -1, "Delete rows by key, or drop the table.");
    case PG_QUERY__NODE__NODE_INDEX_STMT:
      return unsupported("CREATE INDEX", -1,
                         "Write CREATE MATERIALIZED VIEW ... WITH (distribute_by = 'column').");
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT: return alter(*node->alter_table_stmt);
    default: return unsupported("this statement", -1);
  }
}

}  // namespace tidemark::sql::convert
