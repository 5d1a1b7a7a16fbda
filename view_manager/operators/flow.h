// A flow, ready to run: conditions and expressions compiled, its sink made. What fails goes into the view's
// error set, and is taken out again when the row that failed goes or changes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/change.h"
#include "sql/expr/program.h"
#include "sql/plan/view_plan.h"
#include "sql/table/table_codec.h"
#include "view_manager/operators/operator_context.h"
#include "view_manager/operators/sink.h"

namespace tidemark {

class Flow {
 public:
  // `errors` is null if no row of the view can fail. All that is referred to outlives the flow.
  Flow(const sql::FlowPlan& plan, const FindCodec& codec, const sql::TableCodec* errors);

  const sql::FlowPlan& plan() const { return plan_; }

  // A change of the flow's table: its stored columns before and after; null where there is no row.
  void run(const sql::Value* before, const sql::Value* after, OperatorContext& context);

  // A change of one side of the flow's join, with the matches of the other. False: malformed.
  [[nodiscard]] bool run_join(const Change& change, const sql::Value* before, const sql::Value* after,
                              OperatorContext& context);

  void pin(OperatorContext& context) { sink_->pin(context); }

 private:
  void run_rows(const sql::Value* before, const sql::Value* after, OperatorContext& context);
  void prepare_split(size_t width);
  void run_split(const sql::Value* before, const sql::Value* after, OperatorContext& context);
  struct Word {
    std::string_view text;
    int32_t number = 0;  // Among the same ones.
    auto operator<=>(const Word&) const = default;
  };
  bool split(const sql::Value* row, std::vector<Word>& out, sql::SqlError& error, OperatorContext& context);
  bool is_too_much(const sql::Value* row, const std::vector<Word>& words, OperatorContext& context);
  void run_word(const sql::Value* before, const sql::Value* after, OperatorContext& context);
  const sql::Value* with_word(const sql::Value* row, const Word& word, std::vector<sql::Value>& wide) const;
  void evaluate(const sql::Value* row, FlowRow& out, OperatorContext& context);
  void check_size(FlowRow& row, OperatorContext& context);
  void encode_identity(const sql::Value* row, OperatorContext& context);
  void write_error(const FlowRow& row, OperatorContext& context);
  void pair(const sql::Value* own, bool own_is_left, const std::vector<sql::Value>* other,
            std::vector<sql::Value>& out) const;

  const sql::FlowPlan& plan_;
  std::optional<sql::Program> filter_, identity_, split_;
  std::optional<sql::Splitter> splitter_;
  std::unique_ptr<Sink> sink_;
  const sql::TableCodec* errors_;
  const sql::TableCodec *left_ = nullptr, *right_ = nullptr;

  FlowRow before_, after_;
  std::vector<sql::Value> wide_before_, wide_after_, match_, identity_values_;
  std::string identity_key_;
  std::vector<std::string_view> split_words_;
  std::vector<Word> words_before_, words_after_;
  sql::Arena word_arena_;
};

}  // namespace tidemark
