#include "cli/bench_command.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/orders/latencies.h"
#include "bench/orders/membership_bench.h"
#include "bench/orders/orders_bench.h"
#include "cli/command.h"
#include "cli/process_settings.h"
#include "cli/report.h"

namespace tidemark {

namespace {

constexpr char kCommand[] = "tidemark bench";
constexpr Micros kNever{int64_t{1} << 50};

struct BenchSettings {
  std::string view = "sum";
  std::string data;
  std::string kafka;
  std::string zookeeper;
  uint32_t nodes = 1;
  uint32_t view_managers = 1;
  double rate = 5'000;
  double seconds = 5;
  bool reopen = false;
  uint32_t rounds = 0;
  bool json = false;
  bench::OrdersShape shape;
  bench::FeedShape bulk;
  NodeMemorySettings memory;
  NewClusterSettings cluster;

  BenchSettings() { cluster.coordinator.regions = 4; }

  void add_to(Settings& settings) {
    settings.add("view", view, "sum (count and sum by group), filter, join, max; none: writing alone");
    settings.add("upserts", bulk.upserts, "written as fast as they are taken");
    settings.add("orders", shape.orders, "rows that upserts are spread over");
    settings.add("customers", shape.customers, "groups that orders belong to");
    settings.add("zipf", shape.zipf, "how unevenly orders are spread over customers; 0: evenly");
    settings.add("row-bytes", shape.row_bytes, "of an order");
    settings.add("batch", bulk.batch, "upserts of one write");
    settings.add("in-flight", bulk.in_flight, "writes at once");
    settings.add("rate", rate, "upserts per second of the steady feed, under which freshness is measured");
    settings.add("seconds", seconds, "of the steady feed; 0: none");
    settings.add("reopen", reopen, "crash in the end, and time until everything serves again");
    settings.add("rounds", rounds,
                 "instead: so often view managers are added, removed and killed, and a region moved");
    settings.add("seed", shape.seed, "of what is written");
    settings.add("nodes", nodes, "storage nodes");
    settings.add("view-managers", view_managers, "view managers");
    settings.add("regions", cluster.coordinator.regions, "regions");
    settings.add("data", data,
                 "directory for logs and checkpoints, which must be new; empty: a temporary one");
    settings.add("kafka", kafka,
                 "brokers to keep logs in, and messages go over TCP; empty: files, in process");
    settings.add("zookeeper", zookeeper, "servers for coordination, with --kafka");
    settings.add("json", json, "for programs");
    memory.add_to(settings);
    cluster.add_to(settings);
  }

  Status check() const {
    if (!bench::view_kind(view)) return Error{"view must be sum, filter, join, max or none"};
    if (kafka.empty() != zookeeper.empty()) return Error{"kafka and zookeeper belong together"};
    if (reopen && !kafka.empty()) return Error{"reopen is for files"};
    if (nodes == 0 || view_managers == 0) return Error{"there must be a node and a view manager at least"};
    if (bulk.upserts == 0 || bulk.batch == 0 || bulk.in_flight == 0) {
      return Error{"upserts, batch and in-flight must not be 0"};
    }
    if (shape.customers == 0 || shape.orders < bulk.in_flight) {
      return Error{"there must be a customer, and as many orders as writes at once"};
    }
    if (!data.empty() && std::filesystem::exists(data)) return Error{data + " is there already"};
    return cluster.check();
  }

  bench::BenchClusterOptions cluster_options(const std::string& directory) const {
    bench::BenchClusterOptions out;
    out.directory = directory;
    out.nodes = nodes;
    out.view_managers = view_managers;
    out.coordinator = cluster.settings();
    memory.apply_to(out.store);
    if (!kafka.empty()) {
      out.servers.emplace();
      out.servers->kafka_brokers = kafka;
      out.servers->zookeeper.servers = zookeeper;
      // Each run is a cluster of its own.
      out.servers->zookeeper.root = "/bench-" + std::to_string(::getpid());
    }
    return out;
  }

  bench::OrdersBenchOptions orders_options(const std::string& directory) const {
    bench::OrdersBenchOptions out;
    out.cluster = cluster_options(directory);
    if (reopen) out.cluster.node.checkpoint_interval = kNever;
    out.view = *bench::view_kind(view);
    out.shape = shape;
    out.bulk = bulk;
    out.steady_upserts_per_second = rate;
    out.steady_seconds = seconds;
    out.reopen = reopen;
    return out;
  }

