// A query in an expression: run for each row of the input, once for the same values.
#include <algorithm>
#include <unordered_map>

#include "sql/execute/operator.h"
#include "sql/types/array_text.h"
#include "sql/types/key_encoding.h"
#include "sql/types/text_format.h"

namespace tidemark::sql::execute {
namespace {

constexpr size_t kArrayBytesMax = 16 << 20;

// What becomes of the rows of one run.
class Outcome {
 public:
  explicit Outcome(SubqueryUse use) : use_(use) {}

  // True: the rest does not matter.
  Result<bool, SqlError> take(const Value* row) {
    switch (use_) {
      case SubqueryUse::Exists: value_ = OwnedValue(Value::boolean(true)); return true;
      case SubqueryUse::Scalar:
        if (rows_++ > 0) {
          return SqlError{sqlstate::kCardinalityViolation,
                          "more than one row returned by a subquery used as an expression",
                          0,
                          {},
                          {}};
        }
        value_ = OwnedValue(row[0]);
        return false;
      case SubqueryUse::Array:
        append_array_element(row[0].is_null() ? ArrayElement() : ArrayElement(to_text(row[0])), array_);
        if (array_.size() > kArrayBytesMax)
          return SqlError{sqlstate::kProgramLimitExceeded, "the array is too long", 0, {}, {}};
        return false;
      case SubqueryUse::Any:
      case SubqueryUse::All:
        if (row[0].is_null()) {
          has_null_ = true;
          return false;
        }
        decided_ = row[0].as_bool() == (use_ == SubqueryUse::Any);
        return decided_;
    }
    TM_UNREACHABLE();
  }

  // That its value takes.
  size_t bytes() const { return array_.size() + value_.memory_bytes(); }

  OwnedValue finish() {
    switch (use_) {
      case SubqueryUse::Scalar: return std::move(value_);
      case SubqueryUse::Exists:
        return value_.get().is_null() ? OwnedValue(Value::boolean(false)) : std::move(value_);
      case SubqueryUse::Array: return OwnedValue(Value::text(array_ + "}"));
      case SubqueryUse::Any:
      case SubqueryUse::All:
        if (!decided_ && has_null_) return {};
        return OwnedValue(Value::boolean(decided_ == (use_ == SubqueryUse::Any)));
    }
    TM_UNREACHABLE();
  }

 private:
  SubqueryUse use_;
  int rows_ = 0;
  bool decided_ = false, has_null_ = false;
  OwnedValue value_;
  std::string array_ = "{";
};

class ApplyOperator : public Operator {
 public:
  ApplyOperator(const Relation& relation, OperatorPtr input, Context& context)
      : relation_(relation),
        context_(context),
        input_(std::move(input), context),
        values_(relation.expressions),
        evaluation_(context.evaluation()),
        is_repeatable_(volatility_of(*relation.inputs[1]) != Volatility::Volatile) {}

  PullResult next(Batch& out) override {
    out.reset(relation_.columns.size());
    results_.clear();
    TM_SQL_ASSIGN(const Pull pull, input_.fill());
    if (pull != Pull::Rows) return pull;
    for (; input_.has_row() && !out.is_full(); input_.pass()) {
      TM_SQL_ASSIGN(const OwnedValue* result, result_of(input_.row()));
      if (result == nullptr) return out.row_count() > 0 ? Pull::Rows : waits_for_;
      Value* row = out.add_row();
      std::copy_n(input_.row(), input_.width(), row);
      row[input_.width()] = result->get();
    }
    return Pull::Rows;
  }

 private:
  // Null: not yet.
  Result<const OwnedValue*, SqlError> result_of(const Value* row) {
    if (run_ == nullptr) {
      TM_TRY(start(row));
      if (const auto known = known_.find(key_); is_repeatable_ && known != known_.end()) {
        return &known->second;
      }
      context_.spend(kRowsPerRun);
      held_before_ = context_.memory_bytes;
      TM_SQL_ASSIGN(run_, make_operator(*relation_.inputs[1], context_));
      outcome_ = Outcome(relation_.subquery);
    }
    TM_SQL_ASSIGN(const bool done, advance());
    if (!done) return static_cast<const OwnedValue*>(nullptr);
    run_ = nullptr;
    context_.memory_bytes = held_before_;  // What the run held is free again.
    TM_TRY(context_.hold(key_.size() + sizeof(OwnedValue) + outcome_.bytes()));
    if (is_repeatable_) return &known_.insert_or_assign(key_, outcome_.finish()).first->second;
    return results_.emplace_back(std::make_unique<OwnedValue>(outcome_.finish())).get();
  }

  SqlStatus start(const Value* row) {
    evaluation_.arena.reset();
    std::vector<Value> values(relation_.slots.size());
    TM_TRY(context_.run(values_, evaluation_, row, values));
    key_.clear();
    for (size_t i = 0; i < values.size(); ++i) {
      context_.outer[relation_.slots[i]] = values[i];
      append_known(values[i]);
    }
    return {};
  }

  // Equal is not enough: the query may tell 1.0 from 1.00.
  void append_known(const Value& value) {
    if (!has_equal_values_that_differ(value.kind())) return append_key(value, SortOrder::Ascending, key_);
    append_key(Value::text(to_text(value)), SortOrder::Ascending, key_);
  }

  // True: the run has ended. Else `waits_for_` is what the caller is told: a long run takes several turns.
  Result<bool, SqlError> advance() {
    do {
      TM_SQL_ASSIGN(waits_for_, run_->next(rows_));
      if (waits_for_ == Pull::Pending) return false;
      if (waits_for_ == Pull::End) return true;
      for (size_t i = 0; i < rows_.row_count(); ++i) {
        TM_SQL_ASSIGN(const bool decided, outcome_.take(rows_.row(i)));
        if (decided) return true;
      }
    } while (context_.has_turn());
    return false;
  }

  const Relation& relation_;
  Context& context_;
  InputRows input_;
  Program values_;
  Evaluation evaluation_;
  const bool is_repeatable_;

  static constexpr size_t kRowsPerRun = 32;  // What making the operators takes, in rows of a turn.

  Pull waits_for_ = Pull::Rows;
  OperatorPtr run_;  // For the present row, if it has begun.
  size_t held_before_ = 0;
  Outcome outcome_{SubqueryUse::Scalar};
  Batch rows_;
  std::string key_;
  std::unordered_map<std::string, OwnedValue> known_;  // By the values it was run for.
  std::vector<std::unique_ptr<OwnedValue>> results_;   // Given last, where runs differ.
};

}  // namespace

OperatorPtr make_apply(const Relation& relation, OperatorPtr input, Context& context) {
  return std::make_unique<ApplyOperator>(relation, std::move(input), context);
}

}  // namespace tidemark::sql::execute
