#include "sql/parse/convert.h"

namespace tidemark::sql::convert {
namespace {

using FromResult = Result<ast::FromPtr, SqlError>;

void take_alias(const PgQuery__Alias* alias, ast::From& out) {
  if (alias == nullptr) return;
  out.alias = alias->aliasname;
  out.column_aliases = names_of(alias->colnames, alias->n_colnames);
}

FromResult from_item(const PgQuery__Node* node, int depth);
FromResult from_function(const PgQuery__RangeFunction& source, int depth);

FromResult from_join(const PgQuery__JoinExpr& join, int depth) {
  auto out = std::make_unique<ast::From>();
  out->kind = ast::FromKind::Join;
  if (join.is_natural) return unsupported("NATURAL JOIN", -1, "Write JOIN ... USING (column, ...).");
  if (join.alias != nullptr || join.join_using_alias != nullptr) return unsupported("an alias of a join", -1);
  switch (join.jointype) {
    case PG_QUERY__JOIN_TYPE__JOIN_INNER: out->join = ast::JoinKind::Inner; break;
    case PG_QUERY__JOIN_TYPE__JOIN_LEFT: out->join = ast::JoinKind::Left; break;
    case PG_QUERY__JOIN_TYPE__JOIN_RIGHT: out->join = ast::JoinKind::Right; break;
    default: return unsupported("FULL JOIN", -1, "Write a LEFT JOIN and UNION ALL the rows without a match.");
  }
  TM_SQL_ASSIGN(out->left, from_item(join.larg, depth));
  TM_SQL_ASSIGN(out->right, from_item(join.rarg, depth));
  out->using_columns = names_of(join.using_clause, join.n_using_clause);
  if (join.quals != nullptr) {
    TM_SQL_ASSIGN(out->on, expression(join.quals, depth));
  } else if (out->using_columns.empty()) {
    out->join = ast::JoinKind::Cross;
  }
  return out;
}

FromResult from_item(const PgQuery__Node* node, int depth) {
  if (++depth > kDepthMax)
    return SqlError{sqlstate::kStatementTooComplex, "statement is nested too deeply", 0, {}, {}};
  auto out = std::make_unique<ast::From>();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      out->table = table_name(node->range_var);
      out->location = node->range_var->location;
      take_alias(node->range_var->alias, *out);
      return out;
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: {
      const PgQuery__RangeSubselect& subselect = *node->range_subselect;
      out->kind = ast::FromKind::Subquery;
      take_alias(subselect.alias, *out);
      if (subselect.lateral) return unsupported("LATERAL", -1);
      TM_SQL_ASSIGN(out->subquery, select(subselect.subquery->select_stmt, depth));
      return out;
    }
    case PG_QUERY__NODE__NODE_JOIN_EXPR: return from_join(*node->join_expr, depth);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION: return from_function(*node->range_function, depth);
    default: return unsupported("this item in FROM", -1);
  }
}

// A function in FROM: one, without WITH ORDINALITY.
FromResult from_function(const PgQuery__RangeFunction& source, int depth) {
  auto out = std::make_unique<ast::From>();
  out->kind = ast::FromKind::Function;
  take_alias(source.alias, *out);
  if (source.ordinality) return unsupported("WITH ORDINALITY", -1);
  if (source.is_rowsfrom || source.n_functions != 1 || source.n_coldeflist > 0) {
    return unsupported("ROWS FROM", -1);
  }
  const PgQuery__List& parts = *source.functions[0]->list;
  TM_SQL_ASSIGN(out->function, expression(parts.items[0], depth));
  out->location = out->function->location;
  if (out->function->kind != ast::ExprKind::Function) return unsupported("this item in FROM", out->location);
  return out;
}

SqlStatus take_with(const PgQuery__WithClause& with, int depth, ast::Select& out) {
  if (with.recursive) return unsupported("WITH RECURSIVE", with.location);
  for (size_t i = 0; i < with.n_ctes; ++i) {
    const PgQuery__CommonTableExpr& source = *with.ctes[i]->common_table_expr;
    if (source.ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
      return unsupported("a statement that writes in WITH", source.location);
    }
    ast::CommonTable table{source.ctename, names_of(source.aliascolnames, source.n_aliascolnames), nullptr,
                           source.location};
    TM_SQL_ASSIGN(table.query, select(source.ctequery->select_stmt, depth));
    out.with.push_back(std::move(table));
  }
  return {};
}

SqlStatus take_set_operation(const PgQuery__SelectStmt& source, int depth, ast::Select& out) {
  switch (source.op) {
    case PG_QUERY__SET_OPERATION__SETOP_UNION:
      out.set_operation = source.all ? ast::SetOperation::UnionAll : ast::SetOperation::Union;
      break;
    case PG_QUERY__SET_OPERATION__SETOP_INTERSECT: return unsupported("INTERSECT", -1, "Write a join.");
    case PG_QUERY__SET_OPERATION__SETOP_EXCEPT:
      return unsupported("EXCEPT", -1, "Write a LEFT JOIN and keep the rows without a match.");
    default: return {};
  }
  TM_SQL_ASSIGN(out.left, select(source.larg, depth));
  TM_SQL_ASSIGN(out.right, select(source.rarg, depth));
  return {};
}

SqlStatus take_distinct(const PgQuery__SelectStmt& source, int depth, ast::Select& out) {
  if (source.n_distinct_clause == 0) return {};
  const bool is_plain =
      source.n_distinct_clause == 1 && source.distinct_clause[0]->node_case == PG_QUERY__NODE__NODE__NOT_SET;
  if (is_plain) {
    out.distinct = true;
    return {};
  }
  TM_SQL_ASSIGN(out.distinct_on, expressions(source.distinct_clause, source.n_distinct_clause, depth));
  return {};
}

SqlStatus take_values(const PgQuery__SelectStmt& source, int depth, ast::Select& out) {
  for (size_t i = 0; i < source.n_values_lists; ++i) {
    const PgQuery__List& row = *source.values_lists[i]->list;
    TM_SQL_ASSIGN(std::vector<ast::ExprPtr> values, expressions(row.items, row.n_items, depth));
    out.values.push_back(std::move(values));
  }
  return {};
}

SqlStatus take_limit(const PgQuery__SelectStmt& source, int depth, ast::Select& out) {
  if (source.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES) {
    return unsupported("FETCH ... WITH TIES", -1, "Write LIMIT.");
  }
  if (source.limit_count != nullptr) {
    TM_SQL_ASSIGN(out.limit, expression(source.limit_count, depth));
  }
  if (source.limit_offset != nullptr) {
    TM_SQL_ASSIGN(out.offset, expression(source.limit_offset, depth));
  }
  return {};
}

}  // namespace

