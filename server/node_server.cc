#include "server/node_server.h"

#include <chrono>
#include <future>

#include "coordinator/cluster_fact.h"
#include "coordinator/coordinator_metrics.h"
#include "coordinator/coordinator_role.h"
#include "net/shared_transport.h"
#include "node/region/sql_row_arithmetic.h"
#include "node/storage_node.h"
#include "proto/messages.pb.h"
#include "server/entropy.h"
#include "server/role_metrics.h"
#include "server/store_metrics.h"

namespace tidemark {

class NodeServer::Impl {
 public:
  Impl(Surroundings& surroundings, NodeServerOptions options)
      : surroundings_(surroundings),
        options_(std::move(options)),
        loop_(surroundings.loop("node " + options_.node.name)) {
    loop_->run([this] { find(); });
  }

  ~Impl() {
    loop_->run([this] {
      coordinator_.reset();
      node_.reset();
      store_.reset();
      coordinator_side_.reset();
      node_side_.reset();
      shared_.reset();
      endpoint_.transport.reset();
      logs_.reset();
    });
    loop_->stop();
  }

  void stop() {
    auto done = std::make_shared<std::promise<void>>();
    loop_->post([this, done] {
      if (!node_) return done->set_value();
      coordinator_->withdraw([this, done] { loop_->post([this, done] { stop_node(done); }); });
    });
    // Without its coordination service nothing can be given back: then it is a crash, which does no harm.
    done->get_future().wait_for(kStopPatience);
  }

  Figures figures() {
    Figures out;
    loop_->run([&] {
      if (!node_) return;
      node_->regions().for_each([&](const RegionReplica& replica) {
        out.log.records += replica.log_figures().records;
        out.log.bytes += replica.log_figures().bytes;
        add_lanes(replica, out);
      });
      out.rows = store_->figures();
      out.database_memory_bytes = store_->database_memory_bytes();
    });
    return out;
  }

  AsioLoop& loop() { return *loop_; }

 private:
  static void add_lanes(const RegionReplica& replica, Figures& out) {
    if (auto queues = replica.queue_figures()) out.lanes_waiting += queues->lanes_waiting;
    const pb::RegionStatus status = replica.status();
    for (const pb::LanePause& pause : status.pauses()) {
      const RingVersion ring{pause.ring_version()};
      if (ring > out.pauses_ring) out.pauses.clear();
      if (ring < out.pauses_ring) continue;
      out.pauses_ring = ring;
      out.pauses.insert(out.pauses.end(), pause.lanes().end() - pause.lanes().begin(),
                        Micros{pause.micros()});
    }
  }

  // Without a coordinator of its own, which would notice the node's end.
  void stop_node(const std::shared_ptr<std::promise<void>>& done) {
    coordinator_.reset();
    node_->stop([done] { done->set_value(); });
  }

  void find() {
    coordination_ = surroundings_.coordination(*loop_);
    pb::ClusterFact wanted;
    wanted.set_shards(options_.coordinator.shards);
    wanted.set_embedded(options_.coordinator.embedded);
    find_cluster(*coordination_, *loop_, random_, wanted, [this](const pb::ClusterFact& fact) {
      if (Status begun = begin(fact); !begun.ok()) options_.on_fatal(begun.error().message);
    });
  }

