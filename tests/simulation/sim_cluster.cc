#include "tests/simulation/sim_cluster.h"

#include <algorithm>

#include "base/assert.h"
#include "coordinator/cluster_fact.h"
#include "coordinator/facts.h"
#include "net/shared_transport.h"
#include "node/region/sql_row_arithmetic.h"
#include "proto/messages.pb.h"

namespace tidemark {

namespace {

pb::ClusterFact wanted_cluster(const SimClusterOptions& options) {
  pb::ClusterFact wanted;
  wanted.set_shards(options.shards.value);
  wanted.set_embedded(options.coordinator.embedded);
  return wanted;
}

}  // namespace

// A storage node and a coordinator on one address, as in production.
class SimCluster::NodeRole : public SimRole {
 public:
  NodeRole(SimProcess& process, SimCluster& cluster, MemoryDisk& disk)
      : context_(process.context()), name_(process.name()), cluster_(cluster), disk_(disk) {
    find_cluster(context_.coordination, context_.scheduler, context_.random, wanted_cluster(cluster.options_),
                 [this](const pb::ClusterFact& fact) { begin(fact); });
  }
  ~NodeRole() override {
    coordinator_.reset();
    node_.reset();
    store_.reset();
    disk_.crash(cluster_.world_.random);
  }

  StorageNode* node() const { return node_.get(); }

  void stop(std::function<void()> done) override {
    if (!node_) return done();
    coordinator_->withdraw([this, done = std::move(done)] { node_->stop(done); });
  }

 private:
  void begin(const pb::ClusterFact& fact) {
    shared_ = std::make_unique<SharedTransport>(context_.transport);
    coordinator_side_ = shared_->facet(CoordinatorRole::is_for_coordinator);
    node_side_ = shared_->facet([](const pb::Message&) { return true; });
    ShardCount shards{fact.shards()};
    const Micros delay{context_.random.between(1, cluster_.options_.save_delay_max.value)};
    store_ = std::make_unique<MemoryStore>(disk_, context_.scheduler, shards, delay);

    NodeOptions options = cluster_.options_.node;
    options.name = options.address = name_;
    options.cluster = fact.cluster();
    options.shards = shards;
    ProcessContext node_context{context_.scheduler, *node_side_, context_.coordination, context_.random,
                                context_.logs};
    node_ = std::make_unique<StorageNode>(node_context, options, *store_, arithmetic_);
    node_->start();

    CoordinatorOptions coordinator;
    coordinator.settings = cluster_.options_.coordinator;
    coordinator.self.set_name(name_);
    coordinator.self.set_address(name_);
    ProcessContext coordinator_context{context_.scheduler, *coordinator_side_, context_.coordination,
                                       context_.random, context_.logs};
    coordinator_ = std::make_unique<CoordinatorRole>(coordinator_context, coordinator);
    coordinator_side_->set_handlers(
        {[this](const Address& from, MessagePtr message) { coordinator_->on_message(from, message); }, {}});
  }

  ProcessContext context_;
  std::string name_;
  SimCluster& cluster_;
  MemoryDisk& disk_;
  SqlRowArithmetic arithmetic_;
  std::unique_ptr<SharedTransport> shared_;
  std::unique_ptr<Transport> coordinator_side_;
  std::unique_ptr<Transport> node_side_;
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<StorageNode> node_;
  std::unique_ptr<CoordinatorRole> coordinator_;
};

class SimCluster::ViewManagerRole : public SimRole {
 public:
  ViewManagerRole(SimProcess& process, SimCluster& cluster, bool standby) : context_(process.context()) {
    ViewManagerOptions options;
    options.self.set_name(process.name());
    options.self.set_address(process.name());
    options.self.set_boot(context_.random.next());
    options.self.set_weight(1);
    options.self.set_standby(standby);
    options.limits = cluster.options_.view_manager;
    options.on_failure = [&cluster](const std::string& failure) { cluster.failures_.push_back(failure); };
    find_cluster(context_.coordination, context_.scheduler, context_.random, wanted_cluster(cluster.options_),
                 [this, options](const pb::ClusterFact& fact) mutable {
                   options.shards = ShardCount{fact.shards()};
                   begin(options);
                 });
  }

  ViewManager* view_manager() const { return view_manager_.get(); }

  void stop(std::function<void()> done) override {
    if (!view_manager_) return done();
    view_manager_->stop(std::move(done));
  }

