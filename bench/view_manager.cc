// CPU of a view manager per change: count and sum by group over upserts that have a row before, through
// decoding, operators, lanes, combining and batches. items_per_second is changes; the goal is well above
// 1,000,000.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "proto/convert.h"
#include "sql/plan/catalog_plans.h"
#include "sql/plan/planner.h"
#include "view_manager/core.h"
#include "view_manager/view_programs.h"

namespace tidemark {
namespace {

constexpr ShardCount kShards{16384};
constexpr int kChangesPerRecord = 1000;

pb::Catalog make_catalog() {
  pb::Catalog catalog;
  catalog.set_version(3);
  pb::TableDefinition& orders = *catalog.add_tables();
  orders.set_id(1);
  orders.set_name("orders");
  orders.set_kind(pb::MANAGED);
  orders.set_row_rule(pb::PUT);
  orders.set_created(1);
  for (auto [name, type] :
       {std::pair{"id", "bigint"}, {"customer", "integer"}, {"amount", "numeric(12,2)"}}) {
    orders.add_columns()->set_name(name);
    orders.mutable_columns(orders.columns_size() - 1)->set_type(type);
  }
  orders.add_distribution(0);
  class One : public sql::Catalog {
   public:
    explicit One(sql::TableSchemaPtr table) : table_(std::move(table)) {}
    sql::TableSchemaPtr find_table(std::string_view, std::string_view name) const override {
      return name == table_->name ? table_ : nullptr;
    }

   private:
    sql::TableSchemaPtr table_;
  };
  sql::StoredTablePtr stored = *sql::stored_table(orders);
  auto plan = sql::plan_statement(
      "create materialized view v as select customer, count(*) as n, sum(amount) as s from orders group by "
      "customer",
      TableId{2}, One(sql::schema_of(*stored)), [&](TableId) { return stored; });
  for (pb::TableDefinition table : plan->tables) {
    table.set_created(2);
    table.set_begun(3);
    *catalog.add_tables() = table;
  }
  return catalog;
}

// Records of upserts: the order moves to another customer once in ten times.
std::vector<MessagePtr> make_records(const sql::TableCodec& codec, int count) {
  Random random(1);
  std::vector<MessagePtr> out;
  for (int r = 0; r < count; ++r) {
    auto message = std::make_shared<pb::Message>();
    pb::QueueRecords& records = *message->mutable_queue_records();
    records.set_region(1);
    records.set_epoch(1);
    pb::QueueEntry& entry = *records.add_entries();
    entry.set_catalog_version(3);
    for (int i = 0; i < kChangesPerRecord; ++i) {
      int64_t id = random.between(0, 2'000'000);
      auto customer = static_cast<int32_t>(random.between(0, 100'000));
      auto encode = [&](int32_t who, int64_t cents, sql::EncodedRow& row) {
        const sql::Value values[] = {sql::Value::bigint(id), sql::Value::integer(who),
                                     sql::Value::numeric(sql::Numeric::small(cents, 2))};
        codec.encode(values, row);
      };
      sql::EncodedRow before, after;
      encode(customer, random.between(1, 100'000), before);
      encode(random.chance(0.1) ? customer / 2 : customer, random.between(1, 100'000), after);
      Change change;
      change.table = TableId{1};
      change.hash = after.hash;
      change.key = after.key;
      change.before = before.row;
      change.after = after.row;
      append_change(*entry.mutable_changes(), change);
    }
    out.push_back(std::move(message));
  }
  return out;
}

void count_and_sum_by_group(benchmark::State& state) {
  pb::Catalog catalog = make_catalog();
  ViewPrograms programs;
  std::vector<std::string> failures;
  programs.update(catalog, failures);
  if (!failures.empty()) return state.SkipWithError(failures.front().c_str());
  sql::TableCodec codec = *sql::TableCodec::make(catalog.tables(0));
  std::vector<MessagePtr> records = make_records(codec, 32);
  ViewManagerCore core(ViewManagerId{"vm"}, kShards, programs, {});
  pb::RegionMap map;
  const uint32_t regions = static_cast<uint32_t>(state.range(0));
  for (uint32_t i = 0; i < regions; ++i) {
    ShardRange range{ShardId{kShards.value / regions * i}, ShardId{kShards.value / regions * (i + 1)}};
    *map.add_regions()->mutable_shards() = to_pb(range);
  }
  core.on_regions(map);
  std::vector<Outgoing> out;
  // Every batch is applied at once; what a region costs is not measured here.
  auto answer_all = [&] {
    while (!out.empty()) {
      std::vector<Outgoing> batches = std::move(out);
      out.clear();
      for (const Outgoing& one : batches) {
        if (!one.message->has_effects() && !one.message->has_positions()) continue;
        auto message = std::make_shared<pb::Message>();
        message->set_request(one.message->request());
        pb::EffectAnswer& answer = *message->mutable_effects_answer();
        if (one.message->has_positions()) {
          answer.set_verdict(pb::EffectAnswer::REFUSED);
          ShardRange part{one.shard, ShardId{one.shard.value + kShards.value / regions}};
          *answer.add_parts()->mutable_shards() = to_pb(part);
        } else {
          answer.set_verdict(pb::EffectAnswer::APPLIED);
          *answer.mutable_part() = one.message->effects().part();
          for (const pb::LaneStep& step : one.message->effects().lanes()) {
            pb::LaneRun& run = *answer.add_to();
            *run.mutable_lanes() = step.lanes();
            *run.mutable_position() = step.to();
          }
        }
        core.on_message({"node"}, message);
      }
      core.pump(out);
    }
  };
  auto open = std::make_shared<pb::Message>();
  open->mutable_queue_open()->set_region(1);
  open->mutable_queue_open()->set_epoch(1);
  open->mutable_queue_open()->set_identity("vm");
  *open->mutable_queue_open()->mutable_shards() = to_pb(kShards.all());
  to_pb({{kShards.all(), {}}}, *open->mutable_queue_open()->mutable_lanes());
  core.on_message({"node"}, open);
  core.pump(out);
  answer_all();

  uint64_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto message = std::make_shared<pb::Message>(*records[next % records.size()]);
    message->mutable_queue_records()->set_sequence(next + 1);
    message->mutable_queue_records()->mutable_entries(0)->set_offset(next);
    ++next;
    state.ResumeTiming();
    core.on_message({"node"}, message);
    core.pump(out);
    answer_all();
  }
  if (core.counts().applied == 0 || core.counts().malformed > 0) state.SkipWithError("nothing was applied");
  state.SetItemsProcessed(static_cast<int64_t>(next) * kChangesPerRecord);
  state.counters["effects_per_change"] =
      static_cast<double>(core.counts().effects) / static_cast<double>(next * kChangesPerRecord);
}
BENCHMARK(count_and_sum_by_group)->Arg(1)->Arg(16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemark

BENCHMARK_MAIN();
