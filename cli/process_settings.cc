#include "cli/process_settings.h"

#include <unistd.h>

#include <bit>
#include <cstdio>

#include "base/process/open_files.h"
#include "cli/command.h"
#include "coordinator/ring_planner.h"
#include "server/listen_address.h"

namespace tidemark {

void ProcessSettings::add_to(Settings& settings) {
  settings.add("log.level", log.level, "debug, info, warning or error");
  settings.add("log.file", log.file, "file that the log is appended to; empty: stderr");
  settings.add("metrics.listen", metrics_listen, "where Prometheus finds /metrics; empty: nowhere");
  settings.add("network.allow_unauthenticated_remote_access", remote_allowed,
               "listen on addresses that other machines can reach, though nobody is asked for a password");
}

Result<std::unique_ptr<Process>> Process::start(const ProcessSettings& settings, const std::string& command) {
  std::unique_ptr<Process> process(new Process());
  auto log = open_log_sink(settings.log);
  if (!log.ok()) return log.error();
  process->log_ = std::move(*log);
  process->logger("process").info("starts", kv("command", command),
                                  kv("open_files_max", raise_open_files_max()));
  if (!settings.metrics_listen.empty()) {
    TM_TRY(check_listen_address("metrics.listen", settings.metrics_listen, settings.remote_allowed));
    auto port = process->metrics_.expose(settings.metrics_listen);
    if (!port.ok()) return port.error();
    process->logger("metrics").info("serves metrics", kv("port", *port), kv("command", command));
  }
  return process;
}

void SurroundingsSettings::add_zookeeper_to(Settings& settings) {
  settings.add("zookeeper.servers", zookeeper.servers, "host:port,host:port of the ZooKeeper ensemble");
  settings.add("zookeeper.root", zookeeper.root, "path below which the cluster's facts lie");
  settings.add("zookeeper.digest", zookeeper.digest, "user:password; facts are made for that user alone");
  settings.add("zookeeper.session_timeout", zookeeper.session_timeout,
               "how long a process may be silent before others believe it dead");
}

void SurroundingsSettings::add_kafka_to(Settings& settings) {
  settings.add("kafka.brokers", kafka_brokers, "host:port,host:port of the Kafka brokers that keep the logs");
  settings.add("kafka.settings", kafka_settings,
               "settings of librdkafka, each name=value: TLS, SASL, timeouts");
}

Result<std::unique_ptr<ClusterSurroundings>> SurroundingsSettings::open(
    const ClusterSurroundings::Loggers& logs) const {
  if (zookeeper.servers.empty()) return Error{"zookeeper.servers is missing"};
  ClusterSurroundingsOptions options{
      .zookeeper = zookeeper, .kafka_brokers = kafka_brokers, .kafka_settings = {}};
  for (const std::string& setting : kafka_settings) {
    const size_t equals = setting.find('=');
    // Never printed: it may be a password.
    if (equals == std::string::npos || equals == 0) return Error{"kafka.settings: each must be name=value"};
    options.kafka_settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return ClusterSurroundings::open(std::move(options), logs);
}

void NodeMemorySettings::add_to(Settings& settings) {
  settings.add("memory.row_cache", row_cache, "rows in memory, per node");
  settings.add("memory.block_cache", block_cache, "RocksDB's block cache, per node");
  settings.add("memory.write_buffers", write_buffers, "RocksDB's write buffers, per node");
}

void NodeMemorySettings::apply_to(RocksStoreOptions& options) const {
  options.row_cache_bytes = row_cache.value;
  options.block_cache_bytes = block_cache.value;
  options.write_buffer_bytes = write_buffers.value;
}

void SqlSettings::add_to(Settings& settings) {
  settings.add("sql.connections_max", connections_max, "clients at a time; further ones are told so");
  settings.add("sql.query_memory", query_memory, "rows that one query may hold to sort, group or join them");
  settings.add("sql.result_memory", result_memory,
               "rows that may be kept for a client of statements that can not wait for it");
}

SqlLimits SqlSettings::limits() const {
  return {.connections_max = connections_max,
          .query_bytes_max = query_memory.value,
          .result_bytes_max = result_memory.value};
}

void NewClusterSettings::add_to(Settings& settings) {
  settings.add("cluster.shards", coordinator.shards,
               "equal pieces of the hash space, a power of two up to 16384; fixed for the life of a cluster");
  settings.add("cluster.placement", coordinator.placement,
               "strategy by which shards are given to view managers");
  settings.add("cluster.activation", activation,
               "who lets moved lanes go on: 'node' (each for its own) or 'coordinator' (once for all)");
  settings.add("coordinator.spread_after", coordinator.spread_after,
               "how long a dead view manager is waited for before its shards go to others");
  settings.add("coordinator.replica_absence", coordinator.replica_absence,
               "how long a standby may be away before it is replaced");
  settings.add("coordinator.discard_records_min", coordinator.discard_records_min,
               "a log is cut when so many records can go; 0: only on request");
  settings.add("coordinator.rebalance_every", coordinator.rebalance_every,
               "how often the load of view managers is evened out; 0s: only on request");
}

Status NewClusterSettings::check() const {
  // A batch of effects, and a record of progress, name runs of lanes, which must fit a record: every second
  // shard, where two view managers have them in turn.
  constexpr uint32_t kShardsMax = 16'384;
  if (!std::has_single_bit(coordinator.shards) || coordinator.shards > kShardsMax)
    return Error{"cluster.shards must be a power of two up to " + std::to_string(kShardsMax)};
  if (coordinator.regions == 0 || coordinator.regions > coordinator.shards)
    return Error{"there must be at least one region, and at most one per shard"};
  if (activation != "node" && activation != "coordinator")
    return Error{"cluster.activation must be 'node' or 'coordinator'"};
  if (!is_placement(coordinator.placement))
    return Error{"cluster.placement: there is no strategy '" + coordinator.placement +
                 "'; see docs/placement.md"};
  return {};
}

CoordinatorSettings NewClusterSettings::settings() const {
  CoordinatorSettings out = coordinator;
  out.activation = activation == "node" ? pb::ACTIVATE_BY_NODE : pb::ACTIVATE_BY_COORDINATOR;
  return out;
}

std::optional<int> parse_or_end(Settings& settings, int argc, char** argv, const std::string& command,
                                const std::string& summary) {
  auto arguments = settings.parse(argc, argv);
  if (!arguments.ok()) return say_wrong_usage(command, arguments.error());
  if (arguments->help) {
    std::printf(
        "%s: %s\n\nSettings, as flags or in the file of --config FILE ([log] level = \"info\"):\n\n%s",
        command.c_str(), summary.c_str(), settings.help_text().c_str());
    return kDone;
  }
  if (arguments->print_config) {
    std::fputs(settings.example_file().c_str(), stdout);
    return kDone;
  }
  if (!arguments->positional.empty())
    return say_wrong_usage(command, Error{"'" + arguments->positional.front() + "' is not a setting"});
  return std::nullopt;
}

int say_wrong_usage(const std::string& command, const Error& error) {
  std::fprintf(stderr, "%s: %s; --help tells what there is\n", command.c_str(), error.message.c_str());
  return kWrongUsage;
}

int say_failed(const std::string& command, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", command.c_str(), error.message.c_str());
  return kFailed;
}

void say_ready() {
  std::puts("ready");
  std::fflush(stdout);
}

void end_process(const std::string& command, const std::string& reason) {
  std::fprintf(stderr, "%s: %s\n", command.c_str(), reason.c_str());
  std::fflush(nullptr);
  _exit(kFailed);
}

}  // namespace tidemark
