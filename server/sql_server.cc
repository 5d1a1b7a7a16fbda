#include "server/sql_server.h"

#include "coordinator/cluster_fact.h"
#include "net/process_context.h"
#include "server/entropy.h"
#include "server/role_metrics.h"
#include "sql/gateway/metered_session.h"
#include "sql/gateway/server.h"
#include "sql/session/sql_service.h"

namespace tidemark {

namespace {

constexpr Micros kReadyInterval{20'000};

}  // namespace

class SqlServer::Impl {
 public:
  Impl(Surroundings& surroundings, SqlServerOptions options)
      : surroundings_(surroundings),
        options_(std::move(options)),
        loop_(surroundings.loop("sql " + options_.name)) {}

  ~Impl() {
    loop_->run([this] {
      gateway_.reset();
      service_.reset();
      endpoint_.transport.reset();
    });
    loop_->stop();
  }

  Status start() {
    Status listening;
    loop_->run([&] {
      sql::GatewayOptions gateway;
      gateway.listen = options_.listen;
      gateway.connections_max = options_.limits.connections_max;
      gateway.connection.result_bytes_max = options_.limits.result_bytes_max;
      auto started = sql::GatewayServer::start(
          *loop_, [this](const sql::SessionRequest& request) { return make_session(request); }, gateway);
      if (!started.ok()) {
        listening = started.error();
        return;
      }
      gateway_ = std::move(*started);
      sample();
      coordination_ = surroundings_.coordination(*loop_);
      await_cluster(*coordination_, *loop_, [this](const pb::ClusterFact& fact) {
        if (Status begun = begin(fact); !begun.ok()) options_.on_fatal(begun.error().message);
      });
    });
    return listening;
  }

  const Address& address() const { return gateway_->address(); }
  AsioLoop& loop() { return *loop_; }

 private:
  Status begin(const pb::ClusterFact& fact) {
    auto endpoint = surroundings_.connect(
        *loop_, {.name = options_.name + "-sql", .cluster = fact.cluster(), .listen = {}});
    if (!endpoint.ok()) return endpoint.error();
    endpoint_ = std::move(*endpoint);
    sql::SqlServiceOptions options;
    options.shards = ShardCount{fact.shards()};
    options.name = options_.name;
    options.wall_clock_micros = wall_clock_micros;
    options.query_bytes_max = options_.limits.query_bytes_max;
    ProcessContext context{*loop_, *endpoint_.transport, *coordination_, random_};
    service_ = std::make_unique<sql::SqlService>(context, std::move(options));
    wait_until_ready();
    return {};
  }

  void wait_until_ready() {
    if (!service_) return;
    if (!service_->ready()) return loop_->post_after(kReadyInterval, [this] { wait_until_ready(); });
    options_.log.info("serves SQL", kv("address", address().value));
    if (options_.on_ready) options_.on_ready();
  }

  Result<std::unique_ptr<sql::Session>, sql::SqlError> make_session(const sql::SessionRequest& request) {
    if (service_ && service_->ready()) {
      auto session = service_->make_session(request);
      if (!session.ok()) return session.error();
      return sql::metered(std::move(*session), *loop_, gateway_metrics_);
    }
    return sql::SqlError{.state = "57P03",
                         .message = "the cluster is not ready yet",
                         .detail = {},
                         .hint = "Try again in a moment."};
  }

  void sample() {
    if (!gateway_) return;
    gateway_metrics_.set_connections(gateway_->connection_count());
    loop_->post_after(kSampleInterval, [this] { sample(); });
  }

  Surroundings& surroundings_;
  const SqlServerOptions options_;
  LabelledMetrics metrics_ = role_metrics(*options_.metrics, "sql", options_.name);
  sql::GatewayMetrics gateway_metrics_{metrics_};
  const std::shared_ptr<AsioLoop> loop_;
  Random random_{entropy()};
  std::unique_ptr<Coordination>
      coordination_;  // Outlives the work of the loop, which may still wait for the cluster.
  Surroundings::Endpoint endpoint_;
  std::unique_ptr<sql::SqlService> service_;
  std::unique_ptr<sql::GatewayServer> gateway_;
};

SqlServer::SqlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqlServer::~SqlServer() = default;

Result<std::unique_ptr<SqlServer>> SqlServer::start(Surroundings& surroundings, SqlServerOptions options) {
  auto impl = std::make_unique<Impl>(surroundings, std::move(options));
  TM_TRY(impl->start());
  return std::unique_ptr<SqlServer>(new SqlServer(std::move(impl)));
}

const Address& SqlServer::address() const {
  return impl_->address();
}
AsioLoop& SqlServer::loop() {
  return impl_->loop();
}

}  // namespace tidemark
