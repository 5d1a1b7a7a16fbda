// Internal to translate.h: one translation.
#pragma once

#include <functional>
#include <map>

#include "verify/translate.h"
#include "verify/try.h"

namespace tidemark::verify {

// An expression of SQLite and what it means.
struct Expr {
  std::string sql;
  Type type;
};
using Exprs = std::vector<Expr>;

// ---- types (coerce.cc)

Error unsupported(const std::string& what);
Result<Expr> cast(const Expr& expr, TypeKind to);
// The type that values of these types have together; unknown if all are.
Result<TypeKind> common_type(const Exprs& exprs);
// All of one type.
Result<Exprs> unified(const Exprs& exprs);
// What is compared, grouped and sorted by: equal for equal values.
std::string key_of(const Expr& expr);
std::string call(std::string_view function, const std::vector<std::string>& arguments);

// ---- operators and functions, by the types of their arguments (operators.cc, calls.cc)

Result<Expr> binary_operator(const std::string& name, const Expr& left, const Expr& right);
Result<Expr> unary_operator(const std::string& name, const Expr& operand);
Result<Expr> comparison(const std::string& name, const Expr& left, const Expr& right);
Result<Expr> function_call(const std::string& name, const Exprs& arguments);
Result<Expr> aggregate_call(const std::string& name, const Expr& argument, bool distinct);
bool is_aggregate(const std::string& name);

class Translator {
 public:
  explicit Translator(const std::vector<Table>& tables) : tables_(tables) {}
  Result<Translation> run(Tree select);

 private:
  struct ScopeColumn {
    std::string table;
    std::string name;
    Expr expr;
    bool merged = false;  // By USING: found only with its table's name.
  };
  struct Scope {
    std::string from;
    std::vector<ScopeColumn> columns;
    std::optional<std::vector<std::string>> identity;
  };
  // What expressions are translated in.
  struct Context {
    const Scope* scope = nullptr;
    bool grouped = false;  // Columns outside aggregates stand for all rows of a group.
    Exprs group_keys;
    bool in_aggregate = false;
    bool aggregates = false;  // Seen one.
    bool windows_allowed = false;
    bool windows = false;  // Seen one.
    // What decides between equal rows; none: not known.
    std::optional<std::vector<std::string>> identity;
    std::string tail;  // " FROM ... WHERE ... GROUP BY ..." of the query, for probes.
  };
  // Of a select list: a node, or a column that * stands for.
  struct Target {
    std::string name;
    Tree node;
    Expr expr;
  };
  struct Query {
    std::string sql;
    std::vector<Column> columns;
    std::optional<size_t> identity;
  };
  struct Limits {
    int64_t count = -1;  // None.
    int64_t offset = 0;
  };
  using Resolve = std::function<Result<Expr>(Tree)>;

  // select.cc
  Result<Query> query(Tree select);
  Result<Query> plain(Tree select);
  Result<Query> values(Tree select);
  Result<Query> set_operation(Tree select);
  Result<Limits> limits(Tree select);
  Result<std::vector<Target>> targets(Tree list, const Scope& scope);
  Result<std::string> group_by(Tree list, const std::vector<Target>& targets, Context& context);
  // The node that an ordinal or the name of an output stands for, or the node itself.
  Result<Tree> output_node(Tree node, const std::vector<Target>& targets, const Scope* inputs_first);
  Result<std::string> order_by(Tree list, const Resolve& resolve);
  // ORDER BY and LIMIT over a query; `place` finds the output, from 0, that a node is, or gives -1.
  Result<Query> first_rows(const Query& of, Tree select, const Limits& limits,
                           const std::function<int64_t(Tree)>& place);
  Query distinct(const Query& of);
  std::string next_alias() { return "r" + std::to_string(++aliases_); }

  // from.cc
  Result<Scope> from(Tree list);
  Result<Scope> from_item(Tree node);
  Result<Scope> relation(Tree range);
  Result<Scope> subquery(Tree range);
  Result<Scope> join(Tree join);
  Result<Scope> cross(Scope left, Scope right);
  Scope scope_of(const Query& query, const std::string& source, const std::string& name, Tree alias);

  // expressions.cc
  Result<Expr> expression(Tree node, Context& context);
  Result<Exprs> expressions(Tree list, Context& context);
  std::optional<Expr> group_key(Tree node, Context& context);
  Result<std::string> condition(Tree node, Context& context);
  Result<Expr> constant(Tree body);
  Result<Expr> column(Tree body, Context& context);
  Result<Expr> operation(Tree body, Context& context);
  Result<Expr> in_list(Tree body, Context& context);
  Result<Expr> between(Tree body, Context& context);
  Result<Expr> boolean(Tree body, Context& context);
  Result<Expr> case_of(Tree body, Context& context);
  Result<Expr> type_cast(Tree body, Context& context);
  Result<Expr> function(Tree body, Context& context);
  Result<Expr> aggregate(const std::string& name, Tree body, Context& context);
  Result<Expr> row_number(Tree body, Context& context);

  const std::vector<Table>& tables_;
  std::map<std::string, Tree> with_;
  std::vector<std::string> tie_probes_;
  int aliases_ = 0;
};

}  // namespace tidemark::verify
