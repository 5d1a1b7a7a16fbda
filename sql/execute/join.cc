// Inner and left joins: the right side in memory, found by the values that must be equal, or all of it.
#include <algorithm>
#include <unordered_map>

#include "sql/execute/operator.h"
#include "sql/types/key_encoding.h"

namespace tidemark::sql::execute {
namespace {

// The condition as equalities of a left and a right expression, and the rest.
struct JoinCondition {
  std::vector<ExpressionPtr> left, right;
  ExpressionPtr rest;
};

enum class Side : uint8_t { Neither, Left, Right, Both };

Side side_of(const Expression& expression, int split) {
  bool left = false, right = false;
  for_each_column(expression, [&](int index) { (index < split ? left : right) = true; });
  return left && right ? Side::Both : left ? Side::Left : right ? Side::Right : Side::Neither;
}

bool is_equality(const Expression& e) {
  return e.kind == ExpressionKind::Call && e.function->name == "=" &&
         e.args[0]->type.kind == e.args[1]->type.kind && volatility_of(e) == Volatility::Immutable;
}

JoinCondition split_condition(const Expression* condition, int split) {
  JoinCondition out;
  if (condition == nullptr) return out;
  std::vector<ExpressionPtr> conjuncts, rest;
  split_conjuncts(clone(*condition), conjuncts);
  for (ExpressionPtr& conjunct : conjuncts) {
    if (!is_equality(*conjunct)) {
      rest.push_back(std::move(conjunct));
      continue;
    }
    Side first = side_of(*conjunct->args[0], split), second = side_of(*conjunct->args[1], split);
    if (first == Side::Right && second == Side::Left) {
      std::swap(conjunct->args[0], conjunct->args[1]);
      std::swap(first, second);
    }
    if (first != Side::Left || second != Side::Right) {
      rest.push_back(std::move(conjunct));
      continue;
    }
    for_each_column(*conjunct->args[1], [split](int& index) { index -= split; });
    out.left.push_back(std::move(conjunct->args[0]));
    out.right.push_back(std::move(conjunct->args[1]));
  }
  out.rest = join_conjuncts(std::move(rest));
  return out;
}

class JoinOperator : public Operator {
 public:
  JoinOperator(const Relation& relation, OperatorPtr left, OperatorPtr right, Context& context)
      : left_(std::move(left), context),
        right_(std::move(right)),
        context_(context),
        evaluation_(context.evaluation()),
        is_left_(relation.join == RelationJoin::Left),
        left_width_(relation.inputs[0]->columns.size()),
        right_width_(relation.inputs[1]->columns.size()),
        rows_(right_width_, context),
        combined_(left_width_ + right_width_) {
    const JoinCondition condition = split_condition(relation.condition.get(), static_cast<int>(left_width_));
    by_key_ = !condition.left.empty();
    left_keys_ = Program(condition.left);
    right_keys_ = Program(condition.right);
    key_values_.resize(condition.left.size());
    if (condition.rest != nullptr) rest_ = std::make_unique<Program>(*condition.rest);
  }

  PullResult next(Batch& out) override {
    out.reset(combined_.size());
    if (!built_) {
      TM_SQL_ASSIGN(const Pull pull, right_->next(batch_));
      if (pull == Pull::Pending) return pull;
      built_ = pull == Pull::End;
      if (!built_) TM_TRY(take_right());
      batch_.reset(0);
      return Pull::Rows;  // None yet.
    }
    TM_SQL_ASSIGN(const Pull pull, left_.fill());
    if (pull != Pull::Rows) return pull;
    while (left_.has_row() && !out.is_full()) TM_TRY(give_matches(out));
    return Pull::Rows;
  }

 private:
  // False if a value is NULL: it is equal to nothing.
  Result<bool, SqlError> encode(const Program& program, const Value* row) {
    TM_TRY(context_.run(program, evaluation_, row, key_values_));
    key_.clear();
    for (const Value& value : key_values_) {
      if (value.is_null()) return false;
      append_key(value, SortOrder::Ascending, key_);
    }
    return true;
  }

  SqlStatus take_right() {
    for (size_t i = 0; i < batch_.row_count(); ++i) {
      if (by_key_) {
        evaluation_.arena.reset();
        TM_SQL_ASSIGN(const bool has_key, encode(right_keys_, batch_.row(i)));
        if (!has_key) continue;
        table_[key_].push_back(rows_.row_count());
        TM_TRY(context_.hold(key_.size() + sizeof(size_t)));
      }
      TM_TRY(rows_.add(batch_.row(i)));
    }
    return {};
  }

  SqlStatus start_probe() {
    probing_ = true;
    matched_ = false;
    match_at_ = 0;
    matches_ = nullptr;
    match_count_ = rows_.row_count();
    std::copy_n(left_.row(), left_width_, combined_.begin());
    if (!by_key_) return {};
    match_count_ = 0;
    evaluation_.arena.reset();
    TM_SQL_ASSIGN(const bool has_key, encode(left_keys_, left_.row()));
    if (!has_key) return {};
    if (const auto found = table_.find(key_); found != table_.end()) {
      matches_ = &found->second;
      match_count_ = matches_->size();
    }
    return {};
  }

  Result<bool, SqlError> passes() {
    if (rest_ == nullptr) return true;
    Value value;
    evaluation_.arena.reset();
    TM_TRY(context_.run(*rest_, evaluation_, combined_.data(), {&value, 1}));
    return !value.is_null() && value.as_bool();
  }

  // The matches of the present left row, as far as `out` has room.
  SqlStatus give_matches(Batch& out) {
    if (!probing_) TM_TRY(start_probe());
    for (; match_at_ < match_count_ && !out.is_full() && context_.has_turn(); ++match_at_) {
      context_.spend(1);
      const size_t row = matches_ != nullptr ? (*matches_)[match_at_] : match_at_;
      std::copy_n(rows_.row(row), right_width_, combined_.begin() + static_cast<ptrdiff_t>(left_width_));
      TM_SQL_ASSIGN(const bool pass, passes());
      if (!pass) continue;
      matched_ = true;
      std::copy(combined_.begin(), combined_.end(), out.add_row());
    }
    if (match_at_ < match_count_) return {};
    if (is_left_ && !matched_) {
      if (out.is_full()) return {};
      std::copy_n(combined_.begin(), left_width_, out.add_row());
    }
    probing_ = false;
    left_.pass();
    return {};
  }

  InputRows left_;
  OperatorPtr right_;
  Context& context_;
  Evaluation evaluation_;
  bool is_left_;
  bool by_key_ = false;
  size_t left_width_, right_width_;
  Program left_keys_, right_keys_;
  std::unique_ptr<Program> rest_;
  std::vector<Value> key_values_;
  std::string key_;
  KeptRows rows_;
  std::unordered_map<std::string, std::vector<size_t>> table_;
  bool built_ = false;

  Batch batch_;  // Of the right side.
  std::vector<Value> combined_;
  bool probing_ = false;
  bool matched_ = false;
  const std::vector<size_t>* matches_ = nullptr;
  size_t match_at_ = 0, match_count_ = 0;
};

}  // namespace

OperatorPtr make_join(const Relation& relation, OperatorPtr left, OperatorPtr right, Context& context) {
  return std::make_unique<JoinOperator>(relation, std::move(left), std::move(right), context);
}

}  // namespace tidemark::sql::execute
