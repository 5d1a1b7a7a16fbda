// Settings that the long-running commands share, and how these commands begin and end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/log_sink.h"
#include "base/process/prometheus_metrics.h"
#include "base/process/settings.h"
#include "coordinator/situation.h"
#include "node/store/rocks_store.h"
#include "server/cluster_surroundings.h"
#include "server/sql_server.h"

namespace tidemark {

// Of every process.
struct ProcessSettings {
  LogSettings log;
  std::string metrics_listen;  // Empty: none are served.
  bool remote_allowed = false;

  void add_to(Settings& settings);
};

// What every long-running process has: a log, all the open files that it may have, and metrics if asked for.
class Process {
 public:
  // Error: the log can't be written, or the address of the metrics can't be listened on.
  static Result<std::unique_ptr<Process>> start(const ProcessSettings& settings, const std::string& command);

  LogSink& log() { return *log_; }
  Logger logger(const std::string& component) { return Logger(*log_, component); }
  Metrics& metrics() { return metrics_; }

 private:
  Process() = default;

  std::unique_ptr<LogSink> log_;
  PrometheusMetrics metrics_;
};

// Of every process of a cluster.
struct SurroundingsSettings {
  ZooKeeperOptions zookeeper;
  std::string kafka_brokers;
  std::vector<std::string> kafka_settings;  // "name=value"

  void add_zookeeper_to(Settings& settings);
  void add_kafka_to(Settings& settings);
  // Error: a setting that is wrong.
  Result<std::unique_ptr<ClusterSurroundings>> open(const ClusterSurroundings::Loggers& logs) const;
};

// Of every storage node.
struct NodeMemorySettings {
  ByteSize row_cache{uint64_t{256} << 20};
  ByteSize block_cache{uint64_t{64} << 20};
  ByteSize write_buffers{uint64_t{64} << 20};

  void add_to(Settings& settings);
  void apply_to(RocksStoreOptions& options) const;
};

// Of every process that serves SQL.
struct SqlSettings {
  uint32_t connections_max = 1000;
  ByteSize query_memory{uint64_t{256} << 20};
  ByteSize result_memory{uint64_t{256} << 20};

  void add_to(Settings& settings);
  SqlLimits limits() const;
};

// What a new cluster is like, and how its coordinator decides. `regions` is added by the command.
struct NewClusterSettings {
  CoordinatorSettings coordinator;
  std::string activation = "node";

  void add_to(Settings& settings);
  Status check() const;
  CoordinatorSettings settings() const;
};

// Reads flags and file. A value: the command ends with it at once (--help, or wrong usage, which was said).
std::optional<int> parse_or_end(Settings& settings, int argc, char** argv, const std::string& command,
                                const std::string& summary);
int say_wrong_usage(const std::string& command, const Error& error);
int say_failed(const std::string& command, const Error& error);

// The line that says that a process serves, for whoever waits for it.
void say_ready();

// Says why on stderr and ends the process at once, from any thread: nothing is tidied up, as in a crash.
[[noreturn]] void end_process(const std::string& command, const std::string& reason);

}  // namespace tidemark
