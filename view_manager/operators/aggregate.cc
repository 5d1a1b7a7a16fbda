// Count, sum, avg with FILTER: one add to the group's SUM row; min, max, count distinct: adds to multisets. A
// change within a group is one add of the difference.
#include <algorithm>

#include "base/assert.h"
#include "base/row_limits.h"
#include "sql/plan/expressions.h"
#include "view_manager/operators/sink.h"

namespace tidemark {

namespace {

constexpr sql::Fault kNotFinite{sql::sqlstate::kNumericValueOutOfRange,
                                "NaN and infinity can not be summed in a materialized view"};

constexpr sql::Fault kTooManyDigits{sql::sqlstate::kNumericValueOutOfRange,
                                    "a number has too many digits to be summed in a materialized view"};

// What a number may have so that no sum of such numbers, however many, comes to the limits of numeric, and a
// row of `sums` of them to those of a row: nobody who adds can refuse to, for then the lane would stand
// still.
struct SumDigits {
  explicit SumDigits(size_t sums) {
    constexpr size_t kCarried = 20;  // By which the sum of 2^63 numbers is longer than the longest of them.
    const size_t digits =
        kRowBytesMax * 8 * 3 / 10 / std::max<size_t>(sums, 1) - kCarried;  // log10(2) > 3/10
    after_point = std::min<size_t>(digits / 2, sql::Numeric::kScaleMax);
    before_point = std::min(digits - after_point, sql::Numeric::kIntegerDigitsMax - kCarried);
  }

  bool allow(const sql::Numeric& value) const {
    if (value.scale() > after_point) return false;
    if (value.is_small()) return true;                                        // At most 39 digits.
    const size_t digits = value.magnitude().size() * 8 * 30103 / 100000 + 1;  // Up to three too many.
    return digits <= before_point + value.scale();
  }

  size_t before_point, after_point;
};
static_assert(kRowBytesMax * 8 * 3 / 10 / sql::kRowColumnsMax > 2 * (39 + 20));

// The argument where the filter passes, else NULL: an argument that the filter leaves out must not fail.
sql::ExpressionPtr filtered(sql::ExpressionPtr arg, const sql::ExpressionPtr& filter) {
  if (!filter) return arg;
  const sql::SqlType type = arg->type;
  std::vector<sql::ExpressionPtr> args;
  args.push_back(sql::clone(*filter));
  args.push_back(std::move(arg));
  return sql::make_operation(sql::ExpressionKind::Case, type, std::move(args), -1);
}

class AggregateSink : public Sink {
 public:
  AggregateSink(const sql::SinkPlan& plan, const FindCodec& codec)
      : Sink(wanted(plan)),
        codec_(codec(plan.table)),
        groups_(plan.columns.size()),
        pinned_(plan.pinned),
        digits_(sums_of(plan)) {
    for (const sql::SumColumn& sum : plan.sums) kinds_.push_back(sum.kind);
    for (const sql::ValueSet& set : plan.value_sets) {
      sets_.push_back(&codec(set.table));
      if (sql::type_length(set.arg->type.kind) < 0) ++long_sets_;
    }
  }

  sql::Fault check(std::span<const sql::Value> values) const override {
    size_t at = groups_;
    for (sql::SumColumn::Kind kind : kinds_) {
      if (kind == sql::SumColumn::Kind::Derived) continue;
      const sql::Value& value = values[at++];
      if (kind != sql::SumColumn::Kind::Sum || value.is_null()) continue;
      if (!value.as_numeric().is_finite()) return kNotFinite;
      if (!digits_.allow(value.as_numeric())) return kTooManyDigits;
    }
    return sql::kOk;
  }

  // The region puts a value of each set into the group's row: all that are there at once have to fit.
  size_t bytes_of(const FlowRow& row, std::string_view) override {
    encode_group(row, new_key_);
    size_t bytes = new_key_.size();
    for (size_t i = 0; i < sets_.size(); ++i) {
      if (!value_of(row, i, new_key_, new_value_)) continue;
      const size_t value = new_value_.size() - new_key_.size();
      bytes = std::max(bytes, new_key_.size() + value * std::max<size_t>(1, long_sets_));
    }
    return bytes;
  }

  void emit(const FlowRow& before, const FlowRow& after, std::string_view,
            OperatorContext& context) override {
    if (before.is_present()) encode_group(before, old_key_);
    if (after.is_present()) encode_group(after, new_key_);
    const bool same = before.is_present() && after.is_present() && old_key_ == new_key_;
    emit_values(before, after, same, context);
    if (same) {
      start_row();
      add_row(before, -1, context);
      add_row(after, 1, context);
      if (!is_nothing()) write_row(new_key_, context);
      return;
    }
    if (before.is_present()) {
      start_row();
      add_row(before, -1, context);
      write_row(old_key_, context);
    }
    if (after.is_present()) {
      start_row();
      add_row(after, 1, context);
      write_row(new_key_, context);
    }
  }

  // One row that counts for nothing but its being there.
  void pin(OperatorContext& context) override {
    if (!pinned_) return;
    start_row();
    row_[0] = sql::Value::bigint(1);
    new_key_.clear();
    write_row(new_key_, context);
  }

 private:
  static size_t sums_of(const sql::SinkPlan& plan) {
    return static_cast<size_t>(std::count_if(plan.sums.begin(), plan.sums.end(), [](const auto& sum) {
      return sum.kind == sql::SumColumn::Kind::Sum;
    }));
  }