 private:
  void begin(const ViewManagerOptions& options) {
    view_manager_ = std::make_unique<ViewManager>(context_, options);
    context_.transport.set_handlers(
        {[this](const Address& from, MessagePtr message) { view_manager_->on_message(from, message); }, {}});
    view_manager_->start();
  }

  ProcessContext context_;
  std::unique_ptr<ViewManager> view_manager_;
};

SimCluster::SimCluster(SimClusterOptions options)
    : options_(std::move(options)),
      world_(options_.seed, options_.faults),
      client_loop_(world_.scheduler),
      client_coordination_(world_, client_loop_, world_.random.fork()),
      client_random_(world_.random.fork()),
      client_transport_(world_.network.connect(Address{"client"}, client_loop_)),
      operator_transport_(world_.network.connect(Address{"operator"}, client_loop_)) {
  options_.coordinator.shards = options_.shards.value;
  options_.coordinator.nodes_min = static_cast<uint32_t>(options_.nodes);
  options_.coordinator.view_managers_min = static_cast<uint32_t>(options_.view_managers);
  operator_transport_->set_handlers(
      {[this](const Address&, MessagePtr message) { on_answer(*message); }, {}});
  directory_ = std::make_unique<WatchedDirectory>(client_coordination_, client_loop_);
  ClientOptions client;
  client.shards = options_.shards;
  client_ = std::make_unique<Client>(client_loop_, *client_transport_, *directory_, client_random_, client);
  catalog_watch_ = std::make_unique<FactWatch>(client_coordination_, client_loop_, paths::kCatalog,
                                               [this](const std::optional<Fact>& fact) {
                                                 pb::Catalog catalog;
                                                 if (fact && catalog.ParseFromString(fact->data))
                                                   catalog_ = catalog;
                                               });
  for (int i = 0; i < options_.nodes; ++i) nodes_.push_back(make_node("n" + std::to_string(i)));
  for (int i = 0; i < options_.view_managers; ++i) {
    view_managers_.push_back(make_view_manager("v" + std::to_string(i), false));
  }
  for (int i = 0; i < options_.standby_view_managers; ++i) {
    view_managers_.push_back(make_view_manager("s" + std::to_string(i), true));
  }
  for (SimProcess* process : processes()) process->start();
}

SimCluster::~SimCluster() = default;

std::unique_ptr<SimProcess> SimCluster::make_node(const std::string& name) {
  auto& disk = disks_[name] = std::make_unique<MemoryDisk>(options_.shards);
  return std::make_unique<SimProcess>(world_, name, [this, &disk = *disk](SimProcess& process) {
    return std::make_unique<NodeRole>(process, *this, disk);
  });
}

std::unique_ptr<SimProcess> SimCluster::make_view_manager(const std::string& name, bool standby) {
  return std::make_unique<SimProcess>(world_, name, [this, standby](SimProcess& process) {
    return std::make_unique<ViewManagerRole>(process, *this, standby);
  });
}

std::vector<SimProcess*> SimCluster::processes() {
  std::vector<SimProcess*> out;
  for (auto& process : nodes_) out.push_back(process.get());
  for (auto& process : view_managers_) out.push_back(process.get());
  return out;
}

StorageNode* SimCluster::storage_node(int index) {
  auto* role = static_cast<NodeRole*>(node(index).role());
  return role ? role->node() : nullptr;
}

ViewManager* SimCluster::view_manager_role(int index) {
  auto* role = static_cast<ViewManagerRole*>(view_manager(index).role());
  return role ? role->view_manager() : nullptr;
}

SimProcess& SimCluster::add_view_manager() {
  view_managers_.push_back(make_view_manager("v" + std::to_string(view_managers_.size()), false));
  view_managers_.back()->start();
  return *view_managers_.back();
}

SimProcess& SimCluster::add_node() {
  nodes_.push_back(make_node("n" + std::to_string(nodes_.size())));
  nodes_.back()->start();
  return *nodes_.back();
}

void SimCluster::crash(SimProcess& process) {
  process.crash();
  if (options_.faults.log_kind == MemoryLogKind::Disk && disks_.contains(process.name())) world_.logs.crash();
}

void SimCluster::stop(SimProcess& process) {
  if (process.role() == nullptr) return;
  const uint64_t life = process.starts();
  process.role()->stop([this, &process, life] {
    // Not from inside the role's own call.
    world_.scheduler.post([this, &process, life] {
      if (process.running() && process.starts() == life) crash(process);
    });
  });
}

void SimCluster::lose_disk(SimProcess& process) {
  TM_ASSERT(!process.running(), process.name());
  *disks_.at(process.name()) = MemoryDisk(options_.shards);
  lost_disks_.insert(process.name());
}

bool SimCluster::can_spare_disk(const SimProcess& process, bool whole_logs) {
  // The last move of a region with one replica may be about to leave it on this disk alone.
  if (options_.coordinator.replicas < 2 || !disks_.contains(process.name())) return false;
  const pb::RegionMap map = region_map();
  auto is_there = [&](const pb::RegionEntry& entry, const pb::Replica& replica) {
    const auto& found = disks_.at(replica.node())->checkpoints();
    const auto checkpoint = found.find(RegionId{entry.region()});
    return checkpoint != found.end() && checkpoint->second.joined.value == replica.joined() &&
           checkpoint->second.reader.next.value >= entry.floor();
  };
  return std::all_of(map.regions().begin(), map.regions().end(), [&](const pb::RegionEntry& entry) {
    const auto& replicas = entry.replicas();
    const bool concerned = std::any_of(replicas.begin(), replicas.end(),
                                       [&](const auto& one) { return one.node() == process.name(); });
    const bool is_in_log = whole_logs && entry.parents().empty();
    return !concerned || is_in_log || std::any_of(replicas.begin(), replicas.end(), [&](const auto& one) {
      return one.node() != process.name() && is_there(entry, one);
    });
  });
}

void SimCluster::run_for(Micros span) {
  world_.scheduler.run_until(Micros{world_.scheduler.now().value + span.value});
}

bool SimCluster::run_until(const std::function<bool()>& holds, Micros limit) {
  Micros end{world_.scheduler.now().value + limit.value};
  return world_.scheduler.run_while_not([&] { return holds() || world_.scheduler.now() >= end; }) && holds();
}

namespace {

// The facts of a small cluster are one entry each, after a byte of its kind.
template <typename Message>
Message fact_at(CoordinationTree& coordination, const char* path) {
  Message out;
  const auto entry = coordination.entries().get(SessionNumber{}, path);
  if (entry.ok()) out.ParseFromString(entry->data.substr(1));
  return out;
}

}  // namespace

pb::RegionMap SimCluster::region_map() {
  return fact_at<pb::RegionMap>(world_.coordination, paths::kRegionMap);
}

pb::WishFact SimCluster::wishes() {
  return fact_at<pb::WishFact>(world_.coordination, paths::kWishes);
}

pb::OperationsFact SimCluster::operations() {
  return fact_at<pb::OperationsFact>(world_.coordination, paths::kOperations);
}

pb::HistoryFact SimCluster::history() {
  return fact_at<pb::HistoryFact>(world_.coordination, paths::kHistory);
}

bool SimCluster::serving() {
  ShardId at{0};
  for (const RegionPlace& place : directory_->places()) {
    if (place.shards.begin != at || place.address.value.empty()) return false;
    at = place.shards.end;
  }
  return at == options_.shards.all().end;
}

void SimCluster::on_answer(const pb::Message& message) {
  answers_[message.request()] = std::make_shared<pb::Message>(message);
}

std::shared_ptr<const pb::Message> SimCluster::ask(const pb::Message& question) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto message = std::make_shared<pb::Message>(question);
    uint64_t number = next_question_++;
    message->set_request(number);
    operator_transport_->send(nodes_[static_cast<size_t>(attempt) % nodes_.size()]->address(), message);
    run_until([&] { return answers_.contains(number); }, Micros{2'000'000});
    if (answers_.contains(number)) return answers_.at(number);
  }
  return nullptr;
}

CatalogVersion SimCluster::create_tables(const std::vector<pb::TableDefinition>& tables) {
  auto there = [&] {
    for (const pb::TableDefinition& table : catalog_.tables()) {
      if (table.id() == tables.back().id()) return true;
    }
    return false;
  };
  // An answer may be lost: what counts is the catalog.
  for (int attempt = 0; attempt < 100; ++attempt) {
    pb::Message question;
    question.mutable_change_catalog()->set_expects_version(catalog_.version());
    for (const pb::TableDefinition& table : tables) *question.mutable_change_catalog()->add_create() = table;
    ask(question);
    if (run_until(there, Micros{1'000'000})) return CatalogVersion{catalog_.version()};
  }
  return CatalogVersion{0};
}

bool SimCluster::admin(const std::vector<std::string>& words, std::string* out) {
  pb::Message question;
  for (const std::string& word : words) question.mutable_admin()->add_words(word);
  auto answer = ask(question);
  if (out && answer) *out = answer->admin_reply().out();
  return answer && answer->admin_reply().exit_code() == 0;
}

}  // namespace tidemark
