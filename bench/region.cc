// What a region costs per change, its log and rows in memory: the core alone. Client puts of rows of 100
// bytes, 90% of them updates, and effect batches of adds to sums, by the number of operations per message.
// The plain column is a hash table that takes the same rows: what anything that keeps rows must at least do.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "node/region/region.h"
#include "node/region/sql_row_arithmetic.h"
#include "proto/convert.h"
#include "proto/effect.h"
#include "proto/operation.h"
#include "sql/table/table_codec.h"

namespace {
uint64_t allocations = 0;
}

// Counted, to see that there are none per change.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace tidemark {
namespace {

constexpr ShardCount kShardCount{16384};
constexpr int64_t kKeys = 100'000;
constexpr size_t kOperations = 200'000;  // Prepared, and sent in turns.

// Rows in a hash table; a key is found by its hash alone, since the benchmark's are unique.
class HashRows : public RowStore {
 public:
  std::optional<std::string_view> get(TableId, uint64_t hash, std::string_view) override {
    auto it = rows_.find(hash);
    if (it == rows_.end()) return std::nullopt;
    return it->second;
  }
  void put(TableId, uint64_t hash, std::string_view, std::string_view row) override {
    rows_[hash].assign(row);
  }
  void erase(TableId, uint64_t hash, std::string_view) override { rows_.erase(hash); }
  void erase_tables(std::span<const TableId>, ShardRange) override {}
  std::unique_ptr<RowCursor> seek(TableId, uint64_t, std::string_view, Direction) override { std::abort(); }

 private:
  std::unordered_map<uint64_t, std::string> rows_;
};

pb::TableDefinition definition(uint32_t id, pb::RowRule rule, const std::vector<std::string>& types) {
  pb::TableDefinition out;
  out.set_id(id);
  out.set_name("t" + std::to_string(id));
  out.set_kind(rule == pb::SUM ? pb::AUXILIARY : pb::MANAGED);
  out.set_row_rule(rule);
  out.set_created(1);
  out.add_distribution(0);
  for (const std::string& type : types) {
    out.add_columns()->set_name("c" + std::to_string(out.columns_size()));
    out.mutable_columns(out.columns_size() - 1)->set_type(type);
  }
  return out;
}

// A region that owns a stream whose appends are durable in the next turn.
class Bench {
 public:
  Bench()
      : region_(RegionState({RegionId{1}, kShardCount.all(), Generation{1}, kShardCount}), rows_,
                arithmetic_) {
    auto catalog = std::make_shared<pb::Catalog>();
    catalog->set_version(1);
    *catalog->add_tables() = definition(1, pb::PUT, {"bigint", "text"});
    *catalog->add_tables() = definition(2, pb::SUM, {"bigint", "bigint", "numeric"});
    // A view of the base table, so that changes carry the row before.
    pb::TableDefinition view = definition(3, pb::SUM, {"bigint", "bigint"});
    view.add_sources(1);
    view.add_sources(2);
    *catalog->add_tables() = view;
    reader_.next = Offset{1};
    region_.on_catalog(catalog, out_);
    region_.on_opened(Offset{0}, MapVersion{1}, out_);
    turn();
    region_.on_open_session({}, {}, out_);
    turn();
    turn();
    session_.set_region(1);
    session_.set_offset(2);
  }

  Region& region() { return region_; }
  RegionCommands& out() { return out_; }
  const pb::SessionName& session() const { return session_; }

  // The end of a turn of the loop: what was appended in the last one is durable.
  void turn() {
    std::swap(landing_, in_flight_);
    for (AppendCommand& append : landing_) {
      WalRecord record{{append.kind, {1, RegionId{1}}, Offset{0}, append.at, {}, 0},
                       std::move(append.payload)};
      reader_.next = Offset{append.at.value + 1};
      log_bytes_ += record.payload.size();
      if (!region_.on_record(append.at, record, reader_, out_).ok()) std::abort();
    }
    landing_.clear();
    now_.value += 1'000;
    region_.on_tick(now_, out_);
    for (AppendCommand& append : out_.appends) in_flight_.push_back(std::move(append));
    for (const SendCommand& send : out_.sends) {
      if (send.message->has_refusal()) std::abort();
      if (send.message->effects_answer().verdict() > pb::EffectAnswer::APPLIED) std::abort();
    }
    out_.clear();
  }

