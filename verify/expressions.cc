#include "verify/translator.h"

namespace tidemark::verify {

namespace {

std::string name_in(Tree list) {
  const std::vector<Tree> names = list.items();
  return names.empty() ? std::string() : names.back()["String"]["sval"].text();
}

struct TypeName {
  TypeKind kind = TypeKind::Unknown;
  std::vector<int64_t> modifiers;
};

Result<TypeName> type_name_of(Tree type) {
  TypeName out;
  const std::string name = name_in(type["names"]);
  if (name == "unknown") return out;  // What PostgreSQL prints for a literal that it leaves alone.
  const auto kind = type_of_name(name);
  if (!kind || !type["arrayBounds"].items().empty()) return unsupported("the type " + name);
  out.kind = *kind;
  for (Tree modifier : type["typmods"].items())
    out.modifiers.push_back(modifier["A_Const"]["ival"]["ival"].integer());
  if (out.kind == TypeKind::Interval && !out.modifiers.empty()) return unsupported("interval with fields");
  return out;
}

// numeric(p, s), varchar(n), timestamp(p)
Expr fitted(const Expr& expr, const TypeName& type) {
  if (type.modifiers.empty()) return expr;
  const std::string first = std::to_string(type.modifiers[0]);
  const std::string second = type.modifiers.size() > 1 ? std::to_string(type.modifiers[1]) : "0";
  switch (type.kind) {
    case TypeKind::Numeric: return {call("num_fit", {expr.sql, first, second}), {type.kind}};
    case TypeKind::Text: return {call("t_cut", {expr.sql, first}), {type.kind}};
    case TypeKind::Timestamp:
    case TypeKind::TimestampTz: return {call("ts_fit", {expr.sql, first}), {type.kind}};
    default: return expr;
  }
}

Expr truth(const std::string& sql) {
  return {sql, {TypeKind::Boolean}};
}

}  // namespace

// The key of the group that the node is, so that it is exact where a column of the group is one of several.
std::optional<Expr> Translator::group_key(Tree node, Context& context) {
  if (!context.grouped || context.in_aggregate) return {};
  Context plain;
  plain.scope = context.scope;
  plain.in_aggregate = true;
  const Result<Expr> candidate = expression(node, plain);
  if (!candidate.ok()) return {};
  for (Expr key : context.group_keys) {
    if (key.sql != candidate->sql) continue;
    key.type.any_of_equals = key.type.any_of_equals || key.type.needs_key();
    return key;
  }
  return {};
}

Result<Expr> Translator::expression(Tree node, Context& context) {
  if (const auto key = group_key(node, context)) return *key;
  const std::string kind = node.kind();
  const Tree body = node.body();
  if (kind == "A_Const") return constant(body);
  if (kind == "ColumnRef") return column(body, context);
  if (kind == "A_Expr") return operation(body, context);
  if (kind == "BoolExpr") return boolean(body, context);
  if (kind == "TypeCast") return type_cast(body, context);
  if (kind == "FuncCall") return function(body, context);
  if (kind == "CaseExpr") return case_of(body, context);
  if (kind == "NullTest") {
    TM_ASSIGN(Expr operand, expression(body["arg"], context));
    return truth("(" + operand.sql +
                 (body["nulltesttype"].text() == "IS_NULL" ? " IS NULL)" : " IS NOT NULL)"));
  }
  if (kind == "BooleanTest") {
    TM_ASSIGN(std::string operand, condition(body["arg"], context));
    const std::string test = body["booltesttype"].text();
    const std::string negation = test.find("NOT") != std::string::npos ? " IS NOT " : " IS ";
    const std::string value = test.ends_with("TRUE") ? "1" : test.ends_with("FALSE") ? "0" : "NULL";
    return truth("(" + operand + negation + value + ")");
  }
  if (kind == "CoalesceExpr" || kind == "MinMaxExpr") {
    TM_ASSIGN(Exprs given, expressions(body["args"], context));
    TM_ASSIGN(Exprs same, unified(given));
    Type type = same[0].type;
    for (const Expr& expr : same) type.any_of_equals = type.any_of_equals || expr.type.any_of_equals;
    if (kind == "CoalesceExpr") {
      std::vector<std::string> parts;
      for (const Expr& expr : same) parts.push_back(expr.sql);
      return Expr{parts.size() == 1 ? parts[0] : call("coalesce", parts), type};
    }
    if (type.kind == TypeKind::Jsonb) return unsupported("the order of jsonb");
    // The best so far, or the next if that is better or the only one.
    const std::string better = body["op"].text() == "IS_GREATEST" ? " > " : " < ";
    Expr best = same[0];
    for (size_t i = 1; i < same.size(); ++i) {
      best.sql = "(CASE WHEN " + best.sql + " IS NULL OR " + key_of(same[i]) + better + key_of(best) +
                 " THEN " + same[i].sql + " ELSE " + best.sql + " END)";
    }
    best.type = type;
    best.type.any_of_equals = type.any_of_equals || type.needs_key();
    return best;
  }
  if (kind == "CollateClause") return unsupported("COLLATE");
  if (kind == "SubLink") return unsupported("a query inside an expression");
  return unsupported(kind);
}

Result<Exprs> Translator::expressions(Tree list, Context& context) {
  Exprs out;
  for (Tree node : list.items()) {
    TM_ASSIGN(Expr expr, expression(node, context));
    out.push_back(std::move(expr));
  }
  return out;
}

Result<std::string> Translator::condition(Tree node, Context& context) {
  TM_ASSIGN(Expr given, expression(node, context));
  TM_ASSIGN(Expr boolean, cast(given, TypeKind::Boolean));
  return boolean.sql;
}

Result<Expr> Translator::constant(Tree body) {
  if (body["isnull"].truth()) return Expr{"NULL", {TypeKind::Unknown}};
  if (body["ival"]) return Expr{"(" + std::to_string(body["ival"]["ival"].integer()) + ")", {TypeKind::Int4}};
  if (body["boolval"]) return truth(body["boolval"]["boolval"].truth() ? "1" : "0");
  if (body["sval"]) return Expr{quoted(body["sval"]["sval"].text()), {TypeKind::Unknown}};
  const std::string number = body["fval"]["fval"].text();
  if (number.empty()) return unsupported("a constant of bits");
  if (number.find_first_of(".eE") == std::string::npos) {
    const bool negative = number[0] == '-';
    const std::string digits = number.substr(negative ? 1 : 0);
    if (digits.size() < 19 || (digits.size() == 19 && digits <= "9223372036854775807")) {
      return Expr{"(" + number + ")", {TypeKind::Int8}};
    }
  }
  return cast({quoted(number), {TypeKind::Unknown}}, TypeKind::Numeric);
}

Result<Expr> Translator::column(Tree body, Context& context) {
  std::vector<std::string> names;
  for (Tree field : body["fields"].items()) {
    if (!field["String"]) return unsupported("* here");
    names.push_back(field["String"]["sval"].text());
  }
  const std::string& name = names.back();
  const std::string table = names.size() > 1 ? names[names.size() - 2] : "";
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& candidate : context.scope->columns) {
    if (candidate.name != name || (table.empty() ? candidate.merged : candidate.table != table)) continue;
    if (found != nullptr) return Error{"column \"" + name + "\" is ambiguous"};
    found = &candidate;
  }
  if (found == nullptr) return Error{"column \"" + name + "\" is not known"};
  Expr out = found->expr;
  if (context.grouped && !context.in_aggregate && out.type.needs_key()) out.type.any_of_equals = true;
  return out;
}

