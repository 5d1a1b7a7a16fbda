#include "bench/orders/probe.h"

namespace tidemark::bench {

namespace {

constexpr Micros kPause{1'000};    // Between two writes.
constexpr Micros kLookAgain{100};  // Until the view shows it.
constexpr uint64_t kReadsPerWrite = 4;
constexpr int32_t kProbeCentsMin = 90'001;  // A filter lets it pass.

}  // namespace

Probe::Probe(BenchClient& client, OrdersWorkload& workload, ViewKind kind, const pb::TableDefinition& orders,
             const pb::TableDefinition& view, CatalogVersion catalog)
    : client_(client),
      workload_(workload),
      view_(TableId{view.id()}),
      feed_(client, workload, orders, catalog),
      check_(kind, view, workload) {}

void Probe::start() {
  client_.loop().run([this] { write_next(); });
}

ProbeResult Probe::stop() {
  client_.loop().run([this] { stopping_ = true; });
  stopped_.get_future().wait();
  return std::move(result_);
}

void Probe::write_next() {
  if (stopping_) return stopped_.set_value();
  const OrdersShape& shape = workload_.shape();
  const uint64_t probe = turn_++ % kProbeOrders;
  order_.id = static_cast<int64_t>(shape.orders + probe);
  order_.customer = static_cast<int32_t>(shape.customers + 1 + probe);
  order_.cents = static_cast<int32_t>(random_.between(kProbeCentsMin, OrdersWorkload::kCentsMax));
  check_.probe_key(order_, key_.hash, key_.key);
  feed_.write_some({order_}, [this](const Result<LaneRuns>& tokens) {
    TM_ASSERT(tokens.ok());
    since_ = now();
    look();
  });
}

void Probe::look() {
  client_.client().get(view_, {key_}, [this](const Result<std::string, ClientFailure>& rows) {
    TM_ASSERT(rows.ok());
    RowReader reader(*rows);
    StoredRow row;
    if (!reader.next(row) || !check_.shows(order_, row.key, row.row)) {
      return client_.loop().post_after(kLookAgain, [this] { look(); });
    }
    result_.fresh_micros.push_back(static_cast<double>(now().value - since_.value));
    read_next();
  });
}

// The rows of other probes, which are there since the first round; then the next write.
void Probe::read_next() {
  if (turn_ < kProbeOrders || result_.read_micros.size() >= turn_ * kReadsPerWrite) {
    return client_.loop().post_after(kPause, [this] { write_next(); });
  }
  const uint64_t probe = random_.below(kProbeOrders);
  const OrdersShape& shape = workload_.shape();
  KeyOfTable key;
  check_.probe_key(
      {static_cast<int64_t>(shape.orders + probe), static_cast<int32_t>(shape.customers + 1 + probe), 0},
      key.hash, key.key);
  client_.client().get(view_, {key}, [this, began = now()](const Result<std::string, ClientFailure>& rows) {
    TM_ASSERT(rows.ok());
    result_.read_micros.push_back(static_cast<double>(now().value - began.value));
    read_next();
  });
}

}  // namespace tidemark::bench