  // The dead are not waited for: what is measured begins when a death is known.
  bench::MembershipBenchOptions membership_options(const std::string& directory) const {
    bench::MembershipBenchOptions out;
    out.cluster = cluster_options(directory);
    out.cluster.coordinator.spread_after = Micros{0};
    out.shape = shape;
    out.rounds = rounds;
    out.upserts_per_second = rate;
    return out;
  }
};

// The directory of one run; gone with it unless it was named.
class RunDirectory {
 public:
  explicit RunDirectory(const std::string& named) : path_(named), keep_(!named.empty()) {
    if (keep_) return;
    std::string made = (std::filesystem::temp_directory_path() / "tidemark-bench-XXXXXX").string();
    if (::mkdtemp(made.data()) != nullptr) path_ = made;
  }
  ~RunDirectory() {
    std::error_code ignored;
    if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const bool keep_;
};

ReportTable cpu_table(const bench::OrdersBenchResult& result) {
  ReportTable out{"cpu", {"who", "CPU-seconds per million upserts"}, {}};
  auto add = [&](const std::string& who, double seconds) {
    out.rows.push_back({who, Cell::number(seconds, 3)});
  };
  add("nodes", result.cpu.node);
  add("view managers", result.cpu.view_manager);
  add("background threads", result.cpu.others);
  add("the system", result.cpu.system());
  add("writing client", result.cpu.client);
  add("final checkpoint", result.checkpoint_cpu);
  for (const auto& [thread, seconds] : result.cpu.by_thread) add("thread '" + thread + "'", seconds);
  return out;
}

ReportTable latency_table(const bench::OrdersBenchResult& result) {
  ReportTable out{"latency", {"what", "count", "p50 ms", "p99 ms"}, {}};
  auto add = [&](const char* what, const std::vector<double>& micros) {
    if (micros.empty()) return;
    out.rows.push_back({what, Cell::number(uint64_t{micros.size()}),
                        Cell::number(bench::quantile(micros, 0.5) / 1e3, 3),
                        Cell::number(bench::quantile(micros, 0.99) / 1e3, 3)});
  };
  add("write at full speed", result.ack_micros);
  add("freshness at the steady rate", result.steady.fresh_micros);
  add("view read by key", result.steady.read_micros);
  return out;
}

Report report_of(const BenchSettings& settings, const bench::OrdersBenchResult& result) {
  const auto upserts = static_cast<double>(result.upserts);
  auto per_upsert = [&](uint64_t count) { return Cell::number(static_cast<double>(count) / upserts, 3); };
  Report out;
  out.fields = {
      {"view", settings.view},
      {"log", settings.kafka.empty() ? "files" : "kafka"},
      {"upserts", Cell::number(result.upserts)},
      {"upserts_per_second", Cell::number(upserts / result.converged_seconds, 0)},
      {"write_seconds", Cell::number(result.write_seconds, 2)},
      {"converged_seconds", Cell::number(result.converged_seconds, 2)},
      {"cpu_seconds_per_million", Cell::number(result.cpu.system(), 2)},
      {"steady_cpu_seconds_per_million", Cell::number(result.steady_cpu, 2)},
      {"effects_per_upsert", per_upsert(result.effects)},
      {"effects_sent_per_upsert", per_upsert(result.effects_sent)},
      {"effect_batches", Cell::number(result.effect_batches)},
      {"refused_batches", Cell::number(result.refused_batches)},
      {"log_records", Cell::number(result.log_records)},
      {"log_bytes_per_upsert", per_upsert(result.log_bytes)},
      {"row_cache_misses_per_upsert", per_upsert(result.cache_misses)},
      {"rows_evicted_per_upsert", per_upsert(result.rows_evicted)},
      {"rss_peak_megabytes", Cell::number(static_cast<double>(result.rss_peak_bytes) / 1e6, 0)},
      {"view_rows_verified", Cell::number(result.view_rows)},
  };
  if (settings.reopen) {
    out.fields.push_back({"reopen_seconds", Cell::number(result.reopen_seconds, 2)});
    out.fields.push_back({"reopen_cpu_seconds", Cell::number(result.reopen_cpu_seconds, 2)});
  }
  out.tables = {cpu_table(result), latency_table(result)};
  return out;
}

Report report_of(const BenchSettings& settings, const bench::MembershipBenchResult& result) {
  ReportTable table{"changes", {"change", "what", "count", "p50 ms", "p99 ms"}, {}};
  for (const auto& change : result.changes) {
    auto add = [&](const char* what, const std::vector<double>& micros) {
      if (micros.empty()) return;
      table.rows.push_back({change.what, what, Cell::number(uint64_t{micros.size()}),
                            Cell::number(bench::quantile(micros, 0.5) / 1e3, 2),
                            Cell::number(bench::quantile(micros, 0.99) / 1e3, 2)});
    };
    add("pause of a moving lane", change.lane_pause_micros);
    add("until all lanes flow", change.flowing_micros);
    add("the operation", change.took_micros);
  }
  Report out;
  out.fields = {{"activation", settings.cluster.activation},
                {"view_managers", Cell::number(uint64_t{settings.view_managers})},
                {"view_rows_verified", Cell::number(result.view_rows)}};
  out.tables = {std::move(table)};
  return out;
}

template <typename Result>
int print(const BenchSettings& settings, const Result& result) {
  if (!result.ok()) return say_failed(kCommand, result.error());
  const Report report = report_of(settings, *result);
  std::fputs((settings.json ? as_json(report) : as_text(report)).c_str(), stdout);
  return kDone;
}

}  // namespace

int bench_command(int argc, char** argv) {
  BenchSettings bench;
  Settings settings;
  bench.add_to(settings);
  if (auto ended = parse_or_end(settings, argc, argv, kCommand, "measures what keeping a view costs"))
    return *ended;
  if (Status status = bench.check(); !status.ok()) return say_wrong_usage(kCommand, status.error());
  RunDirectory directory(bench.data);
  if (bench.rounds > 0) {
    return print(bench, bench::run_membership_bench(bench.membership_options(directory.path())));
  }
  return print(bench, bench::run_orders_bench(bench.orders_options(directory.path())));
}

}  // namespace tidemark
