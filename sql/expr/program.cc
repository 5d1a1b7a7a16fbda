#include "sql/expr/program.h"

#include <algorithm>

#include "sql/types/compare.h"

namespace tidemark::sql {

// Puts each expression's value into a register; the registers above it are free for the parts.
class ProgramCompiler {
 public:
  explicit ProgramCompiler(Program& program) : out_(program) {}

  void compile(const Expression& e, uint32_t target) {
    out_.register_count_ = std::max(out_.register_count_, target + 1);
    switch (e.kind) {
      case ExpressionKind::Constant: {
        out_.constants_.push_back(e.constant);
        emit({.code = Code::Constant,
              .target = target,
              .source = static_cast<uint32_t>(out_.constants_.size() - 1)});
        return;
      }
      case ExpressionKind::Column:
        emit({.code = Code::Column, .target = target, .source = static_cast<uint32_t>(e.index)});
        return;
      case ExpressionKind::Param:
        emit({.code = Code::Param, .target = target, .source = static_cast<uint32_t>(e.index)});
        return;
      case ExpressionKind::Outer:
        emit({.code = Code::Outer, .target = target, .source = static_cast<uint32_t>(e.index)});
        return;
      case ExpressionKind::Call:
        compile_args(e, target);
        emit({.code = e.function->strict ? Code::Call : Code::CallNullable,
              .count = static_cast<uint32_t>(e.args.size()),
              .target = target,
              .function = e.function});
        return;
      case ExpressionKind::Modifier:
        compile_args(e, target);
        out_.types_.push_back(e.type);
        emit({.code = Code::Modifier,
              .detail = static_cast<uint8_t>(e.context),
              .target = target,
              .source = static_cast<uint32_t>(out_.types_.size() - 1)});
        return;
      case ExpressionKind::And: compile_logic(e, target, Code::And, Code::JumpIfFalse); return;
      case ExpressionKind::Or: compile_logic(e, target, Code::Or, Code::JumpIfTrue); return;
      case ExpressionKind::Not: compile_simple(e, target, Code::Not); return;
      case ExpressionKind::IsNull: compile_simple(e, target, Code::IsNull); return;
      case ExpressionKind::IsTruth: compile_simple(e, target, Code::IsTruth); return;
      case ExpressionKind::Distinct: compile_simple(e, target, Code::Distinct); return;
      case ExpressionKind::NullIf: compile_simple(e, target, Code::NullIf); return;
      case ExpressionKind::Greatest: compile_simple(e, target, Code::Greatest); return;
      case ExpressionKind::Least: compile_simple(e, target, Code::Least); return;
      case ExpressionKind::In: compile_in(e, target); return;
      case ExpressionKind::Case: compile_case(e, target); return;
      case ExpressionKind::Coalesce: compile_coalesce(e, target); return;
      case ExpressionKind::Let:
        compile(*e.args[0], target);
        slots_.push_back({e.index, target});
        compile(*e.args[1], target + 1);
        slots_.pop_back();
        emit({.code = Code::Copy, .target = target, .source = target + 1});
        return;
      case ExpressionKind::Slot:
        emit({.code = Code::Copy, .target = target, .source = slot(e.index)});
        return;
    }
  }

 private:
  using Code = Program::Code;
  using Instruction = Program::Instruction;

  size_t emit(Instruction instruction) {
    out_.code_.push_back(instruction);
    return out_.code_.size() - 1;
  }
  void land(const std::vector<size_t>& jumps) {
    for (size_t jump : jumps) out_.code_[jump].source = static_cast<uint32_t>(out_.code_.size());
  }
  uint32_t slot(int index) const {
    for (auto it = slots_.rbegin(); it != slots_.rend(); ++it) {
      if (it->index == index) return it->target;
    }
    TM_UNREACHABLE();
  }

  void compile_args(const Expression& e, uint32_t target) {
    for (size_t i = 0; i < e.args.size(); ++i) compile(*e.args[i], target + static_cast<uint32_t>(i));
  }

  void compile_simple(const Expression& e, uint32_t target, Code code) {
    compile_args(e, target);
    emit({.code = code,
          .negated = e.negated,
          .detail = static_cast<uint8_t>(e.truth),
          .count = static_cast<uint32_t>(e.args.size()),
          .target = target,
          .function = e.function});
  }