Result<Expr> Translator::operation(Tree body, Context& context) {
  const std::string kind = body["kind"].text(), name = name_in(body["name"]);
  if (kind == "AEXPR_IN" || kind == "AEXPR_OP_ANY" || kind == "AEXPR_OP_ALL") return in_list(body, context);
  if (kind.find("BETWEEN") != std::string::npos) return between(body, context);
  TM_ASSIGN(Expr right, expression(body["rexpr"], context));
  if (!body["lexpr"]) return unary_operator(name, right);
  TM_ASSIGN(Expr left, expression(body["lexpr"], context));
  if (kind == "AEXPR_OP" || kind == "AEXPR_LIKE" || kind == "AEXPR_ILIKE")
    return binary_operator(name, left, right);
  TM_ASSIGN(Exprs sides, unified({left, right}));
  if (kind == "AEXPR_DISTINCT") return truth("(" + key_of(sides[0]) + " IS NOT " + key_of(sides[1]) + ")");
  if (kind == "AEXPR_NOT_DISTINCT") return truth("(" + key_of(sides[0]) + " IS " + key_of(sides[1]) + ")");
  if (kind == "AEXPR_NULLIF") {
    // The result has the type of the first, whatever it was compared as.
    TM_ASSIGN(Expr first, cast(left, left.type.kind == TypeKind::Unknown ? TypeKind::Text : left.type.kind));
    return Expr{"(CASE WHEN " + key_of(sides[0]) + " = " + key_of(sides[1]) + " THEN NULL ELSE " + first.sql +
                    " END)",
                first.type};
  }
  return unsupported(kind);
}