ast::TableName table_name(const PgQuery__RangeVar* table) {
  return {table->schemaname != nullptr ? table->schemaname : "", table->relname, table->location};
}

Result<std::vector<ast::OrderBy>, SqlError> order_by(PgQuery__Node** nodes, size_t count, int depth) {
  std::vector<ast::OrderBy> out;
  for (size_t i = 0; i < count; ++i) {
    const PgQuery__SortBy& source = *nodes[i]->sort_by;
    ast::OrderBy item;
    if (source.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) {
      return unsupported("ORDER BY ... USING", source.location, "Write ASC or DESC.");
    }
    item.descending = source.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
    item.nulls_first = source.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
                       (source.sortby_nulls != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST && item.descending);
    TM_SQL_ASSIGN(item.expr, expression(source.node, depth));
    out.push_back(std::move(item));
  }
  return out;
}

Result<std::vector<ast::Target>, SqlError> targets(PgQuery__Node** nodes, size_t count, int depth) {
  std::vector<ast::Target> out;
  for (size_t i = 0; i < count; ++i) {
    const PgQuery__ResTarget& source = *nodes[i]->res_target;
    ast::Target target;
    target.alias = source.name != nullptr ? source.name : "";
    target.location = source.location;
    TM_SQL_ASSIGN(target.expr, expression(source.val, depth));
    out.push_back(std::move(target));
  }
  return out;
}

Result<ast::SelectPtr, SqlError> select(const PgQuery__SelectStmt* source, int depth) {
  depth += kSelectDepth;
  if (depth > kDepthMax)
    return SqlError{sqlstate::kStatementTooComplex, "statement is nested too deeply", 0, {}, {}};
  if (source == nullptr) return unsupported("this query", -1);
  if (source->into_clause != nullptr) {
    return unsupported("SELECT INTO", -1, "Write CREATE MATERIALIZED VIEW ... AS SELECT.");
  }
  if (source->n_locking_clause > 0) {
    return unsupported("FOR UPDATE", -1,
                       "Leave it out: UPDATE writes a row only as it was read, or tries again.");
  }
  if (source->n_window_clause > 0)
    return unsupported("a WINDOW clause", -1, "Write the window in OVER (...).");
  auto out = std::make_unique<ast::Select>();
  if (source->with_clause != nullptr) TM_TRY(take_with(*source->with_clause, depth, *out));
  TM_TRY(take_set_operation(*source, depth, *out));
  TM_TRY(take_distinct(*source, depth, *out));
  TM_TRY(take_values(*source, depth, *out));
  TM_SQL_ASSIGN(out->targets, targets(source->target_list, source->n_target_list, depth));
  for (size_t i = 0; i < source->n_from_clause; ++i) {
    TM_SQL_ASSIGN(ast::FromPtr item, from_item(source->from_clause[i], depth));
    out->from.push_back(std::move(item));
  }
  if (source->where_clause != nullptr) {
    TM_SQL_ASSIGN(out->where, expression(source->where_clause, depth));
  }
  TM_SQL_ASSIGN(out->group_by, expressions(source->group_clause, source->n_group_clause, depth));
  if (source->having_clause != nullptr) {
    TM_SQL_ASSIGN(out->having, expression(source->having_clause, depth));
  }
  TM_SQL_ASSIGN(out->order_by, order_by(source->sort_clause, source->n_sort_clause, depth));
  TM_TRY(take_limit(*source, depth, *out));
  return out;
}

}  // namespace tidemark::sql::convert
