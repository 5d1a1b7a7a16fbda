// Select, project, computed columns, re-keying (index), sides of joins, branches of unions: a row per row.
#include "view_manager/operators/row_writer.h"
#include "view_manager/operators/sink.h"

namespace tidemark {

namespace {

class PutSink : public Sink {
 public:
  PutSink(const sql::SinkPlan& plan, const FindCodec& codec)
      : Sink(wanted(plan)),
        writer_(codec(plan.table)),
        identity_first_(plan.identity_first),
        branch_(plan.branch),
        not_null_(plan.key_columns_not_null) {}

  bool needs_identity() const override { return identity_first_; }

  size_t bytes_of(const FlowRow& row, std::string_view identity) override {
    return encode(row, identity, new_) ? new_.key.size() + new_.row.size() : 0;
  }

  void emit(const FlowRow& before, const FlowRow& after, std::string_view identity,
            OperatorContext& context) override {
    const bool was = encode(before, identity, old_), is = encode(after, identity, new_);
    if (was && is && old_.key == new_.key) {
      if (old_.row != new_.row) context.out->put(writer_.table(), new_.hash, new_.key, new_.row);
      return;
    }
    if (was) context.out->erase(writer_.table(), old_.hash, old_.key);
    if (is) context.out->put(writer_.table(), new_.hash, new_.key, new_.row);
  }

 private:
  static std::vector<sql::ExpressionPtr> wanted(const sql::SinkPlan& plan) {
    std::vector<sql::ExpressionPtr> out;
    for (const sql::ExpressionPtr& column : plan.columns) {
      if (column) out.push_back(sql::clone(*column));
    }
    return out;
  }

  bool encode(const FlowRow& row, std::string_view identity, sql::EncodedRow& out) {
    if (!row.is_present()) return false;
    for (uint32_t i = 0; i < not_null_; ++i) {
      if (row.values[i].is_null()) return false;
    }
    if (!identity_first_) {
      writer_.encode(row.values, out);
      return true;
    }
    values_.clear();
    values_.push_back(sql::Value::integer(branch_));
    values_.push_back(sql::Value::bytea(identity));
    values_.insert(values_.end(), row.values.begin(), row.values.end());
    writer_.encode(values_, out);
    return true;
  }

  RowWriter writer_;
  const bool identity_first_;
  const int32_t branch_;
  const uint32_t not_null_;
  sql::EncodedRow old_, new_;
  std::vector<sql::Value> values_;
};

}  // namespace

std::unique_ptr<Sink> make_put_sink(const sql::SinkPlan& plan, const FindCodec& codec) {
  return std::make_unique<PutSink>(plan, codec);
}

}  // namespace tidemark
