#include "tests/servers/kafka.h"

#include <librdkafka/rdkafka.h>

#include <cstdlib>
#include <fstream>

namespace tidemark::servers {
namespace {

constexpr const char* kClusterId = "VGlkZW1hcmtUZXN0c0thZg";

constexpr const char* kLogging = R"(status=error
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level=info
rootLogger.appenderRef.console.ref=console
)";

std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",") + part;
  return all;
}

void ignore_log(const rd_kafka_t*, int, const char*, const char*) {}

// How many brokers the one at `address` sees alive; 0 if it does not answer.
int brokers_seen_by(const std::string& address) {
  rd_kafka_conf_t* config = rd_kafka_conf_new();
  rd_kafka_conf_set(config, "bootstrap.servers", address.c_str(), nullptr, 0);
  rd_kafka_conf_set_log_cb(config, ignore_log);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, config, nullptr, 0);
  if (client == nullptr) {
    rd_kafka_conf_destroy(config);
    return 0;
  }
  const rd_kafka_metadata_t* metadata = nullptr;
  int seen = 0;
  if (rd_kafka_metadata(client, 1, nullptr, &metadata, 1000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    seen = metadata->broker_cnt;
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_destroy(client);
  return seen;
}

}  // namespace

std::optional<std::filesystem::path> kafka_jars() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path base;
  if (cache != nullptr && *cache != '\0') {
    base = cache;
  } else if (home != nullptr) {
    base = std::filesystem::path(home) / ".cache";
  }
  const std::filesystem::path jars = base / "tidemark" / "kafka-4.1.0";
  if (!std::filesystem::is_directory(jars)) return std::nullopt;
  return jars;
}

KafkaCluster::KafkaCluster(KafkaSize size, std::map<std::string, std::string> settings)
    : directory_("kafka") {
  const auto jars = kafka_jars();
  if (!jars) throw ServerError("Kafka is missing: deploy/setup");
  jars_ = *jars;
  for (int i = 0; i < static_cast<int>(size); ++i) brokers_.push_back(std::make_unique<Broker>());
  for (size_t i = 0; i < brokers_.size(); ++i) configure(i, settings);
  format();
  for (const auto& broker : brokers_) broker->server->launch();
  wait_until_ready();
}

std::filesystem::path KafkaCluster::home_of(size_t index) const {
  return directory_.path() / ("kafka-" + std::to_string(index));
}

std::filesystem::path KafkaCluster::log_of(size_t index) const {
  return directory_.path() / ("kafka-" + std::to_string(index) + ".log");
}

Command KafkaCluster::java(size_t index, const std::vector<std::string>& arguments) const {
  const std::filesystem::path home = home_of(index);
  Command command{.argv = {"java", "-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                           "-Dlog4j2.configurationFile=" + (home / "log4j2.properties").string(), "-cp",
                           jars_.string() + "/*"},
                  .log = log_of(index),
                  .working_directory = home};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

void KafkaCluster::configure(size_t index, std::map<std::string, std::string> settings) {
  const std::filesystem::path home = home_of(index);
  std::filesystem::create_directories(home);
  std::ofstream(home / "log4j2.properties") << kLogging;

  Broker& broker = *brokers_[index];
  std::vector<std::string> voters;
  for (size_t i = 0; i < brokers_.size(); ++i) {
    voters.push_back(std::to_string(i) + "@" + brokers_[i]->controller_port.address());
  }
  const std::string copies = std::to_string(brokers_.size());
  const std::string in_sync = brokers_.size() >= 3 ? "2" : "1";
  const std::string client = broker.client_port.address();
  // insert(): what the test says goes first.
  settings.insert({
      {"process.roles", "broker,controller"},
      {"node.id", std::to_string(index)},
      {"controller.quorum.voters", join(voters)},
      {"listeners", "PLAINTEXT://" + client + ",CONTROLLER://" + broker.controller_port.address()},
      {"advertised.listeners", "PLAINTEXT://" + client},
      {"controller.listener.names", "CONTROLLER"},
      {"listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"},
      {"log.dirs", (home / "data").string()},
      {"auto.create.topics.enable", "false"},
      {"unclean.leader.election.enable", "false"},
      {"default.replication.factor", copies},
      {"min.insync.replicas", in_sync},
      {"offsets.topic.replication.factor", copies},
      {"offsets.topic.num.partitions", "1"},
      {"transaction.state.log.replication.factor", copies},
      {"transaction.state.log.min.isr", in_sync},
      {"transaction.state.log.num.partitions", "1"},
      {"share.coordinator.state.topic.replication.factor", copies},
      {"share.coordinator.state.topic.min.isr", in_sync},
      {"group.initial.rebalance.delay.ms", "0"},
      {"num.network.threads", "2"},
      {"num.io.threads", "2"},
      {"background.threads", "2"},
      {"log.cleaner.dedupe.buffer.size", "4194304"},
      // A dead broker is noticed sooner than by default, a busy one is not taken for dead.
      {"broker.session.timeout.ms", "6000"},
      {"broker.heartbeat.interval.ms", "1000"},
      {"replica.lag.time.max.ms", "6000"},
  });
  std::ofstream file(home / "server.properties");
  for (const auto& [key, value] : settings) file << key << '=' << value << '\n';

  broker.server = std::make_unique<Server>(
      "kafka-" + std::to_string(index), java(index, {"kafka.Kafka", (home / "server.properties").string()}),
      [client] { return brokers_seen_by(client) > 0; });
}

void KafkaCluster::format() {
  for (size_t i = 0; i < brokers_.size(); ++i) {
    Command command = java(i, {"kafka.tools.StorageTool", "format", "-t", kClusterId, "-c",
                               (home_of(i) / "server.properties").string()});
    run_to_end(command);
  }
}

std::string KafkaCluster::bootstrap() const {
  std::vector<std::string> all;
  for (const auto& broker : brokers_) all.push_back(broker->client_port.address());
  return join(all);
}

void KafkaCluster::wait_until_ready() {
  for (const auto& broker : brokers_) {
    broker->server->wait_until_ready();
    wait_until(broker->server->name() + " sees all brokers", [&] {
      return brokers_seen_by(broker->client_port.address()) == static_cast<int>(brokers_.size());
    });
  }
}

}  // namespace tidemark::servers