Result<Expr> Translator::in_list(Tree body, Context& context) {
  const std::string kind = body["kind"].text(), name = name_in(body["name"]);
  TM_ASSIGN(Expr left, expression(body["lexpr"], context));
  const bool is_in = kind == "AEXPR_IN";
  Tree right = body["rexpr"];
  TypeKind element = TypeKind::Unknown;
  if (right["TypeCast"]) {  // ARRAY[...]::text[]
    const auto of = type_of_name(name_in(right["TypeCast"]["typeName"]["names"]));
    if (!of) return unsupported("an array of another type");
    element = *of;
    right = right["TypeCast"]["arg"];
  }
  if (!is_in && !right["A_ArrayExpr"]) return unsupported("ANY of something other than ARRAY[...]");
  TM_ASSIGN(Exprs items,
            expressions(is_in ? right["List"]["items"] : right["A_ArrayExpr"]["elements"], context));
  const bool all = kind == "AEXPR_OP_ALL" || (is_in && name == "<>");
  std::string out;
  for (Expr& item : items) {
    if (element != TypeKind::Unknown) {
      TM_ASSIGN(item, cast(item, element));
    }
    TM_ASSIGN(Expr one, binary_operator(name, left, item));
    out += (out.empty() ? "" : all ? " AND " : " OR ") + one.sql;
  }
  return truth("(" + (out.empty() ? (all ? "1" : "0") : out) + ")");
}

Result<Expr> Translator::between(Tree body, Context& context) {
  const std::string kind = body["kind"].text();
  TM_ASSIGN(Expr value, expression(body["lexpr"], context));
  TM_ASSIGN(Exprs bounds, expressions(body["rexpr"]["List"]["items"], context));
  if (bounds.size() != 2) return unsupported(kind);
  auto within = [&](const Expr& low, const Expr& high) -> Result<std::string> {
    TM_ASSIGN(Expr above, comparison(">=", value, low));
    TM_ASSIGN(Expr below, comparison("<=", value, high));
    return "(" + above.sql + " AND " + below.sql + ")";
  };
  TM_ASSIGN(std::string out, within(bounds[0], bounds[1]));
  if (kind.ends_with("_SYM")) {
    TM_ASSIGN(std::string swapped, within(bounds[1], bounds[0]));
    out = "(" + out + " OR " + swapped + ")";
  }
  return truth(kind.find("NOT") != std::string::npos ? "(NOT " + out + ")" : out);
}

Result<Expr> Translator::boolean(Tree body, Context& context) {
  const std::string op = body["boolop"].text();
  std::string out;
  for (Tree node : body["args"].items()) {
    TM_ASSIGN(std::string one, condition(node, context));
    if (op == "NOT_EXPR") return truth("(NOT " + one + ")");
    out += (out.empty() ? "" : op == "AND_EXPR" ? " AND " : " OR ") + one;
  }
  return truth("(" + out + ")");
}