  void report(benchmark::State& state, size_t changes, uint64_t allocated) const {
    auto total = static_cast<double>(changes);
    state.counters["changes"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
    state.counters["messages"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["cpu_s_per_M"] =
        benchmark::Counter(total / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["allocations_per_change"] = static_cast<double>(allocated) / total;
    state.counters["log_bytes_per_change"] = static_cast<double>(log_bytes_) / total;
  }

 private:
  HashRows rows_;
  SqlRowArithmetic arithmetic_;
  Region region_;
  RegionCommands out_;
  ReaderState reader_;
  std::vector<AppendCommand> in_flight_, landing_;
  pb::SessionName session_;
  Micros now_{1};
  uint64_t log_bytes_ = 0;
};

// How many messages come in one turn, so that a turn has about 1,000 operations.
size_t messages_per_turn(size_t operations) {
  return operations >= 1'000 ? 1 : 1'000 / operations;
}

void BM_ClientPuts(benchmark::State& state) {
  Bench bench;
  Random random(1);
  auto size = static_cast<size_t>(state.range(0));
  sql::TableCodec codec = *sql::TableCodec::make(definition(1, pb::PUT, {"bigint", "text"}));
  std::vector<pb::WriteRequest> requests(kOperations / size);
  std::string text(72, 'x');
  for (pb::WriteRequest& request : requests) {
    *request.mutable_session() = bench.session();
    for (size_t i = 0; i < size; ++i) {
      // A tenth are of keys that come but once per round.
      auto key =
          static_cast<int64_t>(random.chance(.9) ? random.below(kKeys) : kKeys + random.below(100 * kKeys));
      text.replace(0, 8, std::to_string(10'000'000 + random.below(80'000'000)));
      sql::EncodedRow row;
      codec.encode(std::vector<sql::Value>{sql::Value::bigint(key), sql::Value::text(text)}, row);
      append_operation(*request.mutable_operations(),
                       {OperationKind::Put, TableId{1}, row.hash, row.key, row.row, {}});
    }
  }
  uint64_t number = 0;
  size_t in_turn = 0;
  uint64_t before = allocations;
  for (auto _ : state) {
    pb::WriteRequest& request = requests[number % requests.size()];
    ++number;
    request.set_number(number);
    request.set_lowest_unanswered(number > 4'000 ? number - 4'000 : 1);
    bench.region().on_write({Address{"c"}, number}, request, bench.out());
    if (++in_turn == messages_per_turn(size)) {
      bench.turn();
      in_turn = 0;
    }
  }
  bench.report(state, number * size, allocations - before);
}
BENCHMARK(BM_ClientPuts)->Arg(1)->Arg(100)->Arg(1'000);

void BM_SumAdds(benchmark::State& state) {
  Bench bench;
  Random random(1);
  auto size = static_cast<size_t>(state.range(0));
  sql::TableCodec codec = *sql::TableCodec::make(definition(2, pb::SUM, {"bigint", "bigint", "numeric"}));
  std::vector<pb::EffectBatch> batches(kOperations / size);
  for (pb::EffectBatch& batch : batches) {
    *batch.mutable_part() = to_pb(kShardCount.all());
    batch.set_catalog_version(1);
    for (size_t i = 0; i < size; ++i) {
      sql::EncodedRow row;
      codec.encode(
          std::vector<sql::Value>{
              sql::Value::bigint(static_cast<int64_t>(random.below(kKeys))), sql::Value::bigint(1),
              sql::Value::numeric(sql::Numeric::small(static_cast<int64_t>(random.below(100'000)), 2))},
          row);
      append_effect(*batch.mutable_effects(), {EffectKind::Add, TableId{2}, row.hash, row.key, row.row});
    }
    // Two slices of lanes, as of one view manager's queues.
    for (uint32_t lanes : {0u, 8192u}) {
      pb::LaneStep& step = *batch.add_lanes();
      step.mutable_lanes()->set_begin(lanes);
      step.mutable_lanes()->set_end(lanes + 4096);
    }
  }
  uint64_t sent = 0;
  size_t in_turn = 0;
  uint64_t before = allocations;
  for (auto _ : state) {
    pb::EffectBatch& batch = batches[sent % batches.size()];
    for (pb::LaneStep& step : *batch.mutable_lanes()) {
      step.mutable_prev()->set_offset(sent);
      step.mutable_to()->set_offset(sent + 1);
    }
    ++sent;
    bench.region().on_effects({Address{"v"}, sent}, batch, bench.out());
    if (++in_turn == messages_per_turn(size)) {
      bench.turn();
      in_turn = 0;
    }
  }
  bench.report(state, sent * size, allocations - before);
}
BENCHMARK(BM_SumAdds)->Arg(1)->Arg(100)->Arg(1'000);

// The floor: rows of 100 bytes into a hash table.
void BM_PlainHashTable(benchmark::State& state) {
  HashRows rows;
  Random random(1);
  std::string row(100, 'x');
  uint64_t count = 0;
  for (auto _ : state) {
    rows.put(TableId{1}, random.below(kKeys) * 0x9e3779b97f4a7c15, {}, row);
    ++count;
  }
  state.counters["changes"] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  state.counters["cpu_s_per_M"] = benchmark::Counter(
      static_cast<double>(count) / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_PlainHashTable);

}  // namespace
}  // namespace tidemark

BENCHMARK_MAIN();
