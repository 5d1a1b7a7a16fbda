// A row per word of a text. Words that a change leaves as they were are compared one by one, so that only
// those that come, go, or whose row has changed have effects.
#include <algorithm>
#include <utility>

#include "base/row_limits.h"
#include "sql/plan/expressions.h"
#include "view_manager/operators/flow.h"

namespace tidemark {

namespace {

// Of the effects of one row with all its words. The longest text of a table may be an index by words of one
// letter.
constexpr size_t kSplitBytesMax = size_t{8} << 20;

constexpr sql::Fault kTooMuch{sql::sqlstate::kProgramLimitExceeded,
                              "a row with each of its words takes more than 8388608 bytes"};
static_assert(kSplitBytesMax == 8'388'608);

}  // namespace

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

// The row's words, sorted. False: its text could not be computed, or its words make too much.
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
  if (!is_too_much(row, out, context)) return true;
  out.clear();
  error = sql::to_error(kTooMuch);
  return false;
}

// What the row is copied to for each word. A function of the row alone: it is so when the row comes, and when
// it goes.
bool Flow::is_too_much(const sql::Value* row, const std::vector<Word>& words, OperatorContext& context) {
  if (words.size() <= kSplitBytesMax / kViewRowBytesMax) return false;
  EffectEntry entry;
  StepCounters steps(ShardCount{1});
  EffectWriter scale(entry, ShardCount{1}, steps);
  scale.enter_lane(ShardId{0}, 0);
  EffectWriter* out = std::exchange(context.out, &scale);
  size_t bytes = 0;
  for (auto word = words.begin(); word != words.end() && bytes <= kSplitBytesMax; ++word) {
    run_word(nullptr, with_word(row, *word, wide_after_), context);
    bytes += entry.bytes();
    entry.reset({}, {});
  }
  context.out = out;
  return bytes > kSplitBytesMax;
}

// What is computed for one word is forgotten before the next.
void Flow::run_word(const sql::Value* before, const sql::Value* after, OperatorContext& context) {
  word_arena_.reset();
  std::swap(context.evaluation.arena, word_arena_);
  run_rows(before, after, context);
  std::swap(context.evaluation.arena, word_arena_);
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
    // In the error set it is the row without a word: none has this number.
    const Word none{{}, -1};
    identity_key_.clear();
    encode_identity(with_word(after != nullptr ? after : before, none, wide_after_), context);
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
    run_word(row_before, row_after, context);
    if (was) ++old;
    if (is) ++now;
  }
}

}  // namespace tidemark
