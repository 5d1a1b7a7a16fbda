#include "cli/node_command.h"

#include <cstdio>

#include "base/process/shutdown.h"
#include "cli/command.h"
#include "cli/process_settings.h"
#include "coordinator/facts.h"
#include "server/launcher.h"
#include "server/listen_address.h"
#include "server/node_server.h"
#include "server/sql_server.h"
#include "server/watchdog.h"

namespace tidemark {

namespace {

constexpr char kCommand[] = "tidemark node";

struct NodeSettings {
  std::string name;
  std::string listen = "127.0.0.1:7400";
  std::string advertise;
  std::string sql_listen = "127.0.0.1:7432";
  std::string data;
  uint32_t weight = 1;
  Micros checkpoint_interval = NodeOptions{}.checkpoint_interval;
  Micros hang_patience{60'000'000};
  ProcessSettings process;
  SurroundingsSettings surroundings;
  NodeMemorySettings memory;
  SqlSettings sql;
  NewClusterSettings cluster;

  void add_to(Settings& settings) {
    settings.add("node.name", name, "unique in the cluster; survives restarts");
    settings.add("node.listen", listen, "where other processes and `tidemark admin` connect");
    settings.add("node.advertise", advertise, "what others are told to connect to; empty: node.listen");
    settings.add("node.data", data, "directory of the checkpoints; made if missing");
    settings.add("node.weight", weight, "its share of the regions");
    settings.add("node.checkpoint_interval", checkpoint_interval, "how often checkpoints are saved");
    settings.add("node.hang_patience", hang_patience,
                 "a process whose event loop hangs for so long is ended");
    settings.add("sql.listen", sql_listen, "where PostgreSQL's clients connect");
    surroundings.add_zookeeper_to(settings);
    surroundings.add_kafka_to(settings);
    memory.add_to(settings);
    sql.add_to(settings);
    settings.add("cluster.regions", cluster.coordinator.regions, "regions of a new cluster");
    settings.add("cluster.replicas", cluster.coordinator.replicas,
                 "copies of each region, the owner's included");
    settings.add("cluster.nodes_min", cluster.coordinator.nodes_min,
                 "a new cluster is made once so many nodes");
    settings.add("cluster.view_managers_min", cluster.coordinator.view_managers_min,
                 "and so many view managers are there");
    cluster.add_to(settings);
    settings.add("coordinator.launcher", cluster.coordinator.launcher,
                 "command that starts a view manager; its name is added as the last argument");
    settings.add("coordinator.launch_grace", cluster.coordinator.launch_grace,
                 "how long a launched view manager may take to register");
    process.add_to(settings);
  }

  Status check() const {
    if (!is_valid_member_name(name))
      return Error{
          "node.name is missing or no good: use letters, digits, '-', '_' and '.', the first a letter, digit "
          "or '_'"};
    if (data.empty()) return Error{"node.data is missing"};
    if (surroundings.kafka_brokers.empty()) return Error{"kafka.brokers is missing"};
    TM_TRY(check_listen_address("node.listen", listen, process.remote_allowed));
    TM_TRY(check_listen_address("sql.listen", sql_listen, process.remote_allowed));
    return cluster.check();
  }
};

NodeServerOptions options_from(const NodeSettings& settings, const Logger& log) {
  NodeServerOptions options;
  options.node.name = settings.name;
  options.node.address = settings.advertise;
  options.node.weight = settings.weight;
  options.node.checkpoint_interval = settings.checkpoint_interval;
  options.listen = Address{settings.listen};
  options.store.directory = settings.data;
  settings.memory.apply_to(options.store);
  options.coordinator = settings.cluster.settings();
  options.launch = command_launcher(options.coordinator.launcher, log);
  options.log = log;
  options.on_fatal = [](const std::string& reason) { end_process(kCommand, reason); };
  return options;
}

}  // namespace

int node_command(int argc, char** argv) {
  NodeSettings node;
  Settings settings;
  node.add_to(settings);
  if (auto ended = parse_or_end(settings, argc, argv, kCommand, "runs a storage node of a cluster"))
    return *ended;
  if (Status status = node.check(); !status.ok()) return say_wrong_usage(kCommand, status.error());

  ShutdownSignal shutdown;
  auto process = Process::start(node.process, kCommand);
  if (!process.ok()) return say_failed(kCommand, process.error());
  auto surroundings = node.surroundings.open({(*process)->logger("wal"), (*process)->logger("net")});
  if (!surroundings.ok()) return say_failed(kCommand, surroundings.error());

  NodeServerOptions options = options_from(node, (*process)->logger("node"));
  options.metrics = &(*process)->metrics();
  auto sql = SqlServer::start(**surroundings, {.name = node.name,
                                               .listen = Address{node.sql_listen},
                                               .limits = node.sql.limits(),
                                               .metrics = &(*process)->metrics(),
                                               .log = (*process)->logger("sql"),
                                               .on_fatal = options.on_fatal,
                                               .on_ready = [] { say_ready(); }});
  if (!sql.ok()) return say_failed(kCommand, sql.error());
  options.node.sql_address = (*sql)->address().value;
  auto on_fatal = options.on_fatal;
  NodeServer server(**surroundings, std::move(options));
  std::optional<Watchdog> watchdog;
  watchdog.emplace(std::vector<Watchdog::Watched>{{"node", &server.loop()}, {"sql", &(*sql)->loop()}},
                   node.hang_patience, on_fatal);

  (*process)->logger("node").info("ends", kv("signal", shutdown.wait()));
  watchdog.reset();
  *sql = nullptr;
  server.stop();
  return kDone;
}

}  // namespace tidemark
