// Functions of several rows: each row of the input once per value.
#include <algorithm>

#include "sql/execute/operator.h"
#include "sql/types/array_text.h"

namespace tidemark::sql::execute {
namespace {

constexpr uint64_t kSeriesMax = 10'000'000;

class ExpandOperator : public Operator {
 public:
  ExpandOperator(const Relation& relation, OperatorPtr input, Context& context)
      : relation_(relation),
        context_(context),
        input_(std::move(input), context),
        args_(relation.expressions),
        evaluation_(context.evaluation()) {
    const std::optional<SplitKind> kind = split_kind_of(relation.set_function);
    if (!kind) return;
    const bool by_pattern = *kind == SplitKind::ByPattern;
    splitter_.emplace(*kind, by_pattern ? &relation.expressions[1]->constant.get() : nullptr);
  }

  PullResult next(Batch& out) override {
    out.reset(relation_.columns.size());
    TM_SQL_ASSIGN(const Pull pull, input_.fill());
    if (pull != Pull::Rows) return pull;
    while (input_.has_row() && !out.is_full()) {
      if (!started_) TM_TRY(start(input_.row()));
      for (; next_ <= last_ && !out.is_full(); ++next_) {
        Value* row = out.add_row();
        std::copy_n(input_.row(), input_.width(), row);
        row[input_.width()] = value(out.arena);
      }
      if (next_ <= last_) break;
      started_ = false;
      input_.pass();
    }
    context_.spend(out.row_count());
    return Pull::Rows;
  }

 private:
  SqlStatus start(const Value* row) {
    evaluation_.arena.reset();
    std::vector<Value> args(relation_.expressions.size());
    TM_TRY(context_.run(args_, evaluation_, row, args));
    started_ = true;
    next_ = 1;
    last_ = 0;
    if (splitter_) {
      splitter_->split(args[0], args[1], words_);
      context_.spend(words_.size());
      last_ = static_cast<int64_t>(words_.size());
      return {};
    }
    if (std::any_of(args.begin(), args.end(), [](const Value& arg) { return arg.is_null(); })) return {};
    if (relation_.set_function == SetFunction::Series) {
      next_ = args[0].as_int();
      last_ = args[1].as_int();
      if (last_ > next_ && static_cast<uint64_t>(last_) - static_cast<uint64_t>(next_) >= kSeriesMax) {
        return SqlError{
            sqlstate::kProgramLimitExceeded, "generate_series gives at most 10,000,000 values", 0, {}, {}};
      }
      last_ = std::min(last_, INT64_MAX - 1);
      return {};
    }
    auto elements = parse_array(args[0].as_bytes());
    if (!elements) {
      return SqlError{sqlstate::kInvalidTextRepresentation,
                      "malformed array literal: \"" + std::string(args[0].as_bytes()) + "\"",
                      0,
                      {},
                      {}};
    }
    elements_ = std::move(*elements);
    context_.spend(elements_.size());
    last_ = static_cast<int64_t>(elements_.size());
    return {};
  }

  Value value(Arena& arena) const {
    if (relation_.set_function == SetFunction::Series) {
      return Value::of_int(relation_.columns.back().type.kind, next_);
    }
    if (splitter_) return Value::text(arena.copy(words_[next_ - 1]));
    const ArrayElement& element = elements_[next_ - 1];
    if (relation_.set_function == SetFunction::ExpandArray) {
      return Value::text(arena.copy("(" + element.value_or("") + "," + std::to_string(next_) + ")"));
    }
    return element ? Value::text(arena.copy(*element)) : Value::null();
  }

  const Relation& relation_;
  Context& context_;
  InputRows input_;
  Program args_;
  Evaluation evaluation_;
  bool started_ = false;
  int64_t next_ = 1, last_ = 0;
  std::vector<ArrayElement> elements_;
  std::optional<Splitter> splitter_;
  std::vector<std::string_view> words_;  // In the row, or in the evaluation's arena.
};

}  // namespace

OperatorPtr make_expand(const Relation& relation, OperatorPtr input, Context& context) {
  return std::make_unique<ExpandOperator>(relation, std::move(input), context);
}

}  // namespace tidemark::sql::execute