  Status begin(const pb::ClusterFact& fact) {
    options_.node.cluster = options_.store.cluster = fact.cluster();
    options_.node.shards = options_.store.shards = ShardCount{fact.shards()};
    options_.store.node = options_.node.name;
    options_.store.log = options_.log;
    options_.store.on_unreadable = options_.on_fatal;
    auto store = RocksStore::open(options_.store, *loop_);
    if (!store.ok()) return store.error();
    store_ = std::move(*store);

    auto endpoint = surroundings_.connect(
        *loop_, {.name = options_.node.name, .cluster = fact.cluster(), .listen = options_.listen});
    if (!endpoint.ok()) return endpoint.error();
    endpoint_ = std::move(*endpoint);
    if (options_.node.address.empty()) options_.node.address = endpoint_.address.value;
    logs_ = surroundings_.logs(*loop_);

    shared_ = std::make_unique<SharedTransport>(*endpoint_.transport);
    coordinator_side_ = shared_->facet(CoordinatorRole::is_for_coordinator);
    node_side_ = shared_->facet([](const pb::Message&) { return true; });
    start_node();
    start_coordinator();
    sample();
    options_.log.info("serves", kv("address", options_.node.address), kv("cluster", fact.cluster()),
                      kv("shards", fact.shards()), kv("regions", store_->loaded().size()));
    return {};
  }

  void start_node() {
    options_.node.wall_clock_micros = wall_clock_micros;
    options_.node.metrics = &node_metrics_;
    options_.node.say = [log = options_.log](const std::string& what) { log.info(what); };
    ProcessContext context{*loop_, *node_side_, *coordination_, random_, logs_.get()};
    node_ = std::make_unique<StorageNode>(context, options_.node, *store_, arithmetic_);
    node_->start();
  }

  void start_coordinator() {
    CoordinatorOptions options;
    options.settings = options_.coordinator;
    options.self.set_name(options_.node.name);
    options.self.set_address(options_.node.address);
    options.wall_clock_micros = wall_clock_micros;
    options.launch = options_.launch;
    options.on_step = [this, log = options_.log](const Step& step) {
      coordinator_metrics_.on_step(step.kind);
      log.info("step", kv("kind", to_string(step.kind)), kv("what", step.what));
    };
    options.on_refused = [log = options_.log] {
      log.error("the coordination service refuses to store the facts of the cluster");
    };
    ProcessContext context{*loop_, *coordinator_side_, *coordination_, random_, logs_.get()};
    coordinator_ = std::make_unique<CoordinatorRole>(context, std::move(options));
    coordinator_side_->set_handlers({[this](const Address& from, MessagePtr message) {
                                       if (coordinator_) coordinator_->on_message(from, message);
                                     },
                                     {}});
  }

  void sample() {
    if (store_) store_metrics_.sample(*store_);
    if (coordinator_) coordinator_metrics_.sample(coordinator_->is_elected(), coordinator_->figures());
    loop_->post_after(kSampleInterval, [this] { sample(); });
  }

  Surroundings& surroundings_;
  NodeServerOptions options_;
  LabelledMetrics node_metrics_ = role_metrics(*options_.metrics, "node", options_.node.name);
  LabelledMetrics coordinator_role_metrics_ =
      role_metrics(*options_.metrics, "coordinator", options_.node.name);
  StoreMetrics store_metrics_{node_metrics_};
  CoordinatorMetrics coordinator_metrics_{coordinator_role_metrics_};
  const std::shared_ptr<AsioLoop> loop_;
  Random random_{entropy()};
  std::unique_ptr<Coordination>
      coordination_;  // Outlives the work of the loop, which may still look for the cluster.
  std::unique_ptr<LogStore> logs_;
  Surroundings::Endpoint endpoint_;
  std::unique_ptr<SharedTransport> shared_;
  std::unique_ptr<Transport> coordinator_side_;
  std::unique_ptr<Transport> node_side_;
  SqlRowArithmetic arithmetic_;
  std::unique_ptr<RocksStore> store_;
  std::unique_ptr<StorageNode> node_;
  std::unique_ptr<CoordinatorRole> coordinator_;
};

NodeServer::NodeServer(Surroundings& surroundings, NodeServerOptions options)
    : impl_(std::make_unique<Impl>(surroundings, std::move(options))) {}
NodeServer::~NodeServer() = default;

void NodeServer::stop() {
  impl_->stop();
}
NodeServer::Figures NodeServer::figures() {
  return impl_->figures();
}
AsioLoop& NodeServer::loop() {
  return impl_->loop();
}

}  // namespace tidemark
