// Queries in expressions, functions that stand for queries, functions of several rows, and arrays.
#include <algorithm>

#include "sql/bind/query_binder.h"
#include "sql/bind/resolve.h"
#include "sql/parse/parser.h"

namespace tidemark::sql {
namespace {

constexpr SqlType kBoolean = SqlType::of(TypeKind::Boolean);
constexpr SqlType kText = SqlType::of(TypeKind::Text);
constexpr SqlType kNumeric = SqlType::of(TypeKind::Numeric);

std::vector<ExpressionPtr> list(ExpressionPtr a, ExpressionPtr b = nullptr) {
  std::vector<ExpressionPtr> out;
  out.push_back(std::move(a));
  if (b != nullptr) out.push_back(std::move(b));
  return out;
}

SqlError refused(std::string message, int location, std::string hint = {}) {
  return {sqlstate::kFeatureNotSupported, std::move(message), location + 1, {}, std::move(hint)};
}

ExpressionPtr outer(int slot, SqlType type, int location) {
  auto out = make_operation(ExpressionKind::Outer, type, {}, location);
  out->index = slot;
  return out;
}

// Stand-ins from `base` on become the columns at `places`.
void place(Expression& expression, int base, const std::vector<int>& places) {
  for_each_column(expression, [&](int& index) {
    if (index >= base && index < base + static_cast<int>(places.size())) index = places[index - base];
  });
}

}  // namespace

// ---- queries

ExpressionBinder::Bound ExpressionBinder::add_query(SubqueryCall call, int location) {
  const SqlType type = call.type;
  queries_->push_back(std::move(call));
  return make_column(kQueryBase + static_cast<int>(queries_->size()) - 1, type, location);
}

ExpressionBinder::Bound ExpressionBinder::bind_subquery(const ast::Expr& expr) {
  if (queries_ == nullptr || in_aggregate_) {
    return refused("a subquery is not supported here", expr.location,
                   "Write it in the select list or in WHERE of a SELECT, or a join in FROM.");
  }
  SubqueryCall call;
  call.use = expr.use;
  ExpressionPtr tested;
  if (!expr.args.empty()) {
    TM_SQL_ASSIGN(tested, bind(*expr.args[0]));
  }
  TM_SQL_ASSIGN(call.query, query_->bind_nested(*expr.query, scope_, call));
  const bool is_test = expr.use == SubqueryUse::Any || expr.use == SubqueryUse::All;
  if (expr.use != SubqueryUse::Exists && call.query->columns.size() != 1) {
    return SqlError{sqlstate::kSyntaxError,
                    is_test ? "subquery has too many columns" : "subquery must return only one column",
                    expr.location + 1,
                    {},
                    {}};
  }
  call.type = expr.use == SubqueryUse::Scalar  ? call.query->columns[0].type
              : expr.use == SubqueryUse::Array ? kText
                                               : kBoolean;
  if (is_test) {
    // x = ANY (SELECT y ...) is whether any row of SELECT x = y ... is true.
    ExpressionPtr value;
    if (tested->kind == ExpressionKind::Constant || tested->kind == ExpressionKind::Param) {
      value = std::move(tested);
    } else {
      TM_SQL_ASSIGN(tested, coercer_.settle(std::move(tested)));
      call.slots.push_back(query_->take_slot());
      value = outer(call.slots.back(), tested->type, expr.location);
      call.values.push_back(std::move(tested));
    }
    TM_SQL_ASSIGN(ExpressionPtr test,
                  operation(expr.text, list(std::move(value), make_column(0, call.query->columns[0].type)),
                            expr.location));
    TM_SQL_ASSIGN(test, coercer_.as_boolean(std::move(test), "ANY/ALL"));
    call.query = make_relation(RelationKind::Project, std::move(call.query));
    call.query->columns.push_back({"", kBoolean});
    call.query->expressions.push_back(std::move(test));
  }
  return add_query(std::move(call), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_body(const Function& function, std::vector<ExpressionPtr> args,
                                                    int location) {
  if (queries_ == nullptr || in_aggregate_) {
    return refused("function " + std::string(function.name) + " is not supported here", location,
                   "Use it in the select list or in WHERE of a SELECT.");
  }
  SubqueryCall call;
  call.type = SqlType::of(function.result);
  for (ExpressionPtr& arg : args) {
    call.slots.push_back(query_->take_slot());
    call.values.push_back(std::move(arg));
  }
  TM_SQL_ASSIGN(call.query, query_->bind_body(function.body, call));
  TM_ASSERT(call.query->columns.size() == 1);
  TM_ASSERT(call.query->columns[0].type.kind == function.result);
  return add_query(std::move(call), location);
}

Result<ExpressionPtr, SqlError> QueryBinder::find_outer(const std::vector<std::string>& names, int location) {
  for (size_t i = frames_.size(); i-- > 0;) {
    const auto found = frames_[i].scope->find(names, location);
    if (!found.ok()) {
      if (found.error().state == sqlstate::kAmbiguousColumn) return found.error();
      continue;
    }
    SubqueryCall& call = *frames_[i].call;
    ExpressionPtr column = make_column((*found)->index, (*found)->type, location);
    for (size_t at = 0; at < call.values.size(); ++at) {
      if (is_same(*call.values[at], *column)) return outer(call.slots[at], column->type, location);
    }
    call.slots.push_back(take_slot());
    call.values.push_back(std::move(column));
    return outer(call.slots.back(), (*found)->type, location);
  }
  return ExpressionPtr();
}

Result<RelationPtr, SqlError> QueryBinder::bind_nested(const ast::Select& select, const Scope& scope,
                                                       SubqueryCall& call) {
  frames_.push_back({&scope, &call});
  auto out = bind_query(select, UnknownLiterals::Settle);
  frames_.pop_back();
  return out;
}

Result<RelationPtr, SqlError> QueryBinder::bind_body(std::string_view body, SubqueryCall& call) {
  TM_SQL_ASSIGN(const std::vector<ast::Statement> parsed, parse_statements(body));
  const std::vector<Frame> frames = std::exchange(frames_, {});
  const auto common_tables = std::exchange(common_tables_, {});
  const SubqueryCall* around = std::exchange(body_, &call);
  auto out = bind_query(*std::get<ast::SelectPtr>(parsed[0].body), UnknownLiterals::Settle);
  body_ = around;
  common_tables_ = common_tables;
  frames_ = frames;
  return out;
}

Result<ExpressionPtr, SqlError> QueryBinder::body_argument(int number, int location) const {
  TM_ASSERT(number >= 1 && number <= static_cast<int>(body_->values.size()));
  return outer(body_->slots[number - 1], body_->values[number - 1]->type, location);
}

ExpressionBinder QueryBinder::expressions(const Scope& scope, Clause clause, FoundCalls* found,
                                          FoundQueries* queries) {
  ExpressionBinder out(catalog_, params_, scope, clause, found);
  out.enclose(*this, queries);
  return out;
}

RelationPtr QueryBinder::apply(RelationPtr input, FoundQueries queries,
                               const std::vector<Expression*>& users) {
  std::vector<int> places;
  for (SubqueryCall& call : queries) {
    // What a query is run for may come from one before it.
    for (ExpressionPtr& value : call.values) place(*value, kQueryBase, places);
    places.push_back(static_cast<int>(input->columns.size()));
    auto out = make_relation(RelationKind::Apply, std::move(input));
    out->columns.push_back({"", call.type});
    out->inputs.push_back(std::move(call.query));
    out->subquery = call.use;
    out->slots = std::move(call.slots);
    out->expressions = std::move(call.values);
    input = std::move(out);
  }
  for (Expression* user : users) place(*user, kQueryBase, places);
  return input;
}

// ---- functions of several rows

namespace {

SqlStatus check_pattern(const Expression& pattern) {
  const bool known = pattern.kind == ExpressionKind::Constant && !pattern.constant.get().is_null() &&
                     SplitPattern::parse(pattern.constant.get().as_bytes()).has_value();
  if (known) return {};
  return refused("this pattern of regexp_split_to_table is not supported", pattern.location,
                 "Write one character or class, such as '\\s+' or '[^a-z0-9]+'.");
}

bool is_plain_call(const ast::Expr& expr) {
  return expr.kind == ast::ExprKind::Function && !expr.call->star && !expr.call->distinct &&
         expr.call->filter == nullptr && !expr.call->over;
}

bool is_string_to_array(const ast::Expr& expr) {
  return is_plain_call(expr) && expr.names.back() == "string_to_array" && expr.args.size() == 2;
}

}  // namespace

std::optional<ExpressionBinder::SetSyntax> ExpressionBinder::find_set(const ast::Expr& expr) {
  if (!is_plain_call(expr)) return std::nullopt;
  const std::string& name = expr.names.back();
  if (name == "generate_series") return SetSyntax{SetFunction::Series, expr};
  if (name == "_pg_expandarray") return SetSyntax{SetFunction::ExpandArray, expr};
  if (name == "string_to_table") return SetSyntax{SetFunction::SplitByText, expr};
  if (name == "regexp_split_to_table") return SetSyntax{SetFunction::SplitByPattern, expr};
  if (name != "unnest") return std::nullopt;
  const bool of_words = expr.args.size() == 1 && is_string_to_array(*expr.args[0]);
  if (of_words) return SetSyntax{SetFunction::SplitByText, *expr.args[0]};
  return SetSyntax{SetFunction::Unnest, expr};
}

Result<std::optional<SetCall>, SqlError> ExpressionBinder::bind_from_set(const ast::Expr& call) {
  const std::optional<SetSyntax> set = find_set(call);
  if (!set) return std::optional<SetCall>();
  TM_SQL_ASSIGN(SetCall out, bind_set_call(*set));
  return std::optional<SetCall>(std::move(out));
}

Result<SetCall, SqlError> ExpressionBinder::bind_set_call(const SetSyntax& set) {
  const ast::Expr& expr = set.call;
  const SetFunction function = set.function;
  SetCall out;
  out.function = function;
  TM_SQL_ASSIGN(out.args, bind_args(expr));
  const size_t wanted = function == SetFunction::Unnest || function == SetFunction::ExpandArray ? 1 : 2;
  if (out.args.size() != wanted) {
    return refused(
        expr.names.back() + " with " + std::to_string(out.args.size()) + " arguments is not supported",
        expr.location);
  }
  out.type = kText;
  if (function == SetFunction::Series) {
    const bool is_big =
        out.args[0]->type.kind == TypeKind::BigInt || out.args[1]->type.kind == TypeKind::BigInt;
    out.type = SqlType::of(is_big ? TypeKind::BigInt : TypeKind::Integer);
  }
  for (ExpressionPtr& arg : out.args) {
    TM_SQL_ASSIGN(arg, coercer_.coerce(std::move(arg), out.type, CastContext::Implicit));
  }
  if (function == SetFunction::SplitByPattern) TM_TRY(check_pattern(*out.args[1]));
  return out;
}

namespace {

bool is_same_call(const SetCall& a, const SetCall& b) {
  return a.function == b.function && std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                                                [](const auto& x, const auto& y) { return is_same(*x, *y); });
}

}  // namespace

ExpressionBinder::Bound ExpressionBinder::bind_set(const ast::Expr& expr, const SetSyntax& set) {
  if (found_ == nullptr || clause_ != Clause::Select || in_aggregate_) {
    return SqlError{sqlstate::kFeatureNotSupported,
                    "set-returning functions are not allowed here",
                    expr.location + 1,
                    {},
                    "Write it in FROM."};
  }
  TM_SQL_ASSIGN(SetCall call, bind_set_call(set));
  if (found_->sets.empty()) {
    found_->sets.push_back(std::move(call));
  } else if (!is_same_call(found_->sets[0], call)) {
    return refused("several functions of several rows are not supported", expr.location);
  }
  return make_column(kSetBase, found_->sets[0].type, expr.location);
}

RelationPtr QueryBinder::expand(RelationPtr input, SetCall call) {
  auto out = make_relation(RelationKind::Expand, std::move(input));
  out->columns.push_back({"", call.type});
  out->set_function = call.function;
  out->expressions = std::move(call.args);
  return out;
}

// ---- arrays and types of the catalog

ExpressionBinder::Bound ExpressionBinder::internal_call(std::string_view name,
                                                        std::vector<ExpressionPtr> args, int location) {
  std::vector<TypeKind> kinds;
  for (const ExpressionPtr& arg : args) kinds.push_back(arg->type.kind);
  const Function* function = nullptr;
  const Resolution found = resolve_candidate(catalog_.functions().find(name), kinds, function);
  TM_ASSERT(found == Resolution::Found);
  return call(*function, std::move(args), location);
}

namespace {

// An array is a text: what its elements are is known where it was cast to an array.
SqlType element_type(const ast::Expr& array) {
  if (array.kind != ast::ExprKind::Cast || !array.type.is_array) return kText;
  ast::TypeName element = array.type;
  element.is_array = false;
  const auto type = resolve_type(element);
  return type.ok() ? SqlType::of(type->kind) : kText;
}

}  // namespace

ExpressionBinder::Bound ExpressionBinder::bind_any_array(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr value, bind(*expr.args[0]));
  TM_SQL_ASSIGN(ExpressionPtr array, bind(*expr.args[1]));
  if (array->type.kind != TypeKind::Text && array->type.kind != TypeKind::Unknown) {
    return refused("= ANY of this array is not supported", expr.location, "Write IN (value, ...).");
  }
  if (value->type.kind == TypeKind::Unknown) {
    TM_SQL_ASSIGN(value,
                  coercer_.coerce(std::move(value), element_type(*expr.args[1]), CastContext::Implicit));
  } else if (is_integer(value->type.kind)) {  // They are also looked for among numerics.
    TM_SQL_ASSIGN(value, coercer_.coerce(std::move(value), kNumeric, CastContext::Implicit));
  }
  TM_SQL_ASSIGN(array, coercer_.settle(std::move(array)));
  return internal_call(expr.flag ? "<>all" : "=any", list(std::move(value), std::move(array)), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_array(const ast::Expr& expr) {
  TM_SQL_ASSIGN(std::vector<ExpressionPtr> args, bind_args(expr));
  if (!args.empty()) {
    TM_SQL_ASSIGN(args, coercer_.unify(std::move(args), "ARRAY"));
  }
  return internal_call("array[]", std::move(args), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_subscript(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr array, bind(*expr.args[0]));
  TM_SQL_ASSIGN(array, coercer_.settle(std::move(array)));
  if (array->type.kind != TypeKind::Text) {
    return SqlError{
        sqlstate::kDatatypeMismatch,
        "cannot subscript type " + type_name(array->type) + " because it does not support subscripting",
        expr.location + 1,
        {},
        {}};
  }
  TM_SQL_ASSIGN(ExpressionPtr index, bind(*expr.args[1]));
  TM_SQL_ASSIGN(index,
                coercer_.coerce(std::move(index), SqlType::of(TypeKind::Integer), CastContext::Assignment));
  return internal_call("[]", list(std::move(array), std::move(index)), expr.location);
}

// The only rows there are as values are those of _pg_expandarray: x, the element, and n, its number.
ExpressionBinder::Bound ExpressionBinder::bind_field(const ast::Expr& expr) {
  TM_SQL_ASSIGN(ExpressionPtr row, bind(*expr.args[0]));
  if (row->type.kind != TypeKind::Text || (expr.text != "x" && expr.text != "n")) {
    return SqlError{sqlstate::kUndefinedColumn,
                    "column \"" + expr.text + "\" not found in data type " + type_name(row->type),
                    expr.location + 1,
                    {},
                    {}};
  }
  return internal_call("." + expr.text, list(std::move(row)), expr.location);
}

namespace {

enum class CatalogType : uint8_t { None, Text, Oid, Registered };

CatalogType catalog_type(const std::string& name) {
  for (std::string_view text : {"name", "char", "int2vector", "oidvector", "pg_node_tree", "aclitem"}) {
    if (name == text) return CatalogType::Text;
  }
  for (std::string_view oid : {"oid", "xid", "cid"}) {
    if (name == oid) return CatalogType::Oid;
  }
  for (std::string_view type :
       {"regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole"}) {
    if (name == type) return CatalogType::Registered;
  }
  return CatalogType::None;
}

}  // namespace

// oid is bigint and name is text here. A name cast to regclass is its number, a number its name.
// What is cast is the elements: those of ARRAY[...] by themselves, before they are texts.
ExpressionBinder::Bound ExpressionBinder::bind_array_cast(const ast::Expr& expr) {
  ast::TypeName name = expr.type;
  name.is_array = false;
  TM_SQL_ASSIGN(const SqlType element, resolve_type(name));
  if (element.has_modifier()) {
    return refused("an array of type " + type_name(element) + " is not supported", expr.location,
                   "Leave out what is in parentheses.");
  }
  const ast::Expr& source = *expr.args[0];
  if (source.kind == ast::ExprKind::Array) {
    TM_SQL_ASSIGN(std::vector<ExpressionPtr> elements, bind_args(source));
    for (ExpressionPtr& e : elements) {
      TM_SQL_ASSIGN(e, coercer_.coerce(std::move(e), element, CastContext::Explicit));
    }
    return internal_call("array[]", std::move(elements), expr.location);
  }
  TM_SQL_ASSIGN(ExpressionPtr array, bind(source));
  TM_SQL_ASSIGN(array, coercer_.coerce(std::move(array), kText, CastContext::Explicit));
  const auto oid = static_cast<int32_t>(type_oid(element.kind));
  ExpressionPtr type = make_constant(Value::integer(oid), SqlType::of(TypeKind::Integer), expr.location);
  return internal_call("array_in", list(std::move(array), std::move(type)), expr.location);
}

ExpressionBinder::Bound ExpressionBinder::bind_catalog_cast(const ast::Expr& expr) {
  const CatalogType type = catalog_type(expr.type.name);
  if (type == CatalogType::None) return expr.type.is_array ? bind_array_cast(expr) : ExpressionPtr();
  TM_SQL_ASSIGN(ExpressionPtr arg, bind(*expr.args[0]));
  if (expr.type.is_array || type == CatalogType::Text) {
    return coercer_.coerce(std::move(arg), kText, CastContext::Explicit);
  }
  const SqlType oid = SqlType::of(TypeKind::BigInt);
  if (type == CatalogType::Oid) return coercer_.coerce(std::move(arg), oid, CastContext::Explicit);
  const std::string name = expr.type.name == "regprocedure" ? "regproc" : expr.type.name;
  if (!is_integer(arg->type.kind)) {
    TM_SQL_ASSIGN(arg, coercer_.coerce(std::move(arg), kText, CastContext::Explicit));
    return internal_call(name + "in", list(std::move(arg)), expr.location);
  }
  TM_SQL_ASSIGN(arg, coercer_.coerce(std::move(arg), oid, CastContext::Implicit));
  if (name != "regtype") return internal_call(name + "out", list(std::move(arg)), expr.location);
  ExpressionPtr no_modifier = make_constant(Value::null(), SqlType::of(TypeKind::Integer));
  return internal_call("format_type", list(std::move(arg), std::move(no_modifier)), expr.location);
}

}  // namespace tidemark::sql
