// Expressions compiled to a flat program over registers, run row by row without allocation of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/expr/evaluation.h"
#include "sql/expr/expression.h"
#include "sql/types/row_encoding.h"

namespace tidemark::sql {

// The row that expressions read: decoded values, or one or two encoded rows, of which only the columns that
// are used are decoded. The second row's columns follow the first's.
class RowInput {
 public:
  explicit RowInput(const Value* values) : values_(values) {}
  explicit RowInput(const RowView& row) : first_(&row), split_(static_cast<int>(row.column_count())) {}
  RowInput(const RowView& first, const RowView& second)
      : first_(&first), second_(&second), split_(static_cast<int>(first.column_count())) {}

  Value get(int column) const {
    if (values_ != nullptr) return values_[column];
    return column < split_ ? first_->get(column) : second_->get(column - split_);
  }

 private:
  const Value* values_ = nullptr;
  const RowView* first_ = nullptr;
  const RowView* second_ = nullptr;
  int split_ = 0;
};

// What one run may take of its evaluation's arena; beyond, it fails with 53200.
inline constexpr size_t kRunBytesMax = size_t{64} << 20;

// Immutable once compiled; may be shared by threads, each with its own Evaluation.
class Program {
 public:
  Program() = default;
  explicit Program(std::span<const ExpressionPtr> expressions);
  explicit Program(const Expression& expression);

  size_t result_count() const { return results_.size(); }

  // Computes every expression into `results`, in order. They point into the row, the program's constants, the
  // parameters and evaluation.arena. On a fault, evaluation.take_error(fault) says more, and `results` are
  // undefined. REQUIRES: results.size() == result_count().
  Fault run(Evaluation& evaluation, const RowInput& row, std::span<Value> results) const&;
  // Of one expression.
  Fault run(Evaluation& evaluation, const RowInput& row, Value& result) const& {
    return run(evaluation, row, {&result, 1});
  }

  // Results may point to the program's constants: it must outlive them.
  Fault run(Evaluation& evaluation, const RowInput& row, std::span<Value> results) const&& = delete;
  Fault run(Evaluation& evaluation, const RowInput& row, Value& result) const&& = delete;

 private:
  friend class ProgramCompiler;

  enum class Code : uint8_t {
    Column,
    Constant,
    Param,
    Outer,
    Copy,
    Call,
    CallNullable,
    Modifier,
    Not,
    And,
    Or,
    IsNull,
    IsTruth,
    Distinct,
    InItem,
    NullIf,
    Greatest,
    Least,
    Jump,
    JumpIfFalse,
    JumpIfTrue,
    JumpIfNotTrue,
    JumpIfNotNull,
  };

  struct Instruction {
    Code code;
    bool negated = false;
    uint8_t detail = 0;   // Truth, CastContext.
    uint32_t count = 0;   // Arguments.
    uint32_t target = 0;  // The register that is written, the first of the arguments.
    uint32_t source = 0;  // A register, column, constant, parameter or place to jump to.
    const Function* function = nullptr;
  };

  Fault step(Evaluation& evaluation, const RowInput& row, const Instruction& instruction, Value* registers,
             size_t& next) const;

  std::vector<Instruction> code_;
  std::vector<OwnedValue> constants_;
  std::vector<SqlType> types_;     // Of Modifier instructions.
  std::vector<uint32_t> results_;  // Registers.
  uint32_t register_count_ = 0;
};

}  // namespace tidemark::sql
