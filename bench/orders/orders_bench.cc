#include "bench/orders/orders_bench.h"

#include <chrono>

#include "bench/orders/process_figures.h"
#include "bench/orders/tables.h"

namespace tidemark::bench {

namespace {

constexpr char kClient[] = "client";
constexpr char kProbe[] = "probe";

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_client(const std::string& thread) {
  return thread == kClient || thread == kProbe;
}

// Threads are named by AsioLoop: "node node1", "vm vm1".
CpuCost cost_between(const ProcessFigures& before, const ProcessFigures& after, uint64_t upserts,
                     const std::string& main_thread) {
  CpuCost out;
  const double per_million = 1e6 / static_cast<double>(upserts);
  for (const auto& [thread, seconds] : after.cpu_seconds) {
    auto earlier = before.cpu_seconds.find(thread);
    const double used = (seconds - (earlier == before.cpu_seconds.end() ? 0 : earlier->second)) * per_million;
    const bool ours = thread == main_thread || is_client(thread);
    (ours                            ? out.client
     : thread.rfind("node ", 0) == 0 ? out.node
     : thread.rfind("vm ", 0) == 0   ? out.view_manager
                                     : out.others) += used;
    if (used >= 0.0005) out.by_thread[thread] += used;
  }
  return out;
}

class Run {
 public:
  explicit Run(const OrdersBenchOptions& options)
      : options_(options), workload_(options.shape, kProbeOrders) {}

  Result<OrdersBenchResult> run() {
    TM_TRY(set_up());
    TM_TRY(bulk());
    TM_TRY(verify());
    if (options_.steady_seconds > 0) {
      TM_TRY(steady());
      TM_TRY(verify());
    }
    if (options_.reopen) {
      TM_TRY(reopen());
      TM_TRY(verify());
    }
    end();
    return std::move(out_);
  }

 private:
  Status start() {
    auto started = BenchCluster::start(options_.cluster);
    if (!started.ok()) return started.error();
    cluster_ = std::move(*started);
    client_ = std::make_unique<BenchClient>(cluster_->surroundings(), kClient);
    return {};
  }

  Status set_up() {
    TM_TRY(start());
    auto catalog = make_tables(*client_, options_.view, options_.shape.customers + kProbeOrders);
    if (!catalog.ok()) return catalog.error();
    catalog_ = *catalog;
    return {};
  }

  Status bulk() {
    const NodeServer::Figures node = cluster_->node_figures();
    const ViewManagerServer::Figures view_manager = cluster_->view_manager_figures();
    reset_peak_rss();
    const ProcessFigures before = process_figures();
    const double began = now_seconds();
    OrdersFeed feed(*client_, workload_, find_table(catalog_, "orders"), CatalogVersion{catalog_.version()});
    FeedResult fed = feed.run(options_.bulk);
    if (fed.failure) return Error{"a write failed: " + *fed.failure};
    TM_TRY(wait_for_view(fed.tokens));
    out_.converged_seconds = now_seconds() - began;
    const ProcessFigures after = process_figures();
    out_.upserts = fed.written;
    out_.write_seconds = fed.seconds;
    out_.ack_micros = std::move(fed.ack_micros);
    out_.cpu = cost_between(before, after, fed.written, main_thread_);
    out_.rss_peak_bytes = peak_rss_bytes();
    take_figures(node, view_manager);
    return {};
  }

  void take_figures(const NodeServer::Figures& node, const ViewManagerServer::Figures& view_manager) {
    const NodeServer::Figures node_now = cluster_->node_figures();
    const ViewManagerServer::Figures vm_now = cluster_->view_manager_figures();
    out_.log_records = node_now.log.records - node.log.records;
    out_.log_bytes = node_now.log.bytes - node.log.bytes;
    out_.cache_misses = node_now.rows.misses - node.rows.misses;
    out_.rows_evicted = node_now.rows.evicted - node.rows.evicted;
    out_.effects = vm_now.batches.effects - view_manager.batches.effects;
    out_.effects_sent = out_.effects - (vm_now.batches.combined - view_manager.batches.combined);
    out_.effect_batches = vm_now.core.batches - view_manager.core.batches;
    out_.refused_batches = vm_now.core.refused - view_manager.core.refused;
  }

