// Which expressions a view takes for safe: one that is, and fails all the same, has no error set to go to.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sql/expr/program.h"
#include "sql/plan/expressions.h"
#include "sql/types/text_format.h"
#include "tests/sql/random_values.h"

namespace tidemark::sql {
namespace {

std::vector<Function> all_functions() {
  std::vector<Function> out;
  for (const auto& functions :
       {arithmetic_functions(), comparison_functions(), math_functions(), text_functions(), bytes_functions(),
        pattern_functions(), datetime_functions(), json_functions(), session_functions(), array_functions(),
        regex_functions(), catalog_functions(), cast_functions()}) {
    out.insert(out.end(), functions.begin(), functions.end());
  }
  return out;
}

ExpressionPtr call_of_columns(const Function& function) {
  std::vector<ExpressionPtr> args;
  for (int i = 0; i < function.arg_count; ++i) args.push_back(make_column(i, SqlType::of(function.args[i])));
  return make_call(&function, std::move(args), -1);
}

// Values that functions with limits stumble over.
std::vector<std::string> extremes(TypeKind kind) {
  switch (kind) {
    case TypeKind::Text: return {"", "\\", "abc\\", "%\\", "(", "[", "{", std::string(1 << 20, 'x')};
    case TypeKind::Numeric: return {"9e131071", "-9e131071", "1e-16383", "NaN", "Infinity", "-Infinity"};
    case TypeKind::Jsonb: return {"null", "[]", "{}", std::string(900, '[') + std::string(900, ']')};
    default: return {};
  }
}

class MayFailTest : public ::testing::Test {
 protected:
  MayFailTest() {
    for (TypeKind kind : {TypeKind::Text, TypeKind::Numeric, TypeKind::Jsonb}) {
      for (const std::string& text : extremes(kind)) {
        Value& value = extremes_[kind].emplace_back();
        EXPECT_TRUE(value_from_text(SqlType::of(kind), text, extremes_arena_, value).ok());
      }
    }
  }

  Value argument(TypeKind kind, Arena& arena) {
    const std::vector<Value>& some = extremes_[kind];
    return some.empty() || !random_.chance(30) ? random_.value(kind, arena) : random_.pick(some);
  }

  static std::string shown(const std::vector<Value>& row) {
    std::string out;
    for (const Value& value : row) append_text(value, out += ' ');
    return out.substr(0, 200);
  }

  void expect_no_fault(const Function& function) {
    const ExpressionPtr call = call_of_columns(function);
    const Program program(*call);
    Evaluation evaluation;
    for (int round = 0; round < 300; ++round) {
      Arena arena;
      std::vector<Value> row;
      for (int i = 0; i < function.arg_count; ++i) row.push_back(argument(function.args[i], arena));
      Value result;
      ASSERT_TRUE(program.run(evaluation, RowInput(row.data()), result).ok())
          << function.name << " of" << shown(row);
      // Many such calls in one row would come to the limit of its memory: so they are counted.
      const size_t allowed = count_copies(*call) == 0 ? 0 : row[0].as_bytes().size();
      ASSERT_LE(evaluation.arena.used_bytes(), allowed) << function.name;
      evaluation.arena.reset();
    }
  }

  testing::RandomValues random_{20240229};
  Arena extremes_arena_;
  std::map<TypeKind, std::vector<Value>> extremes_;
};

TEST_F(MayFailTest, WhatIsSaidNotToFailDoesNotForAnyArgumentsAndItsMemoryIsCounted) {
  std::set<std::string_view> safe;
  for (const Function& function : all_functions()) {
    if (may_fail(*call_of_columns(function))) continue;
    ASSERT_NE(function.call, nullptr) << function.name;
    safe.insert(function.name);
    expect_no_fault(function);
  }
  EXPECT_TRUE(safe.contains("="));  // Views that only compare have no error set.
}

}  // namespace
}  // namespace tidemark::sql
