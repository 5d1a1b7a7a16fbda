// Top-k and latest per group: the whole row is a value of the group's ordered multiset.
#include "sql/plan/expressions.h"
#include "view_manager/operators/row_writer.h"
#include "view_manager/operators/sink.h"

namespace tidemark {

namespace {

class MultisetSink : public Sink {
 public:
  MultisetSink(const sql::SinkPlan& plan, const FindCodec& codec)
      : Sink(sql::clone_all(plan.columns)), writer_(codec(plan.table)) {}

  size_t bytes_of(const FlowRow& row, std::string_view) override {
    return encode(row, 1, new_) ? new_.key.size() + new_.row.size() : 0;
  }

  void emit(const FlowRow& before, const FlowRow& after, std::string_view,
            OperatorContext& context) override {
    const bool was = encode(before, -1, old_), is = encode(after, 1, new_);
    if (was && is && old_.key == new_.key) return;
    if (was) context.out->add(writer_.table(), old_.hash, old_.key, old_.row);
    if (is) context.out->add(writer_.table(), new_.hash, new_.key, new_.row);
  }

 private:
  bool encode(const FlowRow& row, int64_t count, sql::EncodedRow& out) {
    if (!row.is_present()) return false;
    values_.assign(row.values.begin(), row.values.end());
    values_.push_back(sql::Value::bigint(count));
    writer_.encode(values_, out);
    return true;
  }

  RowWriter writer_;
  sql::EncodedRow old_, new_;
  std::vector<sql::Value> values_;
};

}  // namespace

std::unique_ptr<Sink> make_multiset_sink(const sql::SinkPlan& plan, const FindCodec& codec) {
  return std::make_unique<MultisetSink>(plan, codec);
}

}  // namespace tidemark
