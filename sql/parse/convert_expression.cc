#include "sql/parse/convert.h"

namespace tidemark::sql::convert {
namespace {

using ast::Expr;
using ast::ExprKind;
using ast::ExprPtr;
using ExprResult = Result<ExprPtr, SqlError>;

ExprPtr make(ExprKind kind, int location) {
  auto out = std::make_unique<Expr>();
  out->kind = kind;
  out->location = location;
  return out;
}

ExprPtr literal(const PgQuery__AConst& constant) {
  if (constant.isnull) return make(ExprKind::Null, constant.location);
  ExprPtr out = make(ExprKind::Null, constant.location);
  switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      out->kind = ExprKind::Integer;
      out->text = std::to_string(constant.ival->ival);
      break;
    case PG_QUERY__A__CONST__VAL_FVAL: {
      out->text = constant.fval->fval;
      const bool is_integer = out->text.find_first_of(".eE") == std::string::npos;
      out->kind = is_integer ? ExprKind::Integer : ExprKind::Decimal;
      break;
    }
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      out->kind = ExprKind::Boolean;
      out->flag = constant.boolval->boolval;
      break;
    case PG_QUERY__A__CONST__VAL_SVAL:
      out->kind = ExprKind::String;
      out->text = constant.sval->sval;
      break;
    default: break;
  }
  return out;
}

ExprPtr column(const PgQuery__ColumnRef& reference) {
  ExprPtr out = make(ExprKind::Column, reference.location);
  for (size_t i = 0; i < reference.n_fields; ++i) {
    if (reference.fields[i]->node_case == PG_QUERY__NODE__NODE_A_STAR) {
      out->flag = true;
    } else {
      out->names.push_back(name_of(reference.fields[i]));
    }
  }
  return out;
}

// The arguments of a list node, or the node itself.
Result<std::vector<ExprPtr>, SqlError> list_items(const PgQuery__Node* node, int depth) {
  if (node != nullptr && node->node_case == PG_QUERY__NODE__NODE_LIST) {
    return expressions(node->list->items, node->list->n_items, depth);
  }
  std::vector<ExprPtr> out;
  TM_SQL_ASSIGN(ExprPtr item, expression(node, depth));
  out.push_back(std::move(item));
  return out;
}

ExprResult with_operands(ExprPtr out, const PgQuery__AExpr& source, int depth) {
  if (source.lexpr != nullptr) {
    TM_SQL_ASSIGN(ExprPtr left, expression(source.lexpr, depth));
    out->args.push_back(std::move(left));
  }
  TM_SQL_ASSIGN(std::vector<ExprPtr> right, list_items(source.rexpr, depth));
  for (ExprPtr& item : right) out->args.push_back(std::move(item));
  return out;
}

// LIKE with an ESCAPE comes as a call of like_escape.
void unfold_escape(Expr& like) {
  Expr& pattern = *like.args[1];
  if (pattern.kind != ExprKind::Function || pattern.names.back() != "like_escape") return;
  std::vector<ExprPtr> parts = std::move(pattern.args);
  like.args[1] = std::move(parts[0]);
  like.args.push_back(std::move(parts[1]));
}

ExprResult any_of_array(const PgQuery__AExpr& source, int depth) {
  const bool is_all = source.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL;
  const std::string op = name_of(source.name[source.n_name - 1]);
  if (is_all ? op != "<>" : op != "=") {
    return unsupported(op + (is_all ? " ALL" : " ANY") + " of an array", source.location,
                       "= ANY and <> ALL are supported.");
  }
  ExprPtr out = make(ExprKind::In, source.location);
  out->flag = is_all;
  if (source.rexpr->node_case != PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
    out->kind = ExprKind::AnyArray;
    out->text = op;
    return with_operands(std::move(out), source, depth);
  }
  TM_SQL_ASSIGN(ExprPtr left, expression(source.lexpr, depth));
  out->args.push_back(std::move(left));
  TM_SQL_ASSIGN(std::vector<ExprPtr> items, expressions(source.rexpr->a_array_expr->elements,
                                                        source.rexpr->a_array_expr->n_elements, depth));
  if (items.empty()) return unsupported("an empty array", source.location);
  for (ExprPtr& item : items) out->args.push_back(std::move(item));
  return out;
}

ExprResult operation(const PgQuery__AExpr& source, int depth) {
  const std::string op = source.n_name > 0 ? name_of(source.name[source.n_name - 1]) : "";
  ExprPtr out = make(ExprKind::Operator, source.location);
  out->text = op;
  switch (source.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP: break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL: return any_of_array(source, depth);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT: out->flag = true; [[fallthrough]];
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT: out->kind = ExprKind::Distinct; break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF: out->kind = ExprKind::NullIf; break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
      out->kind = ExprKind::In;
      out->flag = op == "<>";
      break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE: {
      out->kind = ExprKind::Like;
      TM_SQL_ASSIGN(out, with_operands(std::move(out), source, depth));
      unfold_escape(*out);
      return out;
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
      out->kind = ExprKind::Between;
      out->flag = source.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN ||
                  source.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
      out->number = source.kind == PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM ||
                            source.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM
                        ? 1
                        : 0;
      break;
    default: return unsupported("SIMILAR TO", source.location, "Write LIKE.");
  }
  return with_operands(std::move(out), source, depth);
}

ExprResult case_expression(const PgQuery__CaseExpr& source, int depth) {
  ExprPtr out = make(ExprKind::Case, source.location);
  if (source.arg != nullptr) {
    out->flag = true;
    TM_SQL_ASSIGN(ExprPtr operand, expression(source.arg, depth));
    out->args.push_back(std::move(operand));
  }
  for (size_t i = 0; i < source.n_args; ++i) {
    const PgQuery__CaseWhen& when = *source.args[i]->case_when;
    TM_SQL_ASSIGN(ExprPtr condition, expression(when.expr, depth));
    out->args.push_back(std::move(condition));
    TM_SQL_ASSIGN(ExprPtr result, expression(when.result, depth));
    out->args.push_back(std::move(result));
  }
  if (source.defresult != nullptr) {
    out->number = 1;
    TM_SQL_ASSIGN(ExprPtr otherwise, expression(source.defresult, depth));
    out->args.push_back(std::move(otherwise));
  }
  return out;
}

Result<ast::Window, SqlError> window(const PgQuery__WindowDef& source, int depth) {
  constexpr int kDefaultFrame = 1058;
  ast::Window out;
  if ((source.name != nullptr && *source.name != '\0') ||
      (source.refname != nullptr && *source.refname != '\0')) {
    return unsupported("a named window", source.location, "Write the window in OVER (...).");
  }
  if (source.frame_options != kDefaultFrame) return unsupported("a window frame", source.location);
  TM_SQL_ASSIGN(out.partition_by, expressions(source.partition_clause, source.n_partition_clause, depth));
  TM_SQL_ASSIGN(out.order_by, order_by(source.order_clause, source.n_order_clause, depth));
  return out;
}

ExprResult function(const PgQuery__FuncCall& source, int depth) {
  ExprPtr out = make(ExprKind::Function, source.location);
  out->names = names_of(source.funcname, source.n_funcname);
  if (source.n_agg_order > 0) return unsupported("ORDER BY in an aggregate", source.location);
  if (source.agg_within_group) return unsupported("WITHIN GROUP", source.location);
  if (source.func_variadic) return unsupported("VARIADIC", source.location);
  TM_SQL_ASSIGN(out->args, expressions(source.args, source.n_args, depth));
  out->call = std::make_unique<ast::Call>();
  out->call->star = source.agg_star;
  out->call->distinct = source.agg_distinct;
  if (source.agg_filter != nullptr) {
    TM_SQL_ASSIGN(out->call->filter, expression(source.agg_filter, depth));
  }
  if (source.over != nullptr) {
    TM_SQL_ASSIGN(out->call->over, window(*source.over, depth));
  }
  return out;
}

ExprResult value_function(const PgQuery__SQLValueFunction& source) {
  ExprPtr out = make(ExprKind::Function, source.location);
  out->call = std::make_unique<ast::Call>();
  switch (source.op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE: out->names = {"current_date"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP: out->names = {"current_timestamp"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP: out->names = {"localtimestamp"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER: out->names = {"current_user"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER: out->names = {"session_user"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG: out->names = {"current_database"}; break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA: out->names = {"current_schema"}; break;
    default:
      return unsupported("this function of time", source.location,
                         "Write current_timestamp or current_date.");
  }
  return out;
}

ExprResult boolean_test(const PgQuery__BooleanTest& source, int depth) {
  ExprPtr out = make(ExprKind::IsTruth, source.location);
  switch (source.booltesttype) {
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE: out->flag = true; [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE: out->text = "true"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE: out->flag = true; [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE: out->text = "false"; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN: out->flag = true; [[fallthrough]];
    default: out->text = "unknown"; break;
  }
  TM_SQL_ASSIGN(ExprPtr arg, expression(source.arg, depth));
  out->args.push_back(std::move(arg));
  return out;
}

ExprResult with_args(ExprKind kind, int location, PgQuery__Node** args, size_t count, int depth) {
  ExprPtr out = make(kind, location);
  TM_SQL_ASSIGN(out->args, expressions(args, count, depth));
  return out;
}

ExprResult boolean(const PgQuery__BoolExpr& source, int depth) {
  const ExprKind kind = source.boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? ExprKind::And
                        : source.boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? ExprKind::Or
                                                                             : ExprKind::Not;
  return with_args(kind, source.location, source.args, source.n_args, depth);
}

ExprResult sub_link(const PgQuery__SubLink& source, int depth) {
  ExprPtr out = make(ExprKind::Subquery, source.location);
  switch (source.sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK: out->use = ast::SubqueryUse::Scalar; break;
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK: out->use = ast::SubqueryUse::Exists; break;
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK: out->use = ast::SubqueryUse::Array; break;
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK: out->use = ast::SubqueryUse::Any; break;
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK: out->use = ast::SubqueryUse::All; break;
    default: return unsupported("a subquery of several columns in an expression", source.location);
  }
  if (source.testexpr != nullptr) {
    // x IN (SELECT ...) comes without an operator.
    out->text = source.n_oper_name > 0 ? name_of(source.oper_name[source.n_oper_name - 1]) : "=";
    TM_SQL_ASSIGN(ExprPtr tested, expression(source.testexpr, depth));
    out->args.push_back(std::move(tested));
  }
  TM_SQL_ASSIGN(out->query, select(source.subselect->select_stmt, depth));
  return out;
}

// x[i], (x).field, and chains of them.
ExprResult indirection(const PgQuery__AIndirection& source, int depth) {
  TM_SQL_ASSIGN(ExprPtr out, expression(source.arg, depth));
  for (size_t i = 0; i < source.n_indirection; ++i) {
    const PgQuery__Node& step = *source.indirection[i];
    const int location = out->location;
    if (++depth > kDepthMax)
      return SqlError{sqlstate::kStatementTooComplex, "statement is nested too deeply", 0, {}, {}};
    ExprPtr next;
    if (step.node_case == PG_QUERY__NODE__NODE_A_INDICES && !step.a_indices->is_slice) {
      next = make(ExprKind::Subscript, location);
      next->args.push_back(std::move(out));
      TM_SQL_ASSIGN(ExprPtr index, expression(step.a_indices->uidx, depth));
      next->args.push_back(std::move(index));
    } else if (step.node_case == PG_QUERY__NODE__NODE_STRING) {
      next = make(ExprKind::Field, location);
      next->text = name_of(&step);
      next->args.push_back(std::move(out));
    } else {
      return unsupported("this way to take a part of a value", location);
    }
    out = std::move(next);
  }
  return out;
}

ExprResult null_test(const PgQuery__NullTest& source, int depth) {
  ExprPtr out = make(ExprKind::IsNull, source.location);
  out->flag = source.nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL;
  TM_SQL_ASSIGN(ExprPtr arg, expression(source.arg, depth));
  out->args.push_back(std::move(arg));
  return out;
}

ExprResult cast(const PgQuery__TypeCast& source, int depth) {
  ExprPtr out = make(ExprKind::Cast, source.location);
  TM_SQL_ASSIGN(ExprPtr arg, expression(source.arg, depth));
  if (out->location < 0) out->location = arg->location;
  out->args.push_back(std::move(arg));
  TM_SQL_ASSIGN(out->type, type_name(source.type_name));
  return out;
}

}  // namespace

SqlError unsupported(std::string_view what, int location, std::string_view hint) {
  return {sqlstate::kFeatureNotSupported,
          std::string(what) + " is not supported",
          location + 1,
          {},
          std::string(hint)};
}

std::string name_of(const PgQuery__Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_STRING ? node->string->sval : "";
}

std::vector<std::string> names_of(PgQuery__Node** nodes, size_t count) {
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) out.push_back(name_of(nodes[i]));
  return out;
}

Result<ast::TypeName, SqlError> type_name(const PgQuery__TypeName* type) {
  ast::TypeName out;
  out.location = type->location;
  out.name = type->n_names > 0 ? name_of(type->names[type->n_names - 1]) : "";
  out.is_array = type->n_array_bounds > 0;
  for (size_t i = 0; i < type->n_typmods; ++i) {
    const PgQuery__Node* modifier = type->typmods[i];
    if (modifier->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        modifier->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL) {
      return SqlError{
          sqlstate::kSyntaxError, "type modifiers must be simple constants", type->location + 1, {}, {}};
    }
    out.modifiers.push_back(modifier->a_const->ival->ival);
  }
  return out;
}

Result<std::vector<ExprPtr>, SqlError> expressions(PgQuery__Node** nodes, size_t count, int depth) {
  std::vector<ExprPtr> out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    TM_SQL_ASSIGN(ExprPtr item, expression(nodes[i], depth));
    out.push_back(std::move(item));
  }
  return out;
}

ExprResult expression(const PgQuery__Node* node, int depth) {
  if (++depth > kDepthMax)
    return SqlError{sqlstate::kStatementTooComplex, "statement is nested too deeply", 0, {}, {}};
  if (node == nullptr) return SqlError{sqlstate::kSyntaxError, "an expression is missing", 0, {}, {}};
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST: return literal(*node->a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF: return column(*node->column_ref);
    case PG_QUERY__NODE__NODE_PARAM_REF: {
      ExprPtr out = make(ExprKind::Param, node->param_ref->location);
      out->number = node->param_ref->number;
      return out;
    }
    case PG_QUERY__NODE__NODE_A_EXPR: return operation(*node->a_expr, depth);
    case PG_QUERY__NODE__NODE_BOOL_EXPR: return boolean(*node->bool_expr, depth);
    case PG_QUERY__NODE__NODE_NULL_TEST: return null_test(*node->null_test, depth);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST: return boolean_test(*node->boolean_test, depth);
    case PG_QUERY__NODE__NODE_CASE_EXPR: return case_expression(*node->case_expr, depth);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return with_args(ExprKind::Coalesce, node->coalesce_expr->location, node->coalesce_expr->args,
                       node->coalesce_expr->n_args, depth);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return with_args(
          node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_LEAST ? ExprKind::Least : ExprKind::Greatest,
          node->min_max_expr->location, node->min_max_expr->args, node->min_max_expr->n_args, depth);
    case PG_QUERY__NODE__NODE_TYPE_CAST: return cast(*node->type_cast, depth);
    case PG_QUERY__NODE__NODE_FUNC_CALL: return function(*node->func_call, depth);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION: return value_function(*node->sqlvalue_function);
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT: return make(ExprKind::Default, node->set_to_default->location);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE: {
      const PgQuery__CollateClause& collate = *node->collate_clause;
      const std::string name = name_of(collate.collname[collate.n_collname - 1]);
      if (name == "C" || name == "POSIX" || name == "default") return expression(collate.arg, depth);
      return unsupported("collation \"" + name + "\"", collate.location,
                         "Text is ordered by collation \"C\".");
    }
    case PG_QUERY__NODE__NODE_SUB_LINK: return sub_link(*node->sub_link, depth);
    case PG_QUERY__NODE__NODE_A_INDIRECTION: return indirection(*node->a_indirection, depth);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return with_args(ExprKind::Array, node->a_array_expr->location, node->a_array_expr->elements,
                       node->a_array_expr->n_elements, depth);
    case PG_QUERY__NODE__NODE_ROW_EXPR: return unsupported("a row constructor", node->row_expr->location);
    case PG_QUERY__NODE__NODE_GROUPING_SET:
      return unsupported("GROUPING SETS, CUBE and ROLLUP", node->grouping_set->location, "Write UNION ALL.");
    default: return unsupported("this expression", -1);
  }
}

}  // namespace tidemark::sql::convert
