// A cluster of many processes: TCP, ZooKeeper and Kafka.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/log.h"
#include "coordinator/zookeeper_coordination.h"
#include "server/surroundings.h"
#include "wal/kafka_log.h"

namespace tidemark {

struct ClusterSurroundingsOptions {
  ZooKeeperOptions zookeeper;
  std::string kafka_brokers;  // Empty: no role of the process needs logs.
  std::map<std::string, std::string> kafka_settings;
};

class ClusterSurroundings final : public Surroundings {
 public:
  // What Kafka says, and what is wrong with connections, goes to these.
  struct Loggers {
    Logger wal;
    Logger net;
  };
  // Waits for no server. Error: a setting that is wrong.
  static Result<std::unique_ptr<ClusterSurroundings>> open(ClusterSurroundingsOptions options,
                                                           const Loggers& logs);

  std::unique_ptr<Coordination> coordination(Scheduler& loop) override;
  // REQUIRES: Kafka brokers were given.
  std::unique_ptr<LogStore> logs(Scheduler& loop) override;
  Result<Endpoint> connect(AsioLoop& loop, const EndpointOptions& options) override;

 private:
  ClusterSurroundings(ZooKeeperOptions zookeeper, std::unique_ptr<KafkaLogs> kafka, Logger net);

  ZooKeeperOptions zookeeper_;
  std::unique_ptr<KafkaLogs> kafka_;
  const Logger net_log_;
};

}  // namespace tidemark
