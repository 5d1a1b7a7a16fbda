#include "bench/orders/workload.h"

#include <algorithm>
#include <cmath>

namespace tidemark::bench {

namespace {

constexpr size_t kStarts = 4096;

}  // namespace

Zipf::Zipf(uint64_t count, double exponent) : exponent_(exponent) {
  TM_ASSERT(count > 0);
  TM_ASSERT(exponent_ >= 0);
  cumulative_.reserve(count);
  double total = 0;
  for (uint64_t rank = 0; rank < count; ++rank) {
    total += std::pow(static_cast<double>(rank + 1), -exponent_);
    cumulative_.push_back(total);
  }
  for (double& share : cumulative_) share /= total;
  for (size_t i = 0; i <= kStarts; ++i) {
    const double share = static_cast<double>(i) / kStarts;
    auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), share);
    first_.push_back(static_cast<uint32_t>(
        std::min<size_t>(static_cast<size_t>(at - cumulative_.begin()), cumulative_.size() - 1)));
  }
}

uint64_t Zipf::draw(Random& random) const {
  const double share = random.unit();
  const auto start = static_cast<size_t>(share * kStarts);
  auto from = cumulative_.begin() + first_[start];
  auto to = cumulative_.begin() + first_[start + 1] + 1;
  return static_cast<uint64_t>(std::lower_bound(from, to, share) - cumulative_.begin());
}

OrdersWorkload::OrdersWorkload(const OrdersShape& shape, uint64_t extra)
    : shape_(shape),
      random_(shape.seed),
      customers_(shape.customers, shape.zipf),
      written_(shape.orders + extra) {}

Order OrdersWorkload::next(uint32_t slot, uint32_t slots) {
  TM_ASSERT(slot < slots, slot, slots);
  const uint64_t turns = shape_.orders / slots;
  TM_ASSERT(turns > 0, shape_.orders, slots);
  Order order;
  order.id = static_cast<int64_t>(random_.below(turns) * slots + slot);
  order.customer = static_cast<int32_t>(customers_.draw(random_)) + 1;
  order.cents = static_cast<int32_t>(random_.between(1, kCentsMax));
  write(order);
  return order;
}

}  // namespace tidemark::bench
