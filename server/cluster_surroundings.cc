#include "server/cluster_surroundings.h"

#include "net/tcp_transport.h"

namespace tidemark {

Result<std::unique_ptr<ClusterSurroundings>> ClusterSurroundings::open(ClusterSurroundingsOptions options,
                                                                       const Loggers& logs) {
  std::unique_ptr<KafkaLogs> kafka;
  if (!options.kafka_brokers.empty()) {
    KafkaLogsOptions to_kafka{.brokers = options.kafka_brokers,
                              .settings = std::move(options.kafka_settings),
                              .notice = [log = logs.wal](const std::string& what) { log.warning(what); }};
    auto opened = KafkaLogs::open(std::move(to_kafka));
    if (!opened.ok()) return opened.error();
    kafka = std::move(*opened);
  }
  return std::unique_ptr<ClusterSurroundings>(
      new ClusterSurroundings(std::move(options.zookeeper), std::move(kafka), logs.net));
}

ClusterSurroundings::ClusterSurroundings(ZooKeeperOptions zookeeper, std::unique_ptr<KafkaLogs> kafka,
                                         Logger net)
    : zookeeper_(std::move(zookeeper)), kafka_(std::move(kafka)), net_log_(std::move(net)) {}

std::unique_ptr<Coordination> ClusterSurroundings::coordination(Scheduler& loop) {
  auto coordination = std::make_unique<ZooKeeperCoordination>(loop, zookeeper_);
  // Also where nothing is registered, as by a gateway, or not yet: without a session no change of the facts
  // is heard of any more.
  coordination->on_session([it = coordination.get()](SessionState state) {
    if (state == SessionState::Expired) it->new_session();
  });
  return coordination;
}

std::unique_ptr<LogStore> ClusterSurroundings::logs(Scheduler& loop) {
  TM_ASSERT(kafka_ != nullptr);
  return kafka_->connect(loop);
}

Result<Surroundings::Endpoint> ClusterSurroundings::connect(AsioLoop& loop, const EndpointOptions& options) {
  TcpOptions tcp;
  tcp.name = options.name;
  tcp.cluster = options.cluster;
  tcp.listen = options.listen;
  tcp.notice = [log = net_log_](const std::string& what) { log.warning(what); };
  auto started = TcpTransport::start(loop, std::move(tcp));
  if (!started.ok()) return started.error();
  Address address = options.listen.value.empty() ? Address{} : (*started)->address();
  return Endpoint{std::move(*started), address};
}

}  // namespace tidemark
