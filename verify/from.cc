#include <algorithm>

#include "verify/translator.h"

namespace tidemark::verify {

namespace {

std::string column_of(const std::string& alias, const char* prefix, size_t index) {
  return alias + "." + prefix + std::to_string(index + 1);
}

}  // namespace

Translator::Scope Translator::scope_of(const Query& of, const std::string& source, const std::string& name,
                                       Tree alias) {
  Scope out;
  const std::string own = next_alias();
  out.from = source + " AS " + own;
  const std::string table = alias ? alias["aliasname"].text() : name;
  const std::vector<Tree> renamed = alias["colnames"].items();
  for (size_t i = 0; i < of.columns.size(); ++i) {
    Type type = of.columns[i].type;
    if (type.kind == TypeKind::Unknown) type.kind = TypeKind::Text;
    const std::string column = i < renamed.size() ? renamed[i]["String"]["sval"].text() : of.columns[i].name;
    out.columns.push_back({table, column, {column_of(own, "c", i), type}});
  }
  if (of.identity) {
    out.identity.emplace();
    for (size_t i = 0; i < *of.identity; ++i) out.identity->push_back(column_of(own, "k", i));
  }
  return out;
}

Result<Translator::Scope> Translator::relation(Tree range) {
  const std::string name = range["relname"].text();
  if (const auto with = with_.find(name); with != with_.end() && !range["schemaname"]) {
    const Tree definition = with->second;
    TM_ASSIGN(Query inner, query(definition["ctequery"]["SelectStmt"]));
    const std::vector<Tree> names = definition["aliascolnames"].items();
    for (size_t i = 0; i < names.size() && i < inner.columns.size(); ++i) {
      inner.columns[i].name = names[i]["String"]["sval"].text();
    }
    return scope_of(inner, "(" + inner.sql + ")", name, range["alias"]);
  }
  for (const Table& table : tables_) {
    if (table.name != name) continue;
    return scope_of({"", table.columns, table.identity}, table.sqlite_name, name, range["alias"]);
  }
  return Error{"\"" + name + "\" is not known"};
}

Result<Translator::Scope> Translator::subquery(Tree range) {
  if (range["lateral"].truth()) return unsupported("LATERAL");
  const Tree select = range["subquery"]["SelectStmt"];
  TM_ASSIGN(Query inner, query(select));
  return scope_of(inner, "(" + inner.sql + ")", "", range["alias"]);
}

Result<Translator::Scope> Translator::from_item(Tree node) {
  const std::string kind = node.kind();
  if (kind == "RangeVar") return relation(node.body());
  if (kind == "RangeSubselect") return subquery(node.body());
  if (kind == "JoinExpr") return join(node.body());
  return unsupported(kind == "RangeFunction" ? "a function in FROM" : kind);
}

Result<Translator::Scope> Translator::cross(Scope left, Scope right) {
  Scope out;
  out.from = left.from + " JOIN " + right.from;
  out.columns = std::move(left.columns);
  out.columns.insert(out.columns.end(), right.columns.begin(), right.columns.end());
  if (left.identity && right.identity) {
    out.identity = std::move(left.identity);
    out.identity->insert(out.identity->end(), right.identity->begin(), right.identity->end());
  }
  return out;
}

Result<Translator::Scope> Translator::join(Tree node) {
  const std::string kind = node["jointype"].text();
  if (kind != "JOIN_INNER" && kind != "JOIN_LEFT") return unsupported("a RIGHT or FULL join");
  if (node["isNatural"].truth() || node["alias"]) return unsupported("a NATURAL or named join");
  TM_ASSIGN(Scope left, from_item(node["larg"]));
  TM_ASSIGN(Scope right, from_item(node["rarg"]));
  if (node["rarg"]["JoinExpr"]) right.from = "(" + right.from + ")";
  const bool outer = kind == "JOIN_LEFT";
  const std::string left_from = left.from;
  const std::vector<ScopeColumn> left_columns = left.columns;
  const std::string operation = (outer ? " LEFT JOIN " : " JOIN ") + right.from;
  TM_ASSIGN(Scope out, cross(std::move(left), std::move(right)));
  out.from = left_from + operation;
  if (outer) out.identity.reset();
  std::string on;
  if (node["quals"]) {
    Context context;
    context.scope = &out;
    TM_ASSIGN(on, condition(node["quals"], context));
  }
  std::vector<ScopeColumn> merged;
  for (Tree item : node["usingClause"].items()) {
    const std::string name = item["String"]["sval"].text();
    std::vector<ScopeColumn*> sides;
    for (ScopeColumn& column : out.columns) {
      if (column.name == name && !column.merged) sides.push_back(&column);
    }
    if (sides.size() != 2) return Error{"USING (" + name + ") is ambiguous"};
    TM_ASSIGN(Expr equal, comparison("=", sides[0]->expr, sides[1]->expr));
    on += (on.empty() ? "" : " AND ") + equal.sql;
    TM_ASSIGN(Exprs same, unified({sides[0]->expr, sides[1]->expr}));
    for (ScopeColumn* side : sides) side->merged = true;
    merged.push_back({"", name, same[0]});
    if (merged.back().expr.type.needs_key()) merged.back().expr.type.any_of_equals = true;
  }
  out.columns.insert(out.columns.begin(), merged.begin(), merged.end());
  if (!on.empty()) out.from += " ON " + on;
  return out;
}

Result<Translator::Scope> Translator::from(Tree list) {
  const std::vector<Tree> items = list.items();
  if (items.empty()) {
    Scope out;
    out.from = "(SELECT 1)";
    return out;
  }
  TM_ASSIGN(Scope out, from_item(items[0]));
  for (size_t i = 1; i < items.size(); ++i) {
    TM_ASSIGN(Scope next, from_item(items[i]));
    if (items[i]["JoinExpr"]) next.from = "(" + next.from + ")";
    TM_ASSIGN(out, cross(std::move(out), std::move(next)));
  }
  return out;
}

}  // namespace tidemark::verify
