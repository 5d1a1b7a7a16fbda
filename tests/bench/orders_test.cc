// A benchmark is worth nothing if it could not fail: the workload is what it says, and a wrong view is found.
#include <gtest/gtest.h>

#include "bench/orders/latencies.h"
#include "bench/orders/views.h"
#include "bench/orders/workload.h"

namespace tidemark::bench {
namespace {

TEST(Zipf, DrawsEachRankAsOftenAsItsShare) {
  const Zipf zipf(4, 1.0);  // Shares 12, 6, 4 and 3 of 25.
  Random random(1);
  std::vector<uint64_t> drawn(4);
  for (int i = 0; i < 250'000; ++i) ++drawn.at(zipf.draw(random));
  EXPECT_NEAR(static_cast<double>(drawn[0]), 120'000, 1'500);
  EXPECT_NEAR(static_cast<double>(drawn[1]), 60'000, 1'500);
  EXPECT_NEAR(static_cast<double>(drawn[2]), 40'000, 1'500);
  EXPECT_NEAR(static_cast<double>(drawn[3]), 30'000, 1'500);
}

TEST(OrdersWorkload, SlotsShareNoOrder) {
  OrdersWorkload workload({.orders = 103, .customers = 5});
  for (int i = 0; i < 1'000; ++i) {
    for (uint32_t slot = 0; slot < 7; ++slot) {
      const Order order = workload.next(slot, 7);
      EXPECT_EQ(order.id % 7, slot);
      EXPECT_LT(order.id, 103);
      EXPECT_EQ(workload.written()[static_cast<size_t>(order.id)].cents, order.cents);
    }
  }
}

TEST(Quantile, IsTheValueThatTheShareDoesNotExceed) {
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(quantile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

pb::Catalog tables() {
  pb::Catalog out;
  *out.add_tables() = orders_table(TableId{1});
  *out.add_tables() = customers_table(TableId{2});
  out.set_next_id(3);
  return out;
}

// A view of two customers by count and sum.
class SumCheck : public testing::Test {
 protected:
  SumCheck() {
    workload_.write({0, 1, 100});
    workload_.write({1, 1, 250});
    workload_.write({2, 2, 7});
    check_ = std::make_unique<ViewCheck>(ViewKind::Sum, view_, workload_);
  }

  Status take(int32_t customer, int64_t count, int64_t cents) {
    const sql::TableCodec codec = *sql::TableCodec::make(view_);
    const sql::Value values[] = {sql::Value::integer(customer), sql::Value::bigint(count),
                                 sql::Value::numeric(sql::Numeric::small(cents, 2)),
                                 sql::Value::bigint(count)};
    sql::EncodedRow row;
    codec.encode(values, row);
    return check_->take(row.key, row.row);
  }

  OrdersWorkload workload_{{.orders = 3, .customers = 2}};
  pb::TableDefinition view_ = view_tables(ViewKind::Sum, tables())->front();
  std::unique_ptr<ViewCheck> check_;
};

TEST_F(SumCheck, TakesTheRightView) {
  EXPECT_TRUE(take(1, 2, 350).ok());
  EXPECT_TRUE(take(2, 1, 7).ok());
  EXPECT_TRUE(check_->end().ok());
}

TEST_F(SumCheck, RefusesAWrongSumACountARowTooManyAndOneMissing) {
  EXPECT_FALSE(take(1, 2, 351).ok());
  EXPECT_FALSE(take(2, 2, 7).ok());
  EXPECT_FALSE(take(2, 1, 7).ok()) << "twice";
  EXPECT_FALSE(take(3, 1, 7).ok());
  ViewCheck other(ViewKind::Sum, view_, workload_);
  EXPECT_FALSE(other.end().ok());
}

}  // namespace
}  // namespace tidemark::bench
