#include "sql/expr/function.h"

namespace tidemark::sql {

FunctionRegistry::FunctionRegistry() {
  for (const auto& functions :
       {arithmetic_functions(), comparison_functions(), math_functions(), text_functions(), bytes_functions(),
        pattern_functions(), datetime_functions(), json_functions(), session_functions(), array_functions(),
        regex_functions(), catalog_functions()}) {
    add(functions);
  }
}

void FunctionRegistry::add(std::span<const Function> functions) {
  const std::vector<Function>& kept = owned_.emplace_back(functions.begin(), functions.end());
  for (const Function& function : kept) by_name_[std::string(function.name)].push_back(&function);
}

std::span<const Function* const> FunctionRegistry::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return {};
  return found->second;
}

const FunctionRegistry& FunctionRegistry::builtin() {
  static const FunctionRegistry registry;
  return registry;
}

const Function* find_cast(TypeKind from, TypeKind to) {
  using Table = std::array<std::array<const Function*, kTypeKindCount>, kTypeKindCount>;
  static const std::vector<Function> functions = cast_functions();
  static const Table table = [] {
    Table out{};
    for (const Function& function : functions) {
      out[static_cast<size_t>(function.args[0])][static_cast<size_t>(function.result)] = &function;
    }
    return out;
  }();
  return table[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

}  // namespace tidemark::sql
