// A row per token of a text column: words in lower case, runs of letters and digits, each once.
#include <algorithm>

#include "sql/plan/expressions.h"
#include "view_manager/operators/row_writer.h"
#include "view_manager/operators/sink.h"

namespace tidemark {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

class KeywordSink : public Sink {
 public:
  KeywordSink(const sql::SinkPlan& plan, const FindCodec& codec)
      : Sink(wanted(plan)), writer_(codec(plan.table)) {}

  void emit(const FlowRow& before, const FlowRow& after, std::string_view,
            OperatorContext& context) override {
    split(before, old_text_, old_);
    split(after, new_text_, new_);
    encode_all(before, old_, old_rows_);
    encode_all(after, new_, new_rows_);
    // Both are sorted by token, and so are tokens that stay.
    for (const sql::EncodedRow& row : old_rows_) {
      if (!has(new_rows_, row.key)) context.out->erase(writer_.table(), row.hash, row.key);
    }
    for (const sql::EncodedRow& row : new_rows_) {
      const sql::EncodedRow* was = has(old_rows_, row.key);
      if (was != nullptr && was->row == row.row) continue;
      context.out->put(writer_.table(), row.hash, row.key, row.row);
    }
  }

 private:
  static std::vector<sql::ExpressionPtr> wanted(const sql::SinkPlan& plan) {
    std::vector<sql::ExpressionPtr> out;
    out.push_back(sql::clone(*plan.tokens));
    for (size_t i = 1; i < plan.columns.size(); ++i) out.push_back(sql::clone(*plan.columns[i]));
    return out;
  }

  static void split(const FlowRow& row, std::string& text, std::vector<std::string_view>& tokens) {
    tokens.clear();
    if (!row.is_present() || row.values[0].is_null()) return;
    text.assign(row.values[0].as_bytes());
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end > at) tokens.push_back(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  }

  void encode_all(const FlowRow& row, const std::vector<std::string_view>& tokens,
                  std::vector<sql::EncodedRow>& out) {
    out.resize(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      values_.assign(row.values.begin(), row.values.end());
      values_[0] = sql::Value::text(tokens[i]);
      writer_.encode(values_, out[i]);
    }
  }

  static const sql::EncodedRow* has(const std::vector<sql::EncodedRow>& rows, const std::string& key) {
    auto it = std::lower_bound(rows.begin(), rows.end(), key,
                               [](const sql::EncodedRow& row, const std::string& k) { return row.key < k; });
    return it != rows.end() && it->key == key ? &*it : nullptr;
  }

  RowWriter writer_;
  std::string old_text_, new_text_;
  std::vector<std::string_view> old_, new_;
  std::vector<sql::EncodedRow> old_rows_, new_rows_;
  std::vector<sql::Value> values_;
};

}  // namespace

std::unique_ptr<Sink> make_keyword_sink(const sql::SinkPlan& plan, const FindCodec& codec) {
  return std::make_unique<KeywordSink>(plan, codec);
}

}  // namespace tidemark
