// GROUP BY and DISTINCT: a hash table of the groups.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sql/execute/accumulator.h"
#include "sql/execute/operator.h"
#include "sql/types/key_encoding.h"

namespace tidemark::sql::execute {
namespace {

class AggregateOperator : public Operator {
 public:
  AggregateOperator(const Relation& relation, OperatorPtr input, Context& context)
      : relation_(relation),
        input_(std::move(input)),
        context_(context),
        evaluation_(context.evaluation()),
        groups_(relation.expressions),
        group_values_(relation.expressions.size()),
        kept_(relation.expressions.size(), context) {
    for (const AggregateCall& call : relation.aggregates) {
      args_.push_back(call.arg != nullptr ? std::make_unique<Program>(*call.arg) : nullptr);
      filters_.push_back(call.filter != nullptr ? std::make_unique<Program>(*call.filter) : nullptr);
    }
  }

  PullResult next(Batch& out) override {
    out.reset(relation_.columns.size());
    if (!done_) {
      TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
      if (pull == Pull::Pending) return pull;
      if (pull == Pull::End) {
        done_ = true;
        if (relation_.expressions.empty() && states_.empty()) TM_TRY(add_group());
        return give(out);
      }
      for (size_t i = 0; i < batch_.row_count(); ++i) TM_TRY(take_row(batch_.row(i)));
      return pull;  // No rows yet; the caller may have other things to do before it asks again.
    }
    return give(out);
  }

 private:
  SqlStatus add_group() {
    TM_TRY(kept_.add(group_values_.data()));
    states_.emplace_back(relation_.aggregates.size());
    return context_.hold(relation_.aggregates.size() * sizeof(Accumulator));
  }

  SqlStatus take_row(const Value* row) {
    evaluation_.arena.reset();
    TM_TRY(context_.run(groups_, evaluation_, row, group_values_));
    key_.clear();
    for (const Value& value : group_values_) append_key(value, SortOrder::Ascending, key_);
    const auto [found, is_new] = index_.try_emplace(key_, states_.size());
    if (is_new) {
      TM_TRY(context_.hold(key_.size()));
      TM_TRY(add_group());
    }
    std::vector<Accumulator>& state = states_[found->second];
    for (size_t i = 0; i < state.size(); ++i) TM_TRY(take_value(i, row, state[i]));
    return {};
  }

  SqlStatus take_value(size_t index, const Value* row, Accumulator& state) {
    Value value;
    if (filters_[index] != nullptr) {
      TM_TRY(context_.run(*filters_[index], evaluation_, row, {&value, 1}));
      if (value.is_null() || !value.as_bool()) return {};
    }
    const AggregateCall& call = relation_.aggregates[index];
    const size_t before = arena_.used_bytes() + state.held_bytes();
    if (args_[index] != nullptr) {
      TM_TRY(context_.run(*args_[index], evaluation_, row, {&value, 1}));
      if (value.is_null()) return {};
      if (call.distinct && !state.is_first(value)) return {};
    }
    if (const Fault fault = state.add(call, value, arena_); !fault.ok()) return to_error(fault);
    return context_.hold(arena_.used_bytes() + state.held_bytes() - before);
  }

  PullResult give(Batch& out) {
    if (at_ == states_.size()) return Pull::End;
    for (; at_ < states_.size() && !out.is_full(); ++at_) {
      Value* row = out.add_row();
      std::copy_n(kept_.row(at_), relation_.expressions.size(), row);
      for (size_t i = 0; i < relation_.aggregates.size(); ++i) {
        const Fault fault =
            states_[at_][i].result(relation_.aggregates[i], out.arena, row[relation_.expressions.size() + i]);
        if (!fault.ok()) return to_error(fault);
      }
    }
    return Pull::Rows;
  }

  const Relation& relation_;
  OperatorPtr input_;
  Context& context_;
  Evaluation evaluation_;
  Program groups_;
  std::vector<Value> group_values_;
  std::vector<std::unique_ptr<Program>> args_, filters_;
  Batch batch_;
  std::string key_;
  std::unordered_map<std::string, size_t> index_;
  KeptRows kept_;
  std::vector<std::vector<Accumulator>> states_;
  Arena arena_;
  bool done_ = false;
  size_t at_ = 0;
};

class DistinctOperator : public Operator {
 public:
  DistinctOperator(OperatorPtr input, Context& context) : input_(std::move(input)), context_(context) {}

  PullResult next(Batch& out) override {
    out.reset(0);
    TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
    out.reset(batch_.width());
    if (pull != Pull::Rows) return pull;
    for (size_t i = 0; i < batch_.row_count(); ++i) {
      std::string key;
      for (size_t column = 0; column < batch_.width(); ++column) {
        append_key(batch_.row(i)[column], SortOrder::Ascending, key);
      }
      const size_t size = key.size();
      if (!seen_.insert(std::move(key)).second) continue;
      TM_TRY(context_.hold(size));
      std::copy_n(batch_.row(i), batch_.width(), out.add_row());
    }
    return Pull::Rows;
  }

 private:
  OperatorPtr input_;
  Context& context_;
  Batch batch_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

OperatorPtr make_aggregate(const Relation& relation, OperatorPtr input, Context& context) {
  return std::make_unique<AggregateOperator>(relation, std::move(input), context);
}

OperatorPtr make_distinct(const Relation&, OperatorPtr input, Context& context) {
  return std::make_unique<DistinctOperator>(std::move(input), context);
}

}  // namespace tidemark::sql::execute
