// Scalar functions, operators and casts: one table for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/expr/evaluation.h"
#include "sql/types/sql_type.h"

namespace tidemark::sql {

// Stable: the same throughout a statement (now()). Views take immutable functions only.
enum class Volatility : uint8_t { Immutable, Stable, Volatile };

// Computes `out` from `args`. `out` may be args[0]: it is written last. With a strict function no argument is
// NULL.
using ScalarCall = Fault (*)(Evaluation& evaluation, const Value* args, int count, Value& out);

struct Function {
  static constexpr int kArgsMax = 4;

  std::string_view name;  // An operator's is its symbol.
  std::array<TypeKind, kArgsMax> args{};
  int arg_count = 0;
  TypeKind result = TypeKind::Null;
  ScalarCall call = nullptr;  // Null: mirrored, or known but refused with `hint`.
  bool strict = true;
  Volatility volatility = Volatility::Immutable;
  bool variadic = false;  // Takes any more arguments of any type, given as text.
  bool mirrored = false;  // An operator that is another one turned round: b comes before a in a + b.
  std::string_view hint = {};
  // A query of one value instead of `call`, its arguments as $1, $2, ...: what catalog tables answer.
  std::string_view body = {};

  static Function of(std::string_view name, std::initializer_list<TypeKind> args, TypeKind result,
                     ScalarCall call) {
    Function out;
    out.name = name;
    for (TypeKind kind : args) out.args[out.arg_count++] = kind;
    out.result = result;
    out.call = call;
    return out;
  }
};

// All functions by name. Built once; pointers into it stay valid as long as it lives.
class FunctionRegistry {
 public:
  // With the built-in ones.
  FunctionRegistry();
  FunctionRegistry(const FunctionRegistry&) = delete;
  FunctionRegistry& operator=(const FunctionRegistry&) = delete;

  // REQUIRES: nothing points into the registry yet.
  void add(std::span<const Function> functions);

  std::span<const Function* const> find(std::string_view name) const;

  static const FunctionRegistry& builtin();

 private:
  std::vector<std::vector<Function>> owned_;
  std::map<std::string, std::vector<const Function*>, std::less<>> by_name_;
};

// The cast between two kinds that differ, or null. How far it is allowed: is_implicit_cast,
// is_assignment_cast.
const Function* find_cast(TypeKind from, TypeKind to);

// The built-in tables, one per file.
std::vector<Function> arithmetic_functions();
std::vector<Function> comparison_functions();
std::vector<Function> math_functions();
std::vector<Function> text_functions();
std::vector<Function> bytes_functions();
std::vector<Function> pattern_functions();
std::vector<Function> datetime_functions();
std::vector<Function> json_functions();
std::vector<Function> session_functions();
std::vector<Function> array_functions();
std::vector<Function> regex_functions();
std::vector<Function> catalog_functions();
std::vector<Function> cast_functions();

}  // namespace tidemark::sql
