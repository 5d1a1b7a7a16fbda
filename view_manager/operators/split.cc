// A row per word of a text. Words that a change leaves as they were are compared one by one, so that only
// those that come, go, or whose row has changed have effects.
#include <algorithm>

#include "sql/plan/expressions.h"
#include "view_manager/operators/flow.h"

namespace tidemark {

void Flow::prepare_split(size_t width) {
  std::vector<sql::ExpressionPtr> args;
  args.push_back(sql::clone(*plan_.split.text));
  args.push_back(sql::clone(*plan_.split.delimiter));
  split_.emplace(args);
  const bool by_pattern = plan_.split.kind == sql::SplitKind::ByPattern;
  splitter_.emplace(plan_.split.kind, by_pattern ? &plan_.split.delimiter->constant.get() : nullptr);
  wide_before_.resize(width + 2);
  wide_after_.resize(width + 2);
}

// The row's words, sorted. False: its text could not be computed.
bool Flow::split(const sql::Value* row, std::vector<Word>& out, sql::SqlError& error,
                 OperatorContext& context) {
  out.clear();
  if (row == nullptr) return true;
  sql::Value args[2];
  sql::Fault fault = split_->run(context.evaluation, sql::RowInput(row), args);
  if (!fault.ok()) {
    error = context.evaluation.take_error(fault);
    return false;
  }
  splitter_->split(args[0], args[1], split_words_);
  std::sort(split_words_.begin(), split_words_.end());
  for (std::string_view word : split_words_) {
    const bool again = !out.empty() && out.back().text == word;
    out.push_back({word, again ? out.back().number + 1 : 0});
  }
  return true;
}

const sql::Value* Flow::with_word(const sql::Value* row, const Word& word,
                                  std::vector<sql::Value>& wide) const {
  std::copy_n(row, wide.size() - 2, wide.begin());
  wide[wide.size() - 2] = sql::Value::text(word.text);
  wide.back() = sql::Value::integer(word.number);
  return wide.data();
}

void Flow::run_split(const sql::Value* before, const sql::Value* after, OperatorContext& context) {
  FlowRow failed;
  const bool was_split = split(before, words_before_, failed.error, context);
  const bool is_split = split(after, words_after_, failed.error, context);
  if (!was_split || !is_split) {
    // In the error set it is the row without a word.
    identity_key_.clear();
    encode_identity(with_word(after != nullptr ? after : before, {}, wide_after_), context);
    if (!is_split) failed.state = FlowRow::State::Failed;
    write_error(failed, context);
  }
  auto old = words_before_.begin(), now = words_after_.begin();
  while (old != words_before_.end() || now != words_after_.end()) {
    const bool has_old = old != words_before_.end(), has_now = now != words_after_.end();
    const bool was = has_old && (!has_now || *old <= *now);
    const bool is = has_now && (!has_old || *now <= *old);
    const sql::Value* row_before = was ? with_word(before, *old, wide_before_) : nullptr;
    const sql::Value* row_after = is ? with_word(after, *now, wide_after_) : nullptr;
    run_rows(row_before, row_after, context);
    if (was) ++old;
    if (is) ++now;
  }
}

}  // namespace tidemark
