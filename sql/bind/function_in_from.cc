// Functions in FROM that take a text apart. They see the items before them.
#include "sql/bind/query_binder.h"

namespace tidemark::sql {

namespace {

SqlError refuse(std::string message, std::string hint, int location) {
  return {sqlstate::kFeatureNotSupported, std::move(message), location + 1, {}, std::move(hint)};
}

bool is_call(const ast::Expr& expr, std::string_view name, size_t args) {
  const bool plain = expr.kind == ast::ExprKind::Function && expr.call && !expr.call->star &&
                     !expr.call->distinct && !expr.call->filter && !expr.call->over;
  return plain && expr.names.back() == name && expr.args.size() == args;
}

// The call whose two arguments are the text and what separates it, or null.
const ast::Expr* split_call(const ast::Expr& function, SplitKind& kind) {
  kind = is_call(function, "regexp_split_to_table", 2) ? SplitKind::ByPattern : SplitKind::ByText;
  if (kind == SplitKind::ByPattern || is_call(function, "string_to_table", 2)) return &function;
  const bool unnested = is_call(function, "unnest", 1) && is_call(*function.args[0], "string_to_array", 2);
  return unnested ? function.args[0].get() : nullptr;
}

SqlStatus check_pattern(const Expression& pattern) {
  const bool known = pattern.kind == ExpressionKind::Constant && !pattern.constant.get().is_null() &&
                     SplitPattern::parse(pattern.constant.get().as_bytes()).has_value();
  if (known) return {};
  return refuse("this pattern of regexp_split_to_table is not supported",
                "Write one character or class, such as '\\s+' or '[^a-z0-9]+'.", pattern.location);
}

}  // namespace

QueryBinder::BoundFrom QueryBinder::bind_function(const ast::From& item, FromItem input) {
  TM_TRY(enter(item.location));
  auto split = std::make_unique<Relation>();
  split->kind = RelationKind::Split;
  const ast::Expr* call = split_call(*item.function, split->split);
  if (call == nullptr) {
    return refuse(
        "this function in FROM is not supported",
        "Functions in FROM are string_to_table, unnest(string_to_array(...)) and regexp_split_to_table.",
        item.location);
  }
  const std::string alias = item.alias.empty() ? item.function->names.back() : item.alias;
  if (input.scope.has_table(alias)) {
    return SqlError{sqlstate::kDuplicateAlias,
                    "table name \"" + alias + "\" specified more than once",
                    item.location + 1,
                    {},
                    {}};
  }
  if (item.column_aliases.size() > 1) {
    return SqlError{sqlstate::kInvalidColumnReference,
                    "table \"" + alias + "\" has fewer columns than aliases",
                    item.location + 1,
                    {},
                    {}};
  }
  constexpr SqlType kText = SqlType::of(TypeKind::Text);
  ExpressionBinder binder(catalog_, params_, input.scope, Clause::On, nullptr);
  for (const ast::ExprPtr& arg : call->args) {
    TM_SQL_ASSIGN(ExpressionPtr bound, binder.bind(*arg));
    TM_SQL_ASSIGN(bound, binder.coercer().coerce(std::move(bound), kText, CastContext::Implicit));
    split->expressions.push_back(std::move(bound));
  }
  if (split->split == SplitKind::ByPattern) TM_TRY(check_pattern(*split->expressions[1]));
  split->columns = input.relation->columns;
  FromItem out;
  out.scope = std::move(input.scope);
  const std::string name = item.column_aliases.empty() ? alias : item.column_aliases[0];
  out.scope.columns.push_back({alias, name, kText, static_cast<int>(split->columns.size())});
  split->columns.push_back({name, kText});
  split->inputs.push_back(std::move(input.relation));
  out.relation = std::move(split);
  return out;
}

// JOIN ... ON condition is the function's rows that pass.
QueryBinder::BoundFrom QueryBinder::bind_join_with_function(const ast::From& item, FromItem left) {
  const bool inner = item.join == ast::JoinKind::Inner || item.join == ast::JoinKind::Cross;
  if (!inner || !item.using_columns.empty()) {
    return refuse("this join with a function is not supported", "Write FROM table, function(...) AS name.",
                  item.location);
  }
  TM_SQL_ASSIGN(FromItem out, bind_function(*item.right, std::move(left)));
  if (item.on == nullptr) return out;
  ExpressionBinder binder(catalog_, params_, out.scope, Clause::On, nullptr);
  TM_SQL_ASSIGN(ExpressionPtr condition, binder.bind_boolean(*item.on, "JOIN/ON"));
  out.relation = make_relation(RelationKind::Filter, std::move(out.relation));
  out.relation->condition = std::move(condition);
  return out;
}

}  // namespace tidemark::sql