  static std::vector<sql::ExpressionPtr> wanted(const sql::SinkPlan& plan) {
    std::vector<sql::ExpressionPtr> out;
    for (const sql::ExpressionPtr& group : plan.columns) out.push_back(sql::clone(*group));
    for (const sql::SumColumn& sum : plan.sums) {
      switch (sum.kind) {
        case sql::SumColumn::Kind::Derived: break;
        case sql::SumColumn::Kind::Rows:
          out.push_back(filtered(
              sql::make_constant(sql::Value::boolean(true), sql::SqlType::of(sql::TypeKind::Boolean)),
              sum.filter));
          break;
        case sql::SumColumn::Kind::NonNull: out.push_back(filtered(sql::clone(*sum.arg), sum.filter)); break;
        case sql::SumColumn::Kind::Sum:
          out.push_back(filtered(sql::cast_to(sql::clone(*sum.arg), sql::SqlType::of(sql::TypeKind::Numeric)),
                                 sum.filter));
          break;
      }
    }
    for (const sql::ValueSet& set : plan.value_sets)
      out.push_back(filtered(sql::clone(*set.arg), set.filter));
    return out;
  }

  void encode_group(const FlowRow& row, std::string& key) const {
    key.clear();
    for (size_t i = 0; i < groups_; ++i) sql::append_key(row.values[i], sql::SortOrder::Ascending, key);
  }

  void start_row() {
    row_.assign(1 + kinds_.size(), sql::Value());
    row_[0] = sql::Value::bigint(0);
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const bool counts =
          kinds_[i] == sql::SumColumn::Kind::Rows || kinds_[i] == sql::SumColumn::Kind::NonNull;
      if (counts) row_[1 + i] = sql::Value::bigint(0);
    }
  }

  void add_row(const FlowRow& from, int64_t sign, OperatorContext& context) {
    row_[0] = sql::Value::bigint(row_[0].as_int() + sign);
    size_t at = groups_;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == sql::SumColumn::Kind::Derived) continue;
      const sql::Value& value = from.values[at++];
      if (value.is_null()) continue;
      sql::Value& sum = row_[1 + i];
      if (kinds_[i] == sql::SumColumn::Kind::Sum) {
        add_number(sum, value.as_numeric(), sign, context);
      } else {
        sum = sql::Value::bigint(sum.as_int() + sign);
      }
    }
  }

  static void add_number(sql::Value& sum, const sql::Numeric& value, int64_t sign, OperatorContext& context) {
    sql::Numeric so_far = sum.is_null() ? sql::Numeric::from_int(0) : sum.as_numeric();
    sql::Numeric out;
    sql::Arena& arena = context.evaluation.arena;
    sql::Fault fault = sign > 0 ? sql::numeric_add(so_far, value, arena, out)
                                : sql::numeric_subtract(so_far, value, arena, out);
    TM_ASSERT(fault.ok());  // check() let them pass.
    sum = sql::Value::numeric(out);
  }

  bool is_nothing() const {
    for (const sql::Value& value : row_) {
      if (value.is_null()) continue;
      const bool zero =
          value.kind() == sql::TypeKind::Numeric ? value.as_numeric().is_zero() : value.as_int() == 0;
      if (!zero) return false;
    }
    return true;
  }

  void write_row(const std::string& key, OperatorContext& context) {
    bytes_.clear();
    sql::append_row(codec_.layout(), row_, bytes_);
    context.out->add(codec_.table(), sql::distribution_hash(key), key, bytes_);
  }

  // The group's values that sums can not tell: taken from the old multiset, given to the new one.
  void emit_values(const FlowRow& before, const FlowRow& after, bool same_group, OperatorContext& context) {
    for (size_t i = 0; i < sets_.size(); ++i) {
      const bool was = before.is_present() && value_of(before, i, old_key_, old_value_);
      const bool is = after.is_present() && value_of(after, i, new_key_, new_value_);
      if (was && is && same_group && old_value_ == new_value_) continue;
      if (was) write_value(*sets_[i], old_key_, old_value_, -1, context);
      if (is) write_value(*sets_[i], new_key_, new_value_, 1, context);
    }
  }

  bool value_of(const FlowRow& row, size_t set, const std::string& group, std::string& key) const {
    const sql::Value& value = row.values[row.values.size() - sets_.size() + set];
    if (value.is_null()) return false;
    key.assign(group);
    sql::append_key(value, sql::SortOrder::Ascending, key);
    return true;
  }

  void write_value(const sql::TableCodec& codec, const std::string& group, const std::string& key,
                   int64_t sign, OperatorContext& context) {
    bytes_.clear();
    const sql::Value count = sql::Value::bigint(sign);
    sql::append_row(codec.layout(), {&count, 1}, bytes_);
    context.out->add(codec.table(), sql::distribution_hash(group), key, bytes_);
  }

  const sql::TableCodec& codec_;
  const size_t groups_;
  const bool pinned_;
  const SumDigits digits_;
  std::vector<sql::SumColumn::Kind> kinds_;
  std::vector<const sql::TableCodec*> sets_;
  size_t long_sets_ = 0;  // Those of values without a fixed size.
  std::string old_key_, new_key_, old_value_, new_value_, bytes_;
  std::vector<sql::Value> row_;
};

}  // namespace

std::unique_ptr<Sink> make_aggregate_sink(const sql::SinkPlan& plan, const FindCodec& codec) {
  return std::make_unique<AggregateSink>(plan, codec);
}

}  // namespace tidemark