Result<Expr> Translator::case_of(Tree body, Context& context) {
  std::vector<std::string> conditions;
  Exprs results;
  Expr subject;
  if (body["arg"]) {
    TM_ASSIGN(subject, expression(body["arg"], context));
  }
  for (Tree node : body["args"].items()) {
    const Tree when = node["CaseWhen"];
    if (body["arg"]) {
      TM_ASSIGN(Expr value, expression(when["expr"], context));
      TM_ASSIGN(Expr equal, comparison("=", subject, value));
      conditions.push_back(equal.sql);
    } else {
      TM_ASSIGN(std::string test, condition(when["expr"], context));
      conditions.push_back(test);
    }
    TM_ASSIGN(Expr result, expression(when["result"], context));
    results.push_back(std::move(result));
  }
  Expr otherwise{"NULL", {TypeKind::Unknown}};
  if (body["defresult"]) {
    TM_ASSIGN(otherwise, expression(body["defresult"], context));
  }
  results.push_back(otherwise);
  TM_ASSIGN(Exprs same, unified(results));
  Expr out{"(CASE", same[0].type};
  for (size_t i = 0; i < conditions.size(); ++i) out.sql += " WHEN " + conditions[i] + " THEN " + same[i].sql;
  out.sql += " ELSE " + same.back().sql + " END)";
  for (const Expr& expr : same) out.type.any_of_equals = out.type.any_of_equals || expr.type.any_of_equals;
  return out;
}

Result<Expr> Translator::type_cast(Tree body, Context& context) {
  TM_ASSIGN(TypeName type, type_name_of(body["typeName"]));
  TM_ASSIGN(Expr given, expression(body["arg"], context));
  if (type.kind == TypeKind::Unknown) return given;
  TM_ASSIGN(Expr value, cast(given, type.kind));
  return fitted(value, type);
}

Result<Expr> Translator::function(Tree body, Context& context) {
  const std::string name = name_in(body["funcname"]);
  if (body["over"]) {
    if (name != "row_number") return unsupported("the window function " + name);
    return row_number(body["over"], context);
  }
  if (is_aggregate(name)) return aggregate(name, body, context);
  if (body["agg_star"].truth() || body["agg_order"] || body["func_variadic"].truth())
    return unsupported(name);
  TM_ASSIGN(Exprs arguments, expressions(body["args"], context));
  return function_call(name, arguments);
}

Result<Expr> Translator::aggregate(const std::string& name, Tree body, Context& context) {
  if (context.in_aggregate) return Error{"an aggregate inside an aggregate"};
  context.aggregates = true;
  context.in_aggregate = true;
  std::string filter;
  if (body["agg_filter"]) {
    TM_ASSIGN(std::string condition_sql, condition(body["agg_filter"], context));
    filter = " FILTER (WHERE " + condition_sql + ")";
  }
  Expr out{"count(*)", {TypeKind::Int8}};
  if (!body["agg_star"].truth()) {
    TM_ASSIGN(Exprs arguments, expressions(body["args"], context));
    if (arguments.size() != 1) return unsupported(name + " of several arguments");
    TM_ASSIGN(out, aggregate_call(name, arguments[0], body["agg_distinct"].truth()));
  }
  context.in_aggregate = false;
  out.sql += filter;
  return out;
}

// Among equal rows, the lower key is first: what identifies rows follows the order asked for.
Result<Expr> Translator::row_number(Tree over, Context& context) {
  if (!context.windows_allowed) return unsupported("row_number() here");
  context.windows = true;
  if (over["name"] || over["refname"]) return unsupported("a named window");
  std::string partition;
  for (Tree node : over["partitionClause"].items()) {
    TM_ASSIGN(Expr key, expression(node, context));
    partition += (partition.empty() ? "PARTITION BY " : ", ") + key_of(key);
  }
  TM_ASSIGN(std::string order,
            order_by(over["orderClause"], [&](Tree node) { return expression(node, context); }));
  if (!partition.empty()) partition += " ";
  if (!context.identity) {
    const std::string window = partition + (order.empty() ? "" : "ORDER BY " + order);
    tie_probes_.push_back("SELECT 1 FROM (SELECT rank() OVER (" + window + ") AS r, row_number() OVER (" +
                          window + ") AS n" + context.tail + ") WHERE r <> n LIMIT 1");
    return Expr{"row_number() OVER (" + window + ")", {TypeKind::Int8}};
  }
  for (const std::string& part : *context.identity)
    order += (order.empty() ? "" : ", ") + part + " ASC NULLS LAST";
  return Expr{"row_number() OVER (" + partition + (order.empty() ? "" : "ORDER BY " + order) + ")",
              {TypeKind::Int8}};
}

}  // namespace tidemark::verify
