// Aggregates that SQLite has not, or not exactly: sums and averages of integers and numerics, extremes of
// numerics.
#include "base/assert.h"
#include "verify/decimal.h"
#include "verify/functions.h"

namespace tidemark::verify {

namespace {

Decimal number_of(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return Decimal(*integer);
  const auto out = Decimal::parse(as_text(value));
  TM_ASSERT(out.has_value());
  return *out;
}

class Sum : public Aggregate {
 public:
  Status add(const Value& value) override {
    sum_ = sum_ + number_of(value);
    ++count_;
    return {};
  }
  Result<Value> result() override {
    if (count_ == 0) return Value();
    return Value(sum_.text());
  }

 protected:
  Decimal sum_;
  int64_t count_ = 0;
};

class IntegerSum : public Sum {
 public:
  Result<Value> result() override {
    if (count_ == 0) return Value();
    const auto value = sum_.to_int();
    if (!value) return Error{"bigint out of range"};
    return Value(*value);
  }
};

class Average : public Sum {
 public:
  Result<Value> result() override {
    if (count_ == 0) return Value();
    return Value(Decimal::divide(sum_, Decimal(count_))->text());
  }
};

class Extreme : public Aggregate {
 public:
  explicit Extreme(bool largest) : largest_(largest) {}
  Status add(const Value& value) override {
    std::string key = number_of(value).key();
    const bool better = key_.empty() || (largest_ ? key > key_ : key < key_);
    if (!better) return {};
    key_ = std::move(key);
    value_ = value;
    return {};
  }
  Result<Value> result() override { return value_; }

 private:
  bool largest_;
  std::string key_;
  Value value_;
};

template <typename T>
std::unique_ptr<Aggregate> make() {
  return std::make_unique<T>();
}
template <bool largest>
std::unique_ptr<Aggregate> make_extreme() {
  return std::make_unique<Extreme>(largest);
}

}  // namespace

void register_aggregates(Database& database) {
  database.add_aggregate("sum_to_int", make<IntegerSum>);
  database.add_aggregate("sum_to_num", make<Sum>);
  database.add_aggregate("avg_to_num", make<Average>);
  database.add_aggregate("num_min", make_extreme<false>);
  database.add_aggregate("num_max", make_extreme<true>);
}

}  // namespace tidemark::verify