  void compile_logic(const Expression& e, uint32_t target, Code code, Code decided) {
    std::vector<size_t> jumps;
    compile(*e.args[0], target);
    for (size_t i = 1; i < e.args.size(); ++i) {
      jumps.push_back(emit({.code = decided, .target = target}));
      compile(*e.args[i], target + 1);
      emit({.code = code, .target = target, .source = target + 1});
    }
    land(jumps);
  }

  // target: the value sought; target + 1: what is known so far; target + 2: the item; from target + 3 on: the
  // items that may fail, which are computed before the search.
  void compile_in(const Expression& e, uint32_t target) {
    const auto is_leaf = [](const Expression& item) { return item.args.empty(); };
    compile(*e.args[0], target);
    uint32_t computed = target + 3;
    for (size_t i = 1; i < e.args.size(); ++i) {
      if (!is_leaf(*e.args[i])) compile(*e.args[i], computed++);
    }
    out_.constants_.push_back(OwnedValue(Value::boolean(false)));
    emit({.code = Code::Constant,
          .target = target + 1,
          .source = static_cast<uint32_t>(out_.constants_.size() - 1)});
    std::vector<size_t> jumps;
    computed = target + 3;
    for (size_t i = 1; i < e.args.size(); ++i) {
      if (is_leaf(*e.args[i])) {
        compile(*e.args[i], target + 2);
      } else {
        emit({.code = Code::Copy, .target = target + 2, .source = computed++});
      }
      emit({.code = Code::InItem, .target = target, .function = e.function});
      jumps.push_back(emit({.code = Code::JumpIfTrue, .target = target + 1}));
    }
    land(jumps);
    if (e.negated) {
      emit({.code = Code::Not, .target = target + 1});
    }
    emit({.code = Code::Copy, .target = target, .source = target + 1});
  }

  void compile_case(const Expression& e, uint32_t target) {
    std::vector<size_t> ends;
    size_t i = 0;
    for (; i + 1 < e.args.size(); i += 2) {
      compile(*e.args[i], target);
      const size_t skip = emit({.code = Code::JumpIfNotTrue, .target = target});
      compile(*e.args[i + 1], target);
      ends.push_back(emit({.code = Code::Jump}));
      land({skip});
    }
    if (i < e.args.size()) {
      compile(*e.args[i], target);
    } else {
      out_.constants_.push_back(OwnedValue());
      emit({.code = Code::Constant,
            .target = target,
            .source = static_cast<uint32_t>(out_.constants_.size() - 1)});
    }
    land(ends);
  }

  void compile_coalesce(const Expression& e, uint32_t target) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < e.args.size(); ++i) {
      compile(*e.args[i], target);
      if (i + 1 < e.args.size()) ends.push_back(emit({.code = Code::JumpIfNotNull, .target = target}));
    }
    land(ends);
  }

  struct SlotRegister {
    int index;
    uint32_t target;
  };

  Program& out_;
  std::vector<SlotRegister> slots_;
};

Program::Program(std::span<const ExpressionPtr> expressions) {
  ProgramCompiler compiler(*this);
  for (size_t i = 0; i < expressions.size(); ++i) {
    results_.push_back(static_cast<uint32_t>(i));
    compiler.compile(*expressions[i], static_cast<uint32_t>(i));
  }
}

Program::Program(const Expression& expression) {
  results_.push_back(0);
  ProgramCompiler(*this).compile(expression, 0);
}

namespace {

bool is_true(const Value& value) {
  return !value.is_null() && value.as_bool();
}
bool is_false(const Value& value) {
  return !value.is_null() && !value.as_bool();
}

Value logical_and(const Value& a, const Value& b) {
  if (is_false(a) || is_false(b)) return Value::boolean(false);
  return a.is_null() || b.is_null() ? Value::null() : Value::boolean(true);
}

Value logical_or(const Value& a, const Value& b) {
  if (is_true(a) || is_true(b)) return Value::boolean(true);
  return a.is_null() || b.is_null() ? Value::null() : Value::boolean(false);
}

bool is_truth(const Value& value, Truth truth) {
  switch (truth) {
    case Truth::True: return is_true(value);
    case Truth::False: return is_false(value);
    case Truth::Unknown: return value.is_null();
  }
  TM_UNREACHABLE();
}

bool is_distinct(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return a.is_null() != b.is_null();
  return compare_values(a, b) != 0;
}

// NULLs do not count.
Value extreme(const Value* args, size_t count, int wanted) {
  Value out;
  for (size_t i = 0; i < count; ++i) {
    if (args[i].is_null()) continue;
    if (out.is_null() || compare_values(args[i], out) == wanted) out = args[i];
  }
  return out;
}

bool has_null(const Value* args, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (args[i].is_null()) return true;
  }
  return false;
}

