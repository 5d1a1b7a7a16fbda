// Upserts of orders: which order comes next, and what the table holds once all of them were written. The same
// shape gives the same upserts in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace tidemark::bench {

struct OrdersShape {
  uint64_t orders = 200'000;    // Keys 0 ..; each upsert takes any of them.
  uint64_t customers = 10'000;  // Groups 1 ..; each upsert moves its order to one drawn by Zipf's law.
  double zipf = 0.99;
  uint32_t row_bytes = 100;
  uint64_t seed = 1;
};

struct Order {
  int64_t id = 0;
  int32_t customer = 0;
  int32_t cents = 0;
};

// Ranks 0 .. count-1, rank r as often as 1/(r+1)^exponent.
class Zipf {
 public:
  // REQUIRES: count > 0, 0 <= exponent.
  Zipf(uint64_t count, double exponent);
  uint64_t draw(Random& random) const;

 private:
  double exponent_;
  std::vector<double> cumulative_;  // By rank.
  std::vector<uint32_t> first_;     // Where to begin, by the leading bits of what was drawn.
};

class OrdersWorkload {
 public:
  static constexpr int32_t kCentsMax = 100'000;

  // `extra` orders lie behind those that next() takes: for who writes single ones by write().
  explicit OrdersWorkload(const OrdersShape& shape, uint64_t extra = 0);

  // The next upsert, of an order with id % slots == slot: writes of different slots may be in flight at once,
  // since they concern different rows. It counts as written. REQUIRES: slot < slots <= orders.
  Order next(uint32_t slot, uint32_t slots);

  const OrdersShape& shape() const { return shape_; }
  // What was written last for each id; customer 0: nothing.
  struct Written {
    int32_t customer = 0;
    int32_t cents = 0;
  };
  const std::vector<Written>& written() const { return written_; }
  void write(const Order& order) { written_[static_cast<size_t>(order.id)] = {order.customer, order.cents}; }

 private:
  OrdersShape shape_;
  Random random_;
  Zipf customers_;
  std::vector<Written> written_;
};

}  // namespace tidemark::bench
