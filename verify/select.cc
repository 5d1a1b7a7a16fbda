#include <algorithm>

#include "verify/translator.h"

namespace tidemark::verify {

namespace {

// The name of an output that has none of its own.
std::string figured_name(Tree node) {
  const std::string kind = node.kind();
  const Tree body = node.body();
  auto last = [](Tree list) {
    const std::vector<Tree> items = list.items();
    return items.empty() ? std::string() : items.back()["String"]["sval"].text();
  };
  if (kind == "ColumnRef") return last(body["fields"]);
  if (kind == "FuncCall") return last(body["funcname"]);
  if (kind == "CoalesceExpr") return "coalesce";
  if (kind == "MinMaxExpr") return body["op"].text() == "IS_GREATEST" ? "greatest" : "least";
  if (kind == "A_Expr" && body["kind"].text() == "AEXPR_NULLIF") return "nullif";
  if (kind == "CaseExpr") {
    const std::string inner = body["defresult"] ? figured_name(body["defresult"]) : "";
    return inner.empty() || inner == "?column?" ? "case" : inner;
  }
  if (kind == "TypeCast") {
    const std::string inner = figured_name(body["arg"]);
    return inner == "?column?" ? last(body["typeName"]["names"]) : inner;
  }
  return "?column?";
}

bool is_star(Tree node) {
  const std::vector<Tree> fields = node["ColumnRef"]["fields"].items();
  return !fields.empty() && fields.back()["A_Star"];
}

std::string columns_list(const char* prefix, size_t count) {
  std::string out;
  for (size_t i = 1; i <= count; ++i) out += (i > 1 ? ", " : "") + std::string(prefix) + std::to_string(i);
  return out;
}

std::string identity_list(const std::optional<std::vector<std::string>>& identity) {
  std::string out;
  for (size_t i = 0; identity && i < identity->size(); ++i) {
    out += ", " + (*identity)[i] + " AS k" + std::to_string(i + 1);
  }
  return out;
}

std::string with_identity(std::string order, const std::optional<std::vector<std::string>>& identity) {
  for (size_t i = 0; identity && i < identity->size(); ++i) {
    order += (order.empty() ? "" : ", ") + (*identity)[i] + " ASC NULLS LAST";
  }
  return order;
}

// Rows that are kept in order are kept by keys, which forget the scale of a number.
void forget_scales(std::vector<Column>& columns) {
  for (Column& column : columns) {
    if (column.type.needs_key()) column.type.any_of_equals = true;
  }
}

}  // namespace

Result<Translation> Translator::run(Tree select) {
  TM_ASSIGN(Query out, query(select));
  for (Column& column : out.columns) {
    if (column.type.kind == TypeKind::Unknown) column.type.kind = TypeKind::Text;
  }
  return Translation{out.sql, out.columns, out.identity, tie_probes_};
}

Result<Translator::Query> Translator::query(Tree select) {
  if (!select) return unsupported("such a subquery");
  if (select["lockingClause"] || select["windowClause"]) return unsupported("FOR UPDATE or WINDOW");
  const std::map<std::string, Tree> outer = with_;
  if (select["withClause"]["recursive"].truth()) return unsupported("WITH RECURSIVE");
  for (Tree node : select["withClause"]["ctes"].items()) {
    const Tree with = node["CommonTableExpr"];
    if (!with["ctequery"]["SelectStmt"]) return unsupported("WITH of a statement that writes");
    with_[with["ctename"].text()] = with;
  }
  const std::string operation = select["op"].text();
  Result<Query> out = operation != "SETOP_NONE" ? set_operation(select)
                      : select["valuesLists"]   ? values(select)
                                                : plain(select);
  with_ = outer;
  return out;
}

Result<Translator::Limits> Translator::limits(Tree select) {
  Limits out;
  if (select["limitOption"].text() == "LIMIT_OPTION_WITH_TIES") return unsupported("WITH TIES");
  auto number = [](Tree node) -> Result<int64_t> {
    if (node["TypeCast"]) node = node["TypeCast"]["arg"];
    const Tree constant = node["A_Const"];
    if (!constant["ival"]) return unsupported("LIMIT or OFFSET of something other than a number");
    return constant["ival"]["ival"].integer();
  };
  if (select["limitCount"] && !select["limitCount"]["A_Const"]["isnull"].truth()) {
    TM_ASSIGN(out.count, number(select["limitCount"]));
  }
  if (select["limitOffset"]) {
    TM_ASSIGN(out.offset, number(select["limitOffset"]));
    if (out.count < 0) return unsupported("OFFSET without LIMIT");
  }
  return out;
}

Result<std::vector<Translator::Target>> Translator::targets(Tree list, const Scope& scope) {
  std::vector<Target> out;
  for (Tree item : list.items()) {
    const Tree target = item["ResTarget"];
    const Tree node = target["val"];
    if (!is_star(node)) {
      out.push_back({target["name"] ? target["name"].text() : figured_name(node), node, {}});
      continue;
    }
    const std::vector<Tree> fields = node["ColumnRef"]["fields"].items();
    const std::string table = fields.size() > 1 ? fields[fields.size() - 2]["String"]["sval"].text() : "";
    for (const ScopeColumn& column : scope.columns) {
      if (table.empty() ? column.merged : column.table != table) continue;
      out.push_back({column.name, {}, column.expr});
    }
  }
  return out;
}

Result<Tree> Translator::output_node(Tree node, const std::vector<Target>& targets,
                                     const Scope* inputs_first) {
  if (const Tree number = node["A_Const"]["ival"]) {
    const int64_t place = number["ival"].integer();
    if (place < 1 || place > static_cast<int64_t>(targets.size())) return Error{"there is no such output"};
    const Target& target = targets[static_cast<size_t>(place - 1)];
    if (!target.node) return unsupported("the number of a column of *");
    return target.node;
  }
  const std::vector<Tree> fields = node["ColumnRef"]["fields"].items();
  if (fields.size() != 1) return node;
  const std::string name = fields[0]["String"]["sval"].text();
  auto has_name = [&](const auto& named) { return named.name == name; };
  if (inputs_first != nullptr &&
      std::any_of(inputs_first->columns.begin(), inputs_first->columns.end(), has_name)) {
    return node;
  }
  const auto found = std::find_if(targets.begin(), targets.end(), has_name);
  return found != targets.end() && found->node ? found->node : node;
}

Result<std::string> Translator::group_by(Tree list, const std::vector<Target>& targets, Context& context) {
  std::string out;
  context.identity.emplace();
  for (Tree item : list.items()) {
    if (item["GroupingSet"]) return unsupported("GROUPING SETS");
    TM_ASSIGN(Tree node, output_node(item, targets, context.scope));
    TM_ASSIGN(Expr key, expression(node, context));
    // A plain number would be an ordinal to SQLite.
    context.identity->push_back(key_of(key));
    context.group_keys.push_back(key);
    out += (out.empty() ? " GROUP BY +" : ", +") + key_of(key);
  }
  return out;
}

Result<std::string> Translator::order_by(Tree list, const Resolve& resolve) {
  std::string out;
  for (Tree item : list.items()) {
    const Tree sort = item["SortBy"];
    if (sort["sortby_dir"].text() == "SORTBY_USING") return unsupported("ORDER BY ... USING");
    TM_ASSIGN(Expr key, resolve(sort["node"]));
    if (key.type.kind == TypeKind::Jsonb) return unsupported("the order of jsonb");
    const bool descending = sort["sortby_dir"].text() == "SORTBY_DESC";
    const std::string nulls = sort["sortby_nulls"].text();
    const bool first = nulls == "SORTBY_NULLS_DEFAULT" ? descending : nulls == "SORTBY_NULLS_FIRST";
    out += (out.empty() ? "" : ", ") + ("+" + key_of(key)) + (descending ? " DESC" : " ASC") +
           (first ? " NULLS FIRST" : " NULLS LAST");
  }
  return out;
}

Result<Translator::Query> Translator::plain(Tree select) {
  TM_ASSIGN(Scope scope, from(select["fromClause"]));
  TM_ASSIGN(std::vector<Target> list, targets(select["targetList"], scope));
  TM_ASSIGN(Limits limit, limits(select));
  Context context;
  context.scope = &scope;
  context.identity = scope.identity;
  context.tail = " FROM " + scope.from;
  if (select["whereClause"]) {
    TM_ASSIGN(std::string where, condition(select["whereClause"], context));
    context.tail += " WHERE " + where;
  }
  const bool grouped = !select["groupClause"].items().empty();
  std::string tail_end;
  if (grouped) {
    TM_ASSIGN(std::string group, group_by(select["groupClause"], list, context));
    context.grouped = true;
    context.tail += group;
  }
  if (select["havingClause"]) {
    TM_ASSIGN(std::string having, condition(select["havingClause"], context));
    context.tail += " HAVING " + having;
  }

  Query out;
  std::string outputs;
  context.windows_allowed = true;
  for (Target& target : list) {
    if (target.node) {
      TM_ASSIGN(target.expr, expression(target.node, context));
    } else if (grouped && target.expr.type.needs_key()) {
      target.expr.type.any_of_equals = true;
    }
    out.columns.push_back({target.name, target.expr.type});
    outputs += (outputs.empty() ? "" : ", ") + target.expr.sql + " AS c" + std::to_string(out.columns.size());
  }
  context.windows_allowed = false;
  if (context.windows) forget_scales(out.columns);
  if (outputs.empty()) return unsupported("an empty select list");
  if (!grouped && context.aggregates) context.identity.emplace();  // One row.

  const std::vector<Tree> distinct_on = select["distinctClause"].items();
  const bool is_distinct = select["distinctClause"] && (distinct_on.empty() || distinct_on[0].kind().empty());
  const auto by_output = [&](Tree node) -> Result<Expr> {
    TM_ASSIGN(Tree resolved, output_node(node, list, nullptr));
    return expression(resolved, context);
  };
  if (is_distinct) {
    out.sql = "SELECT " + outputs + context.tail;
    out = distinct(out);
    if (limit.count < 0) return out;
    return first_rows(out, select, limit, [&](Tree node) -> int64_t {
      const Result<Expr> wanted = by_output(node);
      for (size_t i = 0; wanted.ok() && i < list.size(); ++i) {
        if (list[i].expr.sql == wanted->sql) return static_cast<int64_t>(i);
      }
      return -1;
    });
  }
  if (limit.count < 0 && !select["distinctClause"]) {
    out.sql = "SELECT " + outputs + identity_list(context.identity) + context.tail;
    if (context.identity) out.identity = context.identity->size();
    return out;
  }
  std::string partition;
  if (select["distinctClause"]) {
    if (limit.count >= 0) return unsupported("DISTINCT ON with LIMIT");
    limit.count = 1;
    for (Tree node : distinct_on) {
      TM_ASSIGN(Expr key, by_output(node));
      partition += (partition.empty() ? "PARTITION BY +" : ", +") + key_of(key);
    }
    partition += " ";
  }
  TM_ASSIGN(std::string order, order_by(select["sortClause"], by_output));
  if (order.empty() && partition.empty()) return unsupported("LIMIT without ORDER BY");
  const std::string first = std::to_string(limit.offset), last = std::to_string(limit.offset + limit.count);
  if (!context.identity) {
    const std::string window = "(" + partition + (order.empty() ? "" : "ORDER BY " + order) + ")";
    for (const std::string& cut : {first, last}) {
      tie_probes_.push_back("SELECT 1 FROM (SELECT rank() OVER " + window + " AS r, row_number() OVER " +
                            window + " AS n" + context.tail + ") WHERE r <= " + cut + " AND n > " + cut +
                            " LIMIT 1");
    }
  }
  order = with_identity(order, context.identity);
  forget_scales(out.columns);
  const std::string window = partition + (order.empty() ? "" : "ORDER BY " + order);
  out.sql = "SELECT " + columns_list("c", out.columns.size()) + " FROM (SELECT " + outputs +
            ", row_number() OVER (" + window + ") AS n" + context.tail + ") WHERE n > " + first +
            " AND n <= " + last;
  return out;
}

// The distinct rows of a query, each by one of its equals.
Translator::Query Translator::distinct(const Query& of) {
  Query out{"", of.columns, of.columns.size()};
  std::string keys, identity;
  for (size_t i = 0; i < of.columns.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string key = key_of({"c" + number, of.columns[i].type});
    keys += (i > 0 ? ", " : "") + key;
    identity += ", " + key + " AS k" + number;
    if (out.columns[i].type.needs_key()) out.columns[i].type.any_of_equals = true;
  }
  out.sql =
      "SELECT " + columns_list("c", of.columns.size()) + identity + " FROM (" + of.sql + ") GROUP BY " + keys;
  return out;
}

Result<Translator::Query> Translator::first_rows(const Query& of, Tree select, const Limits& limit,
                                                 const std::function<int64_t(Tree)>& place) {
  const Scope scope = scope_of(of, "(" + of.sql + ")", "", {});
  const auto by_output = [&](Tree node) -> Result<Expr> {
    const Tree number = node["A_Const"]["ival"];
    const int64_t found = number ? number["ival"].integer() - 1 : place(node);
    if (found < 0 || found >= static_cast<int64_t>(scope.columns.size())) {
      return unsupported("ORDER BY of something other than an output");
    }
    return scope.columns[static_cast<size_t>(found)].expr;
  };
  TM_ASSIGN(std::string order, order_by(select["sortClause"], by_output));
  if (order.empty()) return unsupported("LIMIT without ORDER BY");
  const std::string first = std::to_string(limit.offset), last = std::to_string(limit.offset + limit.count);
  if (!scope.identity) {
    for (const std::string& cut : {first, last}) {
      tie_probes_.push_back("SELECT 1 FROM (SELECT rank() OVER (ORDER BY " + order +
                            ") AS r, row_number() OVER (ORDER BY " + order + ") AS n FROM " + scope.from +
                            ") WHERE r <= " + cut + " AND n > " + cut + " LIMIT 1");
    }
  }
  order = with_identity(order, scope.identity);
  Query out{"", of.columns, {}};
  forget_scales(out.columns);
  const std::string columns = columns_list("c", of.columns.size());
  out.sql = "SELECT " + columns + " FROM (SELECT " + columns + ", row_number() OVER (ORDER BY " + order +
            ") AS n FROM " + scope.from + ") WHERE n > " + first + " AND n <= " + last;
  return out;
}

Result<Translator::Query> Translator::values(Tree select) {
  Context context;
  const Scope nothing;
  context.scope = &nothing;
  std::vector<Exprs> rows;
  for (Tree list : select["valuesLists"].items()) {
    TM_ASSIGN(Exprs row, expressions(list["List"]["items"], context));
    rows.push_back(std::move(row));
  }
  if (select["limitCount"] || select["limitOffset"]) return unsupported("LIMIT of VALUES");
  Query out;
  for (size_t column = 0; column < rows[0].size(); ++column) {
    Exprs all;
    for (const Exprs& row : rows) all.push_back(row[column]);
    TM_ASSIGN(Exprs same, unified(all));
    for (size_t i = 0; i < rows.size(); ++i) rows[i][column] = same[i];
    out.columns.push_back({"column" + std::to_string(column + 1), same[0].type});
  }
  for (const Exprs& row : rows) {
    out.sql += out.sql.empty() ? "SELECT " : " UNION ALL SELECT ";
    for (size_t i = 0; i < row.size(); ++i)
      out.sql += (i > 0 ? ", " : "") + row[i].sql + " AS c" + std::to_string(i + 1);
  }
  return out;
}

Result<Translator::Query> Translator::set_operation(Tree select) {
  if (select["op"].text() != "SETOP_UNION") return unsupported("INTERSECT or EXCEPT");
  TM_ASSIGN(Query left, query(select["larg"]));
  TM_ASSIGN(Query right, query(select["rarg"]));
  if (left.columns.size() != right.columns.size())
    return Error{"each UNION query must have the same number of columns"};
  Query out;
  std::string left_list, right_list;
  for (size_t i = 0; i < left.columns.size(); ++i) {
    const std::string column = "c" + std::to_string(i + 1), comma = i > 0 ? ", " : "";
    Exprs sides = {{column, left.columns[i].type}, {column, right.columns[i].type}};
    TM_ASSIGN(Exprs same, unified(sides));
    left_list += comma + same[0].sql + " AS " + column;
    right_list += comma + same[1].sql + " AS " + column;
    Type type = same[0].type;
    type.any_of_equals = type.any_of_equals || same[1].type.any_of_equals;
    out.columns.push_back({left.columns[i].name, type});
  }
  out.sql = "SELECT " + left_list + " FROM (" + left.sql + ") UNION ALL SELECT " + right_list + " FROM (" +
            right.sql + ")";
  if (!select["all"].truth()) out = distinct(out);
  TM_ASSIGN(Limits limit, limits(select));
  if (limit.count < 0) return out;
  return first_rows(out, select, limit, [&](Tree node) -> int64_t {
    const std::vector<Tree> fields = node["ColumnRef"]["fields"].items();
    for (size_t i = 0; fields.size() == 1 && i < out.columns.size(); ++i) {
      if (out.columns[i].name == fields[0]["String"]["sval"].text()) return static_cast<int64_t>(i);
    }
    return -1;
  });
}

Result<Translation> translate(const ParsedQuery& query, const std::vector<Table>& tables) {
  return Translator(tables).run(query.select());
}

}  // namespace tidemark::verify
