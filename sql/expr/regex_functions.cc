// ~, ~*, !~ and !~*.
#include "sql/expr/function.h"
#include "sql/expr/regex.h"

namespace tidemark::sql {
namespace {

template <bool Negated, RegexCase Case>
Fault match(Evaluation& evaluation, const Value* args, int, Value& out) {
  const auto regex = Regex::compile(args[1].as_bytes(), Case);
  if (!regex.ok()) {
    return evaluation.fail(sqlstate::kInvalidRegularExpression,
                           "invalid regular expression: " + regex.error().message);
  }
  out = Value::boolean(regex->matches(args[0].as_bytes()) != Negated);
  return kOk;
}

}  // namespace

std::vector<Function> regex_functions() {
  constexpr TypeKind T = TypeKind::Text, B = TypeKind::Boolean;
  return {
      Function::of("~", {T, T}, B, match<false, RegexCase::Matters>),
      Function::of("!~", {T, T}, B, match<true, RegexCase::Matters>),
      Function::of("~*", {T, T}, B, match<false, RegexCase::Ignored>),
      Function::of("!~*", {T, T}, B, match<true, RegexCase::Ignored>),
  };
}

}  // namespace tidemark::sql