  Status wait_for_view(const LaneRuns& tokens) {
    if (options_.view == ViewKind::None) return {};
    return client_->wait(path_to(find_table(catalog_, "v"), catalog_), tokens);
  }

  Status verify() {
    const pb::TableDefinition& table = watched_table(catalog_, options_.view);
    ViewCheck check(options_.view, table, workload_);
    TM_TRY(client_->scan(TableId{table.id()},
                         [&](const StoredRow& row) { return check.take(row.key, row.row); }));
    TM_TRY(check.end());
    out_.view_rows = check.rows();
    return {};
  }

  Status steady() {
    const pb::TableDefinition& orders = find_table(catalog_, "orders");
    const CatalogVersion version{catalog_.version()};
    BenchClient probe_client(cluster_->surroundings(), kProbe);
    OrdersFeed feed(*client_, workload_, orders, version);
    Probe probe(probe_client, workload_, options_.view, orders, watched_table(catalog_, options_.view),
                version);
    FeedShape shape;
    shape.upserts_per_second = options_.steady_upserts_per_second;
    shape.upserts = static_cast<uint64_t>(shape.upserts_per_second * options_.steady_seconds);
    shape.batch = static_cast<uint32_t>(std::max(1.0, shape.upserts_per_second / 200));
    shape.in_flight = options_.bulk.in_flight;
    const ProcessFigures before = process_figures();
    std::future<FeedResult> feeding = feed.start(shape);
    probe.start();
    FeedResult fed = feeding.get();
    out_.steady = probe.stop();
    if (fed.failure) return Error{"a write failed: " + *fed.failure};
    out_.steady_cpu = cost_between(before, process_figures(), fed.written, main_thread_).system();
    return wait_for_view(fed.tokens);
  }

  // As after kill -9 of everything: regions read their logs from the last checkpoint, then serve.
  Status reopen() {
    client_.reset();
    cluster_.reset();
    const ProcessFigures before = process_figures();
    const double began = now_seconds();
    TM_TRY(start());
    std::vector<Order> orders;
    for (uint64_t probe = 0; probe < kProbeOrders; ++probe) {
      orders.push_back({static_cast<int64_t>(options_.shape.orders + probe),
                        static_cast<int32_t>(options_.shape.customers + 1 + probe), 1});
    }
    OrdersFeed feed(*client_, workload_, find_table(catalog_, "orders"), CatalogVersion{catalog_.version()});
    std::promise<Result<LaneRuns>> written;
    client_->loop().post(
        [&] { feed.write_some(orders, [&](const Result<LaneRuns>& tokens) { written.set_value(tokens); }); });
    const Result<LaneRuns> tokens = written.get_future().get();
    if (!tokens.ok()) return Error{"a write after opening again failed: " + tokens.error().message};
    out_.reopen_seconds = now_seconds() - began;
    out_.reopen_cpu_seconds = process_figures().total_cpu_seconds - before.total_cpu_seconds;
    return wait_for_view(*tokens);
  }

  void end() {
    const ProcessFigures before = process_figures();
    client_.reset();
    cluster_->stop();
    const double used = process_figures().total_cpu_seconds - before.total_cpu_seconds;
    out_.checkpoint_cpu = used * 1e6 / static_cast<double>(out_.upserts);
  }

  const OrdersBenchOptions options_;
  const std::string main_thread_ = this_thread_name();
  OrdersWorkload workload_;
  std::unique_ptr<BenchCluster> cluster_;
  std::unique_ptr<BenchClient> client_;
  pb::Catalog catalog_;
  OrdersBenchResult out_;
};

}  // namespace

Result<OrdersBenchResult> run_orders_bench(const OrdersBenchOptions& options) {
  return Run(options).run();
}

}  // namespace tidemark::bench
