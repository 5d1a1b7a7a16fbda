#include "server/embedded_cluster.h"

#include <map>
#include <mutex>

#include "coordinator/facts.h"
#include "server/admin_port.h"
#include "server/embedded_surroundings.h"
#include "server/node_server.h"
#include "server/sql_server.h"
#include "server/view_manager_server.h"
#include "server/watchdog.h"

namespace tidemark {

namespace {

constexpr Micros kHangPatience{60'000'000};

pb::AdminReply reply(int exit_code, const std::string& text) {
  pb::AdminReply out;
  out.set_exit_code(exit_code);
  out.set_out(text + "\n");
  return out;
}

}  // namespace

class EmbeddedCluster::Impl {
 public:
  explicit Impl(EmbeddedClusterOptions options) : options_(std::move(options)) {}

  ~Impl() {
    // View managers may be started by a node until there is none.
    watchdog_.reset();
    admin_.reset();
    sql_.reset();
    nodes_.clear();
    view_managers_.clear();
  }

  Status start() {
    auto surroundings = EmbeddedSurroundings::open(options_.directory, logger("wal"));
    if (!surroundings.ok()) return surroundings.error();
    surroundings_ = std::move(*surroundings);

    auto sql = SqlServer::start(*surroundings_, {.name = "up",
                                                 .listen = options_.sql_listen,
                                                 .limits = options_.sql_limits,
                                                 .metrics = options_.metrics,
                                                 .log = logger("sql"),
                                                 .on_fatal = options_.on_fatal,
                                                 .on_ready = options_.on_ready});
    if (!sql.ok()) return sql.error();
    sql_ = std::move(*sql);

    std::vector<Address> names;
    for (uint32_t i = 1; i <= options_.nodes; ++i) names.push_back(Address{"node" + std::to_string(i)});
    auto admin = AdminPort::start(*surroundings_, options_.admin_listen, names,
                                  [this](const pb::AdminRequest& request) { return answer(request); });
    if (!admin.ok()) return admin.error();
    admin_ = std::move(*admin);

    for (const Address& name : names) start_node(name.value);
    for (uint32_t i = 1; i <= options_.view_managers; ++i) start_view_manager("vm" + std::to_string(i));
    watch();
    return {};
  }

  void stop() {
    watchdog_.reset();
    admin_.reset();
    sql_.reset();
    for (auto& node : nodes_) node->stop();
    nodes_.clear();
    std::lock_guard lock(mutex_);
    for (auto& [name, view_manager] : view_managers_) view_manager->stop();
    view_managers_.clear();
  }

  const Address& sql_address() const { return sql_->address(); }
  const Address& admin_address() const { return admin_->address(); }

 private:
  Logger logger(const std::string& component) const {
    return options_.log != nullptr ? Logger(*options_.log, component) : Logger();
  }

  void start_node(const std::string& name) {
    NodeServerOptions node;
    node.node = options_.node;
    node.node.name = name;
    node.node.sql_address = sql_->address().value;
    node.store = options_.store;
    node.store.directory = options_.directory + "/" + name;
    node.coordinator = options_.coordinator;
    node.coordinator.embedded = true;
    node.coordinator.nodes_min = options_.nodes;
    node.coordinator.view_managers_min = options_.view_managers;
    node.coordinator.replicas = std::min(2u, options_.nodes);
    node.coordinator.launcher = "in this process";
    node.launch = [this](const std::string& identity) { start_view_manager(identity); };
    node.metrics = options_.metrics;
    node.log = logger(name);
    node.on_fatal = options_.on_fatal;
    nodes_.push_back(std::make_unique<NodeServer>(*surroundings_, std::move(node)));
  }

  // False: it runs already.
  bool start_view_manager(const std::string& name) {
    std::lock_guard lock(mutex_);
    if (view_managers_.contains(name)) return false;
    ViewManagerServerOptions options;
    options.name = name;
    options.limits = options_.view_manager;
    options.metrics = options_.metrics;
    options.log = logger(name);
    options.on_fatal = options_.on_fatal;
    view_managers_[name] = std::make_unique<ViewManagerServer>(*surroundings_, std::move(options));
    return true;
  }

  // As kill -9 would, were it a process of its own.
  bool kill_view_manager(const std::string& name) {
    std::lock_guard lock(mutex_);
    return view_managers_.erase(name) > 0;
  }

  // Two commands that a cluster of processes leaves to its machines: start-vm and kill-vm.
  std::optional<pb::AdminReply> answer(const pb::AdminRequest& request) {
    if (request.words_size() == 0 || (request.words(0) != "start-vm" && request.words(0) != "kill-vm"))
      return std::nullopt;
    if (request.words_size() != 2) return reply(2, "usage: " + request.words(0) + " NAME");
    const std::string& name = request.words(1);
    if (!is_valid_member_name(name)) return reply(2, "'" + name + "' is no name of a view manager");
    if (request.words(0) == "start-vm")
      return start_view_manager(name) ? reply(0, "started " + name) : reply(0, name + " runs already");
    return kill_view_manager(name) ? reply(0, "killed " + name) : reply(1, "there is no " + name + " here");
  }

  void watch() {
    std::vector<Watchdog::Watched> loops{{"sql", &sql_->loop()}};
    for (size_t i = 0; i < nodes_.size(); ++i)
      loops.push_back({"node" + std::to_string(i + 1), &nodes_[i]->loop()});
    watchdog_ = std::make_unique<Watchdog>(std::move(loops), kHangPatience, options_.on_fatal);
  }

  const EmbeddedClusterOptions options_;
  std::unique_ptr<EmbeddedSurroundings> surroundings_;
  std::unique_ptr<SqlServer> sql_;
  std::unique_ptr<AdminPort> admin_;
  std::vector<std::unique_ptr<NodeServer>> nodes_;
  std::mutex mutex_;  // View managers are started and killed from several loops.
  std::map<std::string, std::unique_ptr<ViewManagerServer>> view_managers_;
  std::unique_ptr<Watchdog> watchdog_;
};

EmbeddedCluster::EmbeddedCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EmbeddedCluster::~EmbeddedCluster() = default;

Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::start(EmbeddedClusterOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  TM_TRY(impl->start());
  return std::unique_ptr<EmbeddedCluster>(new EmbeddedCluster(std::move(impl)));
}

void EmbeddedCluster::stop() {
  impl_->stop();
}
const Address& EmbeddedCluster::sql_address() const {
  return impl_->sql_address();
}
const Address& EmbeddedCluster::admin_address() const {
  return impl_->admin_address();
}

}  // namespace tidemark
