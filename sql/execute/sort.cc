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

// What is left of the rows of one batch, in order: places in a list of keyed rows.
struct SortedRun {
  size_t next, end;
};

// Equal rows stay in the order they came.
struct ComesLater {
  const std::vector<KeyedRow>& rows;
  bool operator()(const SortedRun& a, const SortedRun& b) const {
    const int order = rows[a.next].key.compare(rows[b.next].key);
    return order != 0 ? order > 0 : a.next > b.next;
  }
};

// Takes all rows of its input, then gives them in the order of their keys. Sorts each batch as it comes and
// merges them as it gives, so that no turn is long.
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
    if (!all_taken_) {
      TM_SQL_ASSIGN(const Pull pull, input_->next(batch_));
      if (pull == Pull::Rows) TM_TRY(take_batch());
      if (pull != Pull::End) return pull;  // No rows yet.
      all_taken_ = true;
    }
    return give(out);
  }

 protected:
  virtual PullResult give(Batch& out) {
    out.reset(input_width_);
    if (runs_.empty()) return Pull::End;
    for (; !runs_.empty() && !out.is_full() && context_.has_turn(); pass_first()) {
      std::copy_n(rows_.row(first().row), input_width_, out.add_row());
    }
    return Pull::Rows;
  }

  // The first row that was not passed. REQUIRES: there is a run.
  const KeyedRow& first() const { return keyed_[runs_.front().next]; }
  void pass_first() {
    context_.spend(1);
    std::pop_heap(runs_.begin(), runs_.end(), ComesLater{keyed_});
    SortedRun run = runs_.back();
    runs_.pop_back();
    if (++run.next < run.end) add(run);
  }

  // Appends what comes before the order: nothing, or the group.
  virtual SqlStatus append_group(const Value*, std::string&) { return {}; }

  SqlStatus take_batch() {
    const size_t begin = keyed_.size();
    for (size_t i = 0; i < batch_.row_count(); ++i) {
      key_.clear();
      evaluation_.arena.reset();
      TM_TRY(append_group(batch_.row(i), key_));
      const size_t group_bytes = key_.size();
      TM_TRY(encoder_.append(context_, evaluation_, batch_.row(i), key_));
      TM_TRY(rows_.add(batch_.row(i)));
      TM_TRY(context_.hold(key_.size() + sizeof(KeyedRow)));
      keyed_.push_back({keys_.copy(key_), group_bytes, rows_.row_count() - 1});
    }
    if (begin == keyed_.size()) return {};
    std::stable_sort(keyed_.begin() + static_cast<ptrdiff_t>(begin), keyed_.end(),
                     [](const KeyedRow& a, const KeyedRow& b) { return a.key < b.key; });
    add({begin, keyed_.size()});
    return context_.hold(sizeof(SortedRun));
  }

  void add(SortedRun run) {
    runs_.push_back(run);
    std::push_heap(runs_.begin(), runs_.end(), ComesLater{keyed_});
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
  std::vector<SortedRun> runs_;  // A heap.
  bool all_taken_ = false;
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
    TM_TRY(context_.run(groups_, evaluation_, row, group_values_));
    for (const Value& value : group_values_) append_key(value, SortOrder::Ascending, out);
    return {};
  }

  PullResult give(Batch& out) override {
    out.reset(input_width_ + 1);
    if (runs_.empty()) return Pull::End;
    for (; !runs_.empty() && !out.is_full() && context_.has_turn(); pass_first()) {
      const KeyedRow& keyed = first();
      const std::string_view group = keyed.key.substr(0, keyed.group_bytes);
      number_ = group == group_ ? number_ + 1 : 1;
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

SqlStatus SortKeyEncoder::append(Context& context, Evaluation& evaluation, const Value* row,
                                 std::string& out) {
  TM_TRY(context.run(program_, evaluation, row, values_));
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
