#include "server/view_manager_server.h"

#include <chrono>
#include <future>

#include "coordinator/cluster_fact.h"
#include "server/entropy.h"
#include "server/role_metrics.h"
#include "view_manager/view_manager.h"
#include "view_manager/view_manager_metrics.h"

namespace tidemark {

class ViewManagerServer::Impl {
 public:
  Impl(Surroundings& surroundings, ViewManagerServerOptions options)
      : surroundings_(surroundings),
        options_(std::move(options)),
        loop_(surroundings.loop("vm " + options_.name)) {
    loop_->run([this] {
      coordination_ = surroundings_.coordination(*loop_);
      await_cluster(*coordination_, *loop_, [this](const pb::ClusterFact& fact) {
        if (Status begun = begin(fact); !begun.ok()) options_.on_fatal(begun.error().message);
      });
    });
  }

  ~Impl() {
    loop_->run([this] {
      sampler_.sample(nullptr);
      view_manager_.reset();
      endpoint_.transport.reset();
    });
    loop_->stop();
  }

  void stop() {
    auto done = std::make_shared<std::promise<void>>();
    loop_->post([this, done] {
      if (!view_manager_) return done->set_value();
      view_manager_->stop([done] { done->set_value(); });
    });
    done->get_future().wait_for(kStopPatience);
  }

  Figures figures() {
    Figures out;
    loop_->run([&] {
      if (!view_manager_ || view_manager_->core() == nullptr) return;
      out = {view_manager_->core()->counts(), view_manager_->core()->batch_counts()};
    });
    return out;
  }

  AsioLoop& loop() { return *loop_; }

 private:
  Status begin(const pb::ClusterFact& fact) {
    auto endpoint = surroundings_.connect(
        *loop_, {.name = options_.name, .cluster = fact.cluster(), .listen = options_.listen});
    if (!endpoint.ok()) return endpoint.error();
    endpoint_ = std::move(*endpoint);
    if (options_.address.empty()) options_.address = endpoint_.address.value;

    ViewManagerOptions options;
    options.self.set_name(options_.name);
    options.self.set_address(options_.address);
    options.self.set_boot(random_.next());
    options.self.set_weight(options_.weight);
    options.self.set_standby(options_.standby);
    options.shards = ShardCount{fact.shards()};
    options.limits = options_.limits;
    options.on_failure = [log = options_.log](const std::string& failure) {
      log.error("a view can't be planned here: its lanes wait", kv("reason", failure));
    };
    ProcessContext context{*loop_, *endpoint_.transport, *coordination_, random_};
    view_manager_ = std::make_unique<ViewManager>(context, std::move(options));
    endpoint_.transport->set_handlers(
        {[this](const Address& from, MessagePtr message) { view_manager_->on_message(from, message); },
         [](const Address&) {}});
    view_manager_->start();
    sample();
    options_.log.info("serves", kv("address", options_.address), kv("standby", options_.standby));
    options_.on_ready();
    return {};
  }

  void sample() {
    if (!view_manager_) return;
    sampler_.sample(view_manager_->core());
    loop_->post_after(kSampleInterval, [this] { sample(); });
  }

  Surroundings& surroundings_;
  ViewManagerServerOptions options_;
  LabelledMetrics metrics_ = role_metrics(*options_.metrics, "view-manager", options_.name);
  ViewManagerMetrics sampler_{metrics_};
  const std::shared_ptr<AsioLoop> loop_;
  Random random_{entropy()};
  std::unique_ptr<Coordination>
      coordination_;  // Outlives the work of the loop, which may still wait for the cluster.
  Surroundings::Endpoint endpoint_;
  std::unique_ptr<ViewManager> view_manager_;
};

ViewManagerServer::ViewManagerServer(Surroundings& surroundings, ViewManagerServerOptions options)
    : impl_(std::make_unique<Impl>(surroundings, std::move(options))) {}
ViewManagerServer::~ViewManagerServer() = default;

void ViewManagerServer::stop() {
  impl_->stop();
}
ViewManagerServer::Figures ViewManagerServer::figures() {
  return impl_->figures();
}
AsioLoop& ViewManagerServer::loop() {
  return impl_->loop();
}

}  // namespace tidemark
