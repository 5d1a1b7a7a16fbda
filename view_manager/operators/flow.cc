#include "view_manager/operators/flow.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/row_limits.h"
#include "view_manager/operators/row_writer.h"

namespace tidemark {

namespace {

constexpr sql::Fault kTooLarge{sql::sqlstate::kProgramLimitExceeded,
                               "a row of a materialized view is larger than 140000 bytes"};
static_assert(kViewRowBytesMax == 140'000);

// A key takes at most four times the bytes of its values, and values of fixed size half of the limit.
bool may_be_large(const FlowRow& row) {
  size_t bytes = 0;
  for (const sql::Value& value : row.values) bytes += value.is_view() ? value.as_bytes().size() : 0;
  return bytes > kViewRowBytesMax / 8;
}

constexpr size_t kErrorTextBytesMax = 1'000;

// A long identity is told by its beginning and a hash: the error set's rows are bounded too.
std::string bounded_identity(const std::string& identity) {
  if (identity.size() <= kErrorTextBytesMax) return identity;
  std::string out = identity.substr(0, kErrorTextBytesMax);
  put_fixed64(out, sql::distribution_hash(identity));
  return out;
}

// Cut between characters.
std::string_view bounded_text(std::string_view text) {
  if (text.size() <= kErrorTextBytesMax) return text;
  size_t end = kErrorTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

Flow::Flow(const sql::FlowPlan& plan, const FindCodec& codec, const sql::TableCodec* errors)
    : plan_(plan), sink_(make_sink(plan.sink, codec)), errors_(errors) {
  if (plan.filter) filter_.emplace(*plan.filter);
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
  TM_ASSERT(plan_.source == sql::FlowSource::Table);
  return splitter_ ? run_split(before, after, context) : run_rows(before, after, context);
}

void Flow::run_rows(const sql::Value* before, const sql::Value* after, OperatorContext& context) {
  evaluate(before, before_, context);
  evaluate(after, after_, context);
  if (before_.is_absent() && after_.is_absent()) return;
  auto encode = [&] { encode_identity(after != nullptr ? after : before, context); };
  identity_key_.clear();
  if (sink_->needs_identity()) encode();
  check_size(before_, context);
  check_size(after_, context);
  const bool failed = before_.is_failed() || after_.is_failed();
  if (failed && !sink_->needs_identity()) encode();
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

// A function of the row alone: what was too large when it came is so when it goes. Rows of a view without an
// error set are never (sql/plan/row_growth.h).
void Flow::check_size(FlowRow& row, OperatorContext& context) {
  if (!row.is_present() || errors_ == nullptr) return;
  const bool is_small = identity_key_.size() <= kErrorTextBytesMax && !may_be_large(row);
  if (is_small || sink_->bytes_of(row, identity_key_) <= kViewRowBytesMax) return;
  row.state = FlowRow::State::Failed;
  row.error = context.evaluation.take_error(kTooLarge);
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
  const std::string identity = bounded_identity(identity_key_);
  const sql::Value values[] = {sql::Value::integer(static_cast<int32_t>(plan_.number)),
                               sql::Value::bytea(identity), sql::Value::text(row.error.state),
                               sql::Value::text(bounded_text(row.error.message))};
  writer.encode(values, encoded);
  if (row.is_failed()) {
    context.out->put(errors_->table(), encoded.hash, encoded.key, encoded.row);
  } else {
    context.out->erase(errors_->table(), encoded.hash, encoded.key);
  }
}

}  // namespace tidemark
