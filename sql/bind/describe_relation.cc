#include "sql/bind/relation.h"

namespace tidemark::sql {
namespace {

std::vector<std::string> names_of(const Relation& relation) {
  std::vector<std::string> out;
  for (const RelationColumn& column : relation.columns) out.push_back(column.name);
  return out;
}

std::vector<std::string> input_names(const Relation& relation) {
  std::vector<std::string> out;
  for (const RelationPtr& input : relation.inputs) {
    for (std::string& name : names_of(*input)) out.push_back(std::move(name));
  }
  return out;
}

std::string list(const std::vector<ExpressionPtr>& expressions, const std::vector<std::string>& names) {
  std::string out;
  for (const ExpressionPtr& e : expressions) out += (out.empty() ? "" : ", ") + describe(*e, names);
  return out;
}

std::string list(const std::vector<SortKey>& keys, const std::vector<std::string>& names) {
  std::string out;
  for (const SortKey& key : keys) {
    out += (out.empty() ? "" : ", ") + describe(*key.expression, names) + (key.descending ? " DESC" : "");
    if (key.nulls_first != key.descending) out += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return out;
}

std::string list(const std::vector<AggregateCall>& calls, const std::vector<std::string>& names) {
  std::string out;
  for (const AggregateCall& call : calls) {
    out += (out.empty() ? "" : ", ") + std::string(aggregate_name(call.kind)) + "(" +
           (call.distinct ? "DISTINCT " : "") + (call.arg == nullptr ? "*" : describe(*call.arg, names)) +
           ")";
    if (call.filter != nullptr) out += " FILTER (WHERE " + describe(*call.filter, names) + ")";
  }
  return out;
}

std::string scan_line(const Relation& relation) {
  std::string out = relation.key_prefix.empty() ? "Scan " : "Read by key ";
  out += relation.table->name;
  if (relation.alias != relation.table->name) out += " " + relation.alias;
  const std::vector<int> keys = relation.table->key_columns();
  for (size_t i = 0; i < relation.key_prefix.size(); ++i) {
    out += (i == 0 ? ": " : ", ") + relation.table->columns[keys[i]].name + " = " +
           describe(*relation.key_prefix[i], {});
  }
  return out;
}

std::string_view use_name(SubqueryUse use) {
  switch (use) {
    case SubqueryUse::Scalar: return "Value";
    case SubqueryUse::Exists: return "Existence";
    case SubqueryUse::Any: return "Any";
    case SubqueryUse::All: return "All";
    case SubqueryUse::Array: return "Array";
  }
  TM_UNREACHABLE();
}

std::string line_of(const Relation& relation) {
  const std::vector<std::string> names = input_names(relation);
  switch (relation.kind) {
    case RelationKind::Values: return "Values: " + std::to_string(relation.rows.size()) + " rows";
    case RelationKind::Scan: return scan_line(relation);
    case RelationKind::Filter: return "Filter: " + describe(*relation.condition, names);
    case RelationKind::Project: return "Project: " + list(relation.expressions, names);
    case RelationKind::Join:
      return std::string(relation.join == RelationJoin::Left ? "Left join" : "Join") +
             (relation.condition != nullptr ? ": " + describe(*relation.condition, names) : "");
    case RelationKind::Aggregate: {
      std::string out = "Aggregate: " + list(relation.aggregates, names);
      if (!relation.expressions.empty()) out += " by " + list(relation.expressions, names);
      return out;
    }
    case RelationKind::UnionAll: return "Union all";
    case RelationKind::Distinct: return "Distinct";
    case RelationKind::Sort: return "Sort: " + list(relation.order, names);
    case RelationKind::Limit:
      return "Limit: " + (relation.limit != nullptr ? describe(*relation.limit, {}) : "all") +
             (relation.offset != nullptr ? " after " + describe(*relation.offset, {}) : "");
    case RelationKind::Apply:
      return std::string(use_name(relation.subquery)) + " of a query per row" +
             (relation.expressions.empty() ? "" : " for " + list(relation.expressions, names));
    case RelationKind::Expand:
      if (!split_kind_of(relation.set_function)) return "Expand: " + list(relation.expressions, names);
      return "Split " + describe(*relation.expressions[0], names) + " by " +
             describe(*relation.expressions[1], names);
    case RelationKind::TopK:
      return (relation.top_limit ? "First " + std::to_string(*relation.top_limit) : "Number") + " of each " +
             (relation.expressions.empty() ? "(all)" : list(relation.expressions, names)) + " by " +
             list(relation.order, names);
  }
  TM_UNREACHABLE();
}

void append_lines(const Relation& relation, int depth, std::string& out) {
  out += std::string(static_cast<size_t>(depth) * 2, ' ') + line_of(relation) + "\n";
  for (const RelationPtr& input : relation.inputs) append_lines(*input, depth + 1, out);
}

}  // namespace

std::string describe(const Relation& relation) {
  std::string out;
  append_lines(relation, 0, out);
  return out;
}

}  // namespace tidemark::sql
