// ORDER BY, and the first rows of each group.
#include <algorithm>

#include "sql/execute/operator.h"
#include "sql/types/key_encoding.h"

namespace tidemark::sql::execute {
namespace {

std::vector<ExpressionPtr> expressions_of(const std::vector<SortKey>& keys) {
  std::vector<ExpressionPtr> out;
  for (const SortKey& key : keys) out.push_back(clone(*key.expression));
  return out;
}

struct KeyedRow {
  std::string_view key;
  size_t group_bytes;  // At the front of the key: rows of one group have the same.
  size_t row;
};

// Takes all rows of its input, then gives them in the order of their keys.
class SortingOperator : public Operator {
 public:
  SortingOperator(const std::vector<SortKey>& order, size_t width, OperatorPtr input, Context& context)
      : input_(std::move(input)),
        context_(context),
        evaluation_(context.evaluation()),
        encoder_(order),
        rows_(width, context),
        input_width_(width) {}

  PullResult next(Batch& out) override {
    out.reset(0);
    if (!sorted_) {
      TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
      if (pull == Pull::Pending) return pull;
      if (pull == Pull::End) {
        // Equal rows stay in the order they came.
        std::stable_sort(keyed_.begin(), keyed_.end(),
                         [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
        sorted_ = true;
        return give(out);
      }
      TM_TRY(take_batch());
      return pull;  // No rows yet.
    }
    return give(out);
  }

 protected:
  virtual PullResult give(Batch& out) {
    out.reset(input_width_);
    if (at_ == keyed_.size()) return Pull::End;
    for (; at_ < keyed_.size() && !out.is_full(); ++at_) {
      std::copy_n(rows_.row(keyed_[at_].row), input_width_, out.add_row());
    }
    return Pull::Rows;
  }

  // Appends what comes before the order: nothing, or the group.
  virtual SqlStatus append_group(const Value*, std::string&) { return {}; }

  SqlStatus take_batch() {
    for (size_t i = 0; i < batch_.row_count(); ++i) {
      key_.clear();
      evaluation_.arena.reset();
      TM_TRY(append_group(batch_.row(i), key_));
      const size_t group_bytes = key_.size();
      TM_TRY(encoder_.append(evaluation_, batch_.row(i), key_));
      TM_TRY(rows_.add(batch_.row(i)));
      TM_TRY(context_.hold(key_.size() + sizeof(KeyedRow)));
      keyed_.push_back({keys_.copy(key_), group_bytes, rows_.row_count() - 1});
    }
    return {};
  }

  OperatorPtr input_;
  Context& context_;
  Evaluation evaluation_;
  SortKeyEncoder encoder_;
  KeptRows rows_;
  size_t input_width_;
  Batch batch_;
  Arena keys_;
  std::string key_;
  std::vector<KeyedRow> keyed_;
  bool sorted_ = false;
  size_t at_ = 0;
};

class TopKOperator : public SortingOperator {
 public:
  TopKOperator(const Relation& relation, OperatorPtr input, Context& context)
      : SortingOperator(relation.order, relation.inputs[0]->columns.size(), std::move(input), context),
        groups_(relation.expressions),
        group_values_(relation.expressions.size()),
        limit_(relation.top_limit.value_or(INT64_MAX)) {}

 protected:
  SqlStatus append_group(const Value* row, std::string& out) override {
    const Fault fault = groups_.run(evaluation_, RowInput(row), group_values_);
    if (!fault.ok()) return evaluation_.take_error(fault);
    for (const Value& value : group_values_) append_key(value, SortOrder::Ascending, out);
    return {};
  }

  PullResult give(Batch& out) override {
    out.reset(input_width_ + 1);
    if (at_ == keyed_.size()) return Pull::End;
    for (; at_ < keyed_.size() && !out.is_full(); ++at_) {
      const KeyedRow& keyed = keyed_[at_];
      const std::string_view group = keyed.key.substr(0, keyed.group_bytes);
      number_ = at_ > 0 && group == group_ ? number_ + 1 : 1;
      group_ = group;
      if (number_ > limit_) continue;
      Value* row = out.add_row();
      std::copy_n(rows_.row(keyed.row), input_width_, row);
      row[input_width_] = Value::bigint(number_);
    }
    return Pull::Rows;
  }

 private:
  Program groups_;
  std::vector<Value> group_values_;
  int64_t limit_;
  std::string_view group_;
  int64_t number_ = 0;
};

}  // namespace

SortKeyEncoder::SortKeyEncoder(const std::vector<SortKey>& keys)
    : program_(expressions_of(keys)), values_(keys.size()) {
  for (const SortKey& key : keys) parts_.push_back({key.descending, key.nulls_first});
}

SqlStatus SortKeyEncoder::append(Evaluation& evaluation, const Value* row, std::string& out) {
  const Fault fault = program_.run(evaluation, RowInput(row), values_);
  if (!fault.ok()) return evaluation.take_error(fault);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const bool is_null = values_[i].is_null();
    out.push_back(is_null == parts_[i].nulls_first ? '\0' : '\1');
    if (!is_null)
      append_key(values_[i], parts_[i].descending ? SortOrder::Descending : SortOrder::Ascending, out);
  }
  return {};
}

OperatorPtr make_sort(const Relation& relation, OperatorPtr input, Context& context) {
  return std::make_unique<SortingOperator>(relation.order, relation.inputs[0]->columns.size(),
                                           std::move(input), context);
}

// Without an order they stay as they came.
OperatorPtr make_whole(size_t width, OperatorPtr input, Context& context) {
  return std::make_unique<SortingOperator>(std::vector<SortKey>(), width, std::move(input), context);
}

OperatorPtr make_top_k(const Relation& relation, OperatorPtr input, Context& context) {
  return std::make_unique<TopKOperator>(relation, std::move(input), context);
}

}  // namespace tidemark::sql::execute