// x IN (...): target is x, target + 1 the answer so far, target + 2 the item.
Fault compare_item(Evaluation& evaluation, const Function& equals, Value* target) {
  if (target[0].is_null() || target[2].is_null()) {
    target[1] = Value::null();
    return kOk;
  }
  if (equals.args[0] == equals.args[1]) {
    if (compare_values(target[0], target[2]) == 0) target[1] = Value::boolean(true);
    return kOk;
  }
  const Value sides[] = {target[0], target[2]};
  Value equal;
  TM_SQL_TRY(equals.call(evaluation, sides, 2, equal));
  if (is_true(equal)) target[1] = Value::boolean(true);
  return kOk;
}

Fault null_if(Evaluation& evaluation, const Function& equals, Value* target) {
  if (has_null(target, 2)) return kOk;
  Value equal;
  TM_SQL_TRY(equals.call(evaluation, target, 2, equal));
  if (is_true(equal)) target[0] = Value::null();
  return kOk;
}

}  // namespace

Fault Program::step(Evaluation& evaluation, const RowInput& row, const Instruction& in, Value* registers,
                    size_t& next) const {
  Value* target = registers + in.target;
  switch (in.code) {
    case Code::Column: *target = row.get(static_cast<int>(in.source)); return kOk;
    case Code::Constant: *target = constants_[in.source].get(); return kOk;
    case Code::Param: *target = evaluation.params[in.source]; return kOk;
    case Code::Outer: *target = evaluation.outer[in.source]; return kOk;
    case Code::Copy: *target = registers[in.source]; return kOk;
    case Code::Call:
      if (has_null(target, in.count)) {
        *target = Value::null();
        return kOk;
      }
      return in.function->call(evaluation, target, in.count, *target);
    case Code::CallNullable: return in.function->call(evaluation, target, in.count, *target);
    case Code::Modifier:
      return apply_modifier(types_[in.source], static_cast<CastContext>(in.detail), evaluation.arena,
                            *target);
    case Code::Not:
      if (!target->is_null()) *target = Value::boolean(!target->as_bool());
      return kOk;
    case Code::And: *target = logical_and(*target, registers[in.source]); return kOk;
    case Code::Or: *target = logical_or(*target, registers[in.source]); return kOk;
    case Code::IsNull: *target = Value::boolean(target->is_null() != in.negated); return kOk;
    case Code::IsTruth:
      *target = Value::boolean(is_truth(*target, static_cast<Truth>(in.detail)) != in.negated);
      return kOk;
    case Code::Distinct:
      *target = Value::boolean(is_distinct(target[0], target[1]) != in.negated);
      return kOk;
    case Code::InItem: return compare_item(evaluation, *in.function, target);
    case Code::NullIf: return null_if(evaluation, *in.function, target);
    case Code::Greatest: *target = extreme(target, in.count, 1); return kOk;
    case Code::Least: *target = extreme(target, in.count, -1); return kOk;
    case Code::Jump: next = in.source; return kOk;
    case Code::JumpIfFalse:
      if (is_false(*target)) next = in.source;
      return kOk;
    case Code::JumpIfTrue:
      if (is_true(*target)) next = in.source;
      return kOk;
    case Code::JumpIfNotTrue:
      if (!is_true(*target)) next = in.source;
      return kOk;
    case Code::JumpIfNotNull:
      if (!target->is_null()) next = in.source;
      return kOk;
  }
  TM_UNREACHABLE();
}

Fault Program::run(Evaluation& evaluation, const RowInput& row, std::span<Value> results) const& {
  TM_ASSERT(results.size() == results_.size());
  if (evaluation.registers.size() < register_count_) evaluation.registers.resize(register_count_);
  Value* registers = evaluation.registers.data();
  const size_t bytes_max = evaluation.arena.used_bytes() + kRunBytesMax;
  for (size_t next = 0; next < code_.size();) {
    const Instruction& instruction = code_[next++];
    TM_SQL_TRY(step(evaluation, row, instruction, registers, next));
    if (evaluation.arena.used_bytes() > bytes_max) [[unlikely]]
      return {sqlstate::kOutOfMemory, "the expressions of a row need more memory than they may have"};
  }
  for (size_t i = 0; i < results_.size(); ++i) results[i] = registers[results_[i]];
  return kOk;
}

}  // namespace tidemark::sql
