#include "view_manager/operators/flow.h"

#include "base/assert.h"
#include "view_manager/operators/row_writer.h"

namespace tidemark {

Flow::Flow(const sql::FlowPlan& plan, const FindCodec& codec, const sql::TableCodec* errors)
    : plan_(plan), sink_(make_sink(plan.sink, codec)), errors_(errors) {
  if (plan.filter) filter_.emplace(*plan.filter);
  if (plan.input_filter) input_filter_.emplace(*plan.input_filter);
  if (plan.source == sql::FlowSource::LeftOnly) inputs_.emplace(plan.inputs);
  identity_.emplace(plan.identity);
  identity_values_.resize(plan.identity.size());
  if (plan.source == sql::FlowSource::Table) {
    if (plan.split.text) prepare_split(codec(plan.table).columns().size());
    return;
  }
  left_ = &codec(plan.left);
  right_ = &codec(plan.right);
  wide_before_.resize(left_->columns().size() + right_->columns().size());
  wide_after_.resize(wide_before_.size());
}

void Flow::run(const sql::Value* before, const sql::Value* after, OperatorContext& context) {
  if (plan_.source == sql::FlowSource::Table) {
    return splitter_ ? run_split(before, after, context) : run_rows(before, after, context);
  }
  TM_ASSERT(plan_.source == sql::FlowSource::LeftOnly);
  const sql::Value* was = widen(before, wide_before_, context);
  const sql::Value* is = widen(after, wide_after_, context);
  run_rows(was, is, context);
}

// The left row with NULL for the right one, if it can have no partner; else null.
const sql::Value* Flow::widen(const sql::Value* row, std::vector<sql::Value>& wide,
                              OperatorContext& context) {
  if (row == nullptr) return nullptr;
  sql::RowInput input(row);
  sql::Value passes;
  sql::Fault fault = input_filter_->run(context.evaluation, input, passes);
  if (fault.ok() && (passes.is_null() || !passes.as_bool())) return nullptr;
  const size_t width = left_->columns().size();
  if (fault.ok()) fault = inputs_->run(context.evaluation, input, {wide.data(), width});
  if (!fault.ok()) {
    // The flow that fills the side computes the same, and reports it.
    (void)context.evaluation.take_error(fault);
    return nullptr;
  }
  std::fill(wide.begin() + static_cast<std::ptrdiff_t>(width), wide.end(), sql::Value());
  return wide.data();
}

void Flow::run_rows(const sql::Value* before, const sql::Value* after, OperatorContext& context) {
  evaluate(before, before_, context);
  evaluate(after, after_, context);
  const bool failed = before_.is_failed() || after_.is_failed();
  if (!failed && !before_.is_present() && !after_.is_present()) return;
  identity_key_.clear();
  if (failed || sink_->needs_identity()) encode_identity(after != nullptr ? after : before, context);
  sink_->emit(before_, after_, identity_key_, context);
  if (failed) {
    if (after_.is_failed()) {
      write_error(after_, context);
    } else {
      write_error({}, context);
    }
  }
}

void Flow::evaluate(const sql::Value* row, FlowRow& out, OperatorContext& context) {
  out.state = FlowRow::State::Absent;
  if (row == nullptr) return;
  sql::RowInput input(row);
  sql::Fault fault = sql::kOk;
  if (filter_) {
    sql::Value passes;
    fault = filter_->run(context.evaluation, input, passes);
    if (fault.ok() && (passes.is_null() || !passes.as_bool())) return;
  }
  if (fault.ok()) {
    out.values.resize(sink_->program().result_count());
    fault = sink_->program().run(context.evaluation, input, out.values);
  }
  if (fault.ok()) fault = sink_->check(out.values);
  if (fault.ok()) {
    out.state = FlowRow::State::Present;
    return;
  }
  out.state = FlowRow::State::Failed;
  out.error = context.evaluation.take_error(fault);
}

void Flow::encode_identity(const sql::Value* row, OperatorContext& context) {
  sql::Fault fault = identity_->run(context.evaluation, sql::RowInput(row), identity_values_);
  TM_ASSERT(fault.ok());  // Columns only.
  for (const sql::Value& value : identity_values_) {
    sql::append_key(value, sql::SortOrder::Ascending, identity_key_);
  }
}

void Flow::write_error(const FlowRow& row, OperatorContext& context) {
  TM_ASSERT(errors_ != nullptr);
  RowWriter writer(*errors_);
  sql::EncodedRow encoded;
  const sql::Value values[] = {sql::Value::integer(static_cast<int32_t>(plan_.number)),
                               sql::Value::bytea(identity_key_), sql::Value::text(row.error.state),
                               sql::Value::text(row.error.message)};
  writer.encode(values, encoded);
  if (row.is_failed()) {
    context.out->put(errors_->table(), encoded.hash, encoded.key, encoded.row);
  } else {
    context.out->erase(errors_->table(), encoded.hash, encoded.key);
  }
}

}  // namespace tidemark
