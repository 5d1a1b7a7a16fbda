#include "bench/orders/feed.h"

#include <algorithm>

#include "bench/orders/views.h"

namespace tidemark::bench {

namespace {

constexpr uint32_t kRowOverhead = 28;  // Of a row beside the note: id, customer, amount, lengths, the key.

}  // namespace

OrdersFeed::OrdersFeed(BenchClient& client, OrdersWorkload& workload, const pb::TableDefinition& orders,
                       CatalogVersion catalog)
    : client_(client),
      workload_(workload),
      codec_(*sql::TableCodec::make(orders)),
      catalog_(catalog),
      note_(workload.shape().row_bytes - std::min(workload.shape().row_bytes, kRowOverhead), 'n') {}

FeedResult OrdersFeed::run(const FeedShape& shape) {
  return start(shape).get();
}

std::future<FeedResult> OrdersFeed::start(const FeedShape& shape) {
  std::future<FeedResult> out;
  client_.loop().run([&] {
    TM_ASSERT(!running_);
    shape_ = shape;
    result_ = {};
    done_ = {};
    out = done_.get_future();
    begun_ = 0;
    open_ = 0;
    running_ = true;
    began_at_ = client_.loop().now();
    for (uint32_t slot = 0; slot < shape_.in_flight; ++slot) send(slot);
    end_if_done();
  });
  return out;
}

void OrdersFeed::stop() {
  client_.loop().post([this] {
    shape_.upserts = std::min(shape_.upserts, begun_);
    end_if_done();
  });
}

void OrdersFeed::add(WriteBatch& batch, const Order& order) {
  const sql::Value values[] = {sql::Value::bigint(order.id), sql::Value::integer(order.customer),
                               sql::Value::numeric(sql::Numeric::small(order.cents, 2)),
                               sql::Value::text(note_)};
  codec_.encode(values, row_);
  batch.add({OperationKind::Put, codec_.table(), row_.hash, row_.key, row_.row, std::nullopt});
}

// When the upsert is due at a steady rate.
Micros OrdersFeed::due(uint64_t upsert) const {
  if (shape_.upserts_per_second == 0) return began_at_;
  const double micros = static_cast<double>(upsert) / shape_.upserts_per_second * 1e6;
  return Micros{began_at_.value + static_cast<int64_t>(micros)};
}

void OrdersFeed::send(uint32_t slot) {
  if (!running_ || begun_ >= shape_.upserts || result_.failure) return end_if_done();
  const Micros now = client_.loop().now();
  if (const Micros at = due(begun_); at > now) {
    return client_.loop().post_after(Micros{at.value - now.value}, [this, slot] { send(slot); });
  }
  const uint64_t count = std::min<uint64_t>(shape_.batch, shape_.upserts - begun_);
  WriteBatch batch;
  for (uint64_t i = 0; i < count; ++i) add(batch, workload_.next(slot, shape_.in_flight));
  begun_ += count;
  ++open_;
  client_.client().write(
      std::move(batch), catalog_, Atomicity::PerRegion,
      [this, slot, now](Result<WriteOutcome, ClientFailure> outcome) { on_written(slot, now, outcome); });
}

void OrdersFeed::on_written(uint32_t slot, Micros sent_at,
                            const Result<WriteOutcome, ClientFailure>& outcome) {
  --open_;
  if (!outcome.ok()) {
    if (!result_.failure) result_.failure = outcome.error().message;
    return end_if_done();
  }
  result_.written += outcome->rows_affected.size();
  result_.tokens.raise(outcome->tokens);
  result_.ack_micros.push_back(static_cast<double>(client_.loop().now().value - sent_at.value));
  send(slot);
}

void OrdersFeed::end_if_done() {
  if (!running_ || open_ > 0 || (begun_ < shape_.upserts && !result_.failure)) return;
  running_ = false;
  result_.seconds = static_cast<double>(client_.loop().now().value - began_at_.value) / 1e6;
  done_.set_value(std::move(result_));
}

void OrdersFeed::write_some(const std::vector<Order>& orders, SomeWritten done) {
  WriteBatch batch;
  for (const Order& order : orders) {
    workload_.write(order);
    add(batch, order);
  }
  client_.client().write(std::move(batch), catalog_, Atomicity::PerRegion,
                         [done = std::move(done)](const Result<WriteOutcome, ClientFailure>& outcome) {
                           if (!outcome.ok()) return done(Error{outcome.error().message});
                           done(outcome->tokens);
                         });
}

Status write_customers(BenchClient& client, const pb::TableDefinition& customers, CatalogVersion catalog,
                       uint64_t count) {
  constexpr uint64_t kBatch = 1'000;
  const sql::TableCodec codec = *sql::TableCodec::make(customers);
  sql::EncodedRow row;
  for (uint64_t first = 1; first <= count; first += kBatch) {
    WriteBatch batch;
    for (uint64_t id = first; id < first + kBatch && id <= count; ++id) {
      const std::string name = customer_name(static_cast<int32_t>(id));
      const sql::Value values[] = {sql::Value::integer(static_cast<int32_t>(id)), sql::Value::text(name)};
      codec.encode(values, row);
      batch.add({OperationKind::Put, codec.table(), row.hash, row.key, row.row, std::nullopt});
    }
    std::promise<Status> done;
    client.loop().post([&] {
      client.client().write(
          std::move(batch), catalog, Atomicity::PerRegion,
          [&](const Result<WriteOutcome, ClientFailure>& outcome) {
            done.set_value(outcome.ok() ? Status{} : Status{Error{outcome.error().message}});
          });
    });
    TM_TRY(done.get_future().get());
  }
  return {};
}

}  // namespace tidemark::bench
