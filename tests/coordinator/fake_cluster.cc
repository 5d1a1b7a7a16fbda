#include "tests/coordinator/fake_cluster.h"

#include <algorithm>

#include "coordinator/election.h"

namespace tidemark {

namespace {
constexpr Micros kTick{5'000};
}

// ---- processes

FakeProcess::FakeProcess(FakeCluster& cluster, std::string name)
    : cluster_(cluster), name_(std::move(name)), loop_(cluster.world), random_(cluster.random.fork()) {
  session_ = std::make_unique<MemoryCoordination>(cluster.tree, loop_, random_.fork());
  transport_ = cluster.network.connect(Address{name_}, loop_);
}

FakeProcess::~FakeProcess() {
  if (alive_) session_->abandon();
}

pb::ProcessFact FakeProcess::fact() const {
  pb::ProcessFact out;
  out.set_name(name_);
  out.set_address(name_);
  out.set_weight(1);
  return out;
}

ProcessContext FakeProcess::context() {
  return {loop_, *transport_, *session_, random_, nullptr};
}

void FakeProcess::kill() {
  if (!alive_) return;
  alive_ = false;
  session_->abandon();
  loop_.kill();
  transport_.reset();
}

FakeCoordinator::FakeCoordinator(FakeCluster& cluster, std::string name, CoordinatorSettings settings)
    : FakeProcess(cluster, std::move(name)) {
  CoordinatorOptions options;
  options.settings = std::move(settings);
  options.self = fact();
  options.launch = [this](const std::string& identity) { cluster_.launched.push_back(identity); };
  options.on_step = [this](const Step& step) {
    cluster_.steps.push_back(step.kind);
    if (cluster_.on_step) cluster_.on_step(*this, step);
  };
  role_ = std::make_unique<CoordinatorRole>(context(), options);
  transport_->set_handlers(
      {[this](const Address& from, MessagePtr message) { role_->on_message(from, message); },
       [](const Address&) {}});
}

FakeViewManager::FakeViewManager(FakeCluster& cluster, std::string name, bool standby)
    : FakeProcess(cluster, std::move(name)) {
  pb::ProcessFact self = fact();
  self.set_standby(standby);
  registration_ = std::make_unique<Registration>(loop_, *session_, paths::kViewManagers, self);
  transport_->set_handlers({[](const Address&, MessagePtr) {}, [](const Address&) {}});
}

// ---- nodes

FakeNode::FakeNode(FakeCluster& cluster, std::string name) : FakeProcess(cluster, std::move(name)) {
  registration_ = std::make_unique<Registration>(loop_, *session_, paths::kNodes, fact());
  map_watch_ = std::make_unique<FactWatch>(*session_, loop_, paths::kRegionMap, [this](const auto& fact) {
    pb::RegionMap next;
    if (fact && next.ParseFromString(fact->data) && next.version() >= map_.version()) map_ = next;
  });
  ring_watch_ = std::make_unique<FactWatch>(*session_, loop_, paths::kRing, [this](const auto& fact) {
    if (fact) ring_.ParseFromString(fact->data);
  });
  catalog_watch_ = std::make_unique<FactWatch>(*session_, loop_, paths::kCatalog, [this](const auto& fact) {
    if (fact) catalog_.ParseFromString(fact->data);
  });
  view_managers_watch_ =
      std::make_unique<EntriesWatch>(*session_, loop_, paths::kViewManagers,
                                     [this](const auto& entries) { view_managers_ = members_from(entries); });
  election_watch_ =
      std::make_unique<EntriesWatch>(*session_, loop_, paths::kElection, [this](const auto& entries) {
        auto now = coordinator_from(entries);
        coordinator_ = now ? now->address() : "";
        last_sent_.clear();
      });
  transport_->set_handlers({[this](const Address&, MessagePtr message) {
                              if (message->has_look_again()) last_sent_.clear();
                            },
                            [](const Address&) {}});
  tick();
}

void FakeNode::stop() {
  registration_.reset();
  map_watch_.reset();
  ring_watch_.reset();
  catalog_watch_.reset();
  election_watch_.reset();
  view_managers_watch_.reset();
}

void FakeNode::tick() {
  loop_.post_after(kTick, [this] {
    for (const auto& entry : map_.regions()) follow(entry);
    report();
    tick();
  });
}

bool FakeNode::serves(uint64_t region) const {
  auto mine = serving_.find(region);
  auto log = cluster_.logs.find(region);
  return alive_ && mine != serving_.end() && log != cluster_.logs.end() &&
         log->second.incarnation == mine->second && log->second.sealed == 0;
}

bool FakeNode::can_build(const pb::RegionEntry& entry, const pb::Replica& self, const FakeLog& log) const {
  if (lost.contains({entry.region(), self.joined()})) return false;
  auto mine = log.checkpoints.find(name_);
  if (mine != log.checkpoints.end() && mine->second.joined == self.joined()) return true;
  return self.joined() == entry.born() && entry.floor() == 0;
}

void FakeNode::follow(const pb::RegionEntry& entry) {
  const pb::Replica* self = Situation::replica_on(entry, name_);
  if (!self || entry.sealed()) {
    serving_.erase(entry.region());
    if (!self && cluster_.logs.contains(entry.region()))
      cluster_.logs[entry.region()].checkpoints.erase(name_);
    return;
  }
  bool is_new = !cluster_.logs.contains(entry.region());
  FakeLog& log = cluster_.logs[entry.region()];
  for (uint64_t parent : is_new ? entry.parents() : google::protobuf::RepeatedField<uint64_t>()) {
    const FakeLog& sealed = cluster_.logs[parent];
    log.catalog = std::max(log.catalog, sealed.catalog);
    log.ring = std::max(log.ring, sealed.ring);
    log.ring_acknowledged = std::max(log.ring_acknowledged, sealed.ring_acknowledged);
  }
  if (entry.owner() == name_) {
    lead(entry, *self, log);
  } else {
    serving_.erase(entry.region());
  }
  // Seeded by the owner, or tailing what it has.
  FakeNode* owner = cluster_.nodes.contains(entry.owner()) ? cluster_.nodes.at(entry.owner()).get() : nullptr;
  bool seeded = owner && owner->serves(entry.region()) && !lost.contains({entry.region(), self->joined()});
  if (can_build(entry, *self, log) || seeded) log.checkpoints[name_] = {self->joined(), log.end};
}

void FakeNode::lead(const pb::RegionEntry& entry, const pb::Replica& self, FakeLog& log) {
  if (log.sealed != 0) return;
  if (!serves(entry.region())) {
    bool map_is_old = log.fence_version > map_.version();
    if (map_is_old || !can_build(entry, self, log)) return;
    log.incarnation = ++log.end;
    log.fence_version = map_.version();
    serving_[entry.region()] = log.incarnation;
    return;
  }
  if (do_control(entry, log)) ++log.end;
  log.end += 3;  // Clients write.
  auto alive = [&](const pb::Ring& ring) {
    for (const auto& slice : ring.slices()) {
      bool here =
          slice.shards().begin() < entry.shards().end() && entry.shards().begin() < slice.shards().end();
      if (here && !bearer_of(ring_, view_managers_, ring.members(static_cast<int>(slice.member()))))
        return false;
    }
    return true;
  };
  if (!alive(ring_.ring())) return;
  log.passed_parents = true;
  if (log.ring == ring_.ring().version()) log.ring_acknowledged = log.ring;
}

// One record at a time. True: one was appended.
bool FakeNode::do_control(const pb::RegionEntry& entry, FakeLog& log) {
  for (const auto& change : map_.changes())
    if (std::count(change.parents().begin(), change.parents().end(), entry.region()) > 0)
      if (do_change(change, entry, log)) return true;
  if (log.merging != 0 || log.sealed != 0) return false;
  if (catalog_.version() > log.catalog) {
    log.catalog = catalog_.version();
    return true;
  }
  if (ring_.ring().version() > log.ring) {
    log.ring = ring_.ring().version();
    return true;
  }
  return false;
}

bool FakeNode::do_change(const pb::RegionChange& change, const pb::RegionEntry& entry, FakeLog& log) {
  bool first = change.parents(0) == entry.region();
  switch (change.phase()) {
    case pb::RegionChange::UNDO:
      if (first && log.fence_version < change.version()) serving_.erase(entry.region());  // Fences again.
      return false;
    case pb::RegionChange::SPLIT_SEAL: log.sealed = change.id(); return true;
    case pb::RegionChange::MERGE_SEAL_FIRST:
      if (!first || log.catalog != change.catalog_version() || log.ring != change.ring_version())
        return false;
      log.sealed = change.id();
      return true;
    case pb::RegionChange::MERGE_SEAL_SECOND:
      if (first) return false;
      log.sealed = change.id();
      return true;
    case pb::RegionChange::MERGE_MERGING:
      if (first || log.merging == change.id() || log.unmerged.contains(change.id())) return false;
      log.merging = change.id();
      return true;
    case pb::RegionChange::MERGE_UNMERGE:
      if (first || log.unmerged.contains(change.id())) return false;
      log.merging = 0;
      log.unmerged.insert(change.id());
      return true;
    default: return false;
  }
}

pb::RegionStatus FakeNode::status_of(const pb::RegionEntry& entry, const pb::Replica& self) const {
  const FakeLog& log = cluster_.logs.at(entry.region());
  pb::RegionStatus out;
  out.set_region(entry.region());
  out.set_node(name_);
  out.set_joined(self.joined());
  out.set_sealed(log.sealed);
  out.set_lost(lost.contains({entry.region(), self.joined()}));
  auto checkpoint = log.checkpoints.find(name_);
  if (checkpoint != log.checkpoints.end() && checkpoint->second.joined == self.joined()) {
    out.set_has_checkpoint(true);
    out.set_checkpoint(checkpoint->second.offset / 100 * 100);
  }
  if (!serves(entry.region())) return out;
  out.set_owner(true);
  out.set_incarnation(log.incarnation);
  out.set_fence_version(log.fence_version);
  out.set_ring_version(log.ring);
  out.set_ring_acknowledged(log.ring_acknowledged);
  out.set_catalog_version(log.catalog);
  out.set_merging(log.merging);
  for (uint64_t change : log.unmerged) out.add_unmerged(change);
  out.set_committed_past_seal(log.passed_parents);
  out.set_committed_floor(log.end / 100 * 100);
  out.set_changes_per_second(entry.shards().begin() == 0 ? 1000 : 10);  // The first region is hot.
  return out;
}

void FakeNode::report() {
  if (coordinator_.empty()) return;
  for (const auto& entry : map_.regions()) {
    const pb::Replica* self = Situation::replica_on(entry, name_);
    if (!self || !cluster_.logs.contains(entry.region())) continue;
    auto message = std::make_shared<pb::Message>();
    *message->mutable_region_status() = status_of(entry, *self);
    std::string& last = last_sent_[std::to_string(entry.region())];
    std::string bytes = message->SerializeAsString();
    if (bytes == last) continue;
    last = bytes;
    transport_->send(Address{coordinator_}, message);
  }
}

// ---- the cluster

CoordinatorSettings FakeCluster::default_settings() {
  CoordinatorSettings out;
  out.shards = 64;
  out.regions = 4;
  out.replicas = 2;
  out.nodes_min = 3;
  out.view_managers_min = 2;
  out.spread_after = Micros{500'000};
  out.replica_absence = Micros{5'000'000};
  out.discard_records_min = 5'000;
  return out;
}

CoordinationFaults FakeCluster::quick() {
  CoordinationFaults out;
  out.session_timeout = Micros{1'000'000};
  return out;
}

FakeCluster::FakeCluster(CoordinatorSettings with, CoordinationFaults faults)
    : settings(std::move(with)), network(world, Random(11)), tree(world, faults), random(7) {
  operator_ = network.connect(Address{"operator"}, operator_loop_);
  operator_->set_handlers(
      {[this](const Address&, MessagePtr message) { answers_[message->request()] = *message; },
       [](const Address&) {}});
}

FakeCluster::~FakeCluster() {
  for (auto& [name, process] : coordinators) process->kill();
  for (auto& [name, process] : nodes) process->kill();
  for (auto& [name, process] : view_managers) process->kill();
  on_step = nullptr;
}

FakeCoordinator& FakeCluster::add_coordinator(const std::string& name) {
  if (coordinators.contains(name)) graveyard.push_back(std::move(coordinators[name]));
  return *(coordinators[name] = std::make_unique<FakeCoordinator>(*this, name, settings));
}

FakeNode& FakeCluster::add_node(const std::string& name) {
  std::set<std::pair<uint64_t, uint64_t>> lost;
  if (nodes.contains(name)) {
    lost = nodes[name]->lost;
    graveyard.push_back(std::move(nodes[name]));
  }
  nodes[name] = std::make_unique<FakeNode>(*this, name);
  nodes[name]->lost = lost;
  return *nodes[name];
}

FakeViewManager& FakeCluster::add_view_manager(const std::string& name, bool standby) {
  if (view_managers.contains(name)) graveyard.push_back(std::move(view_managers[name]));
  return *(view_managers[name] = std::make_unique<FakeViewManager>(*this, name, standby));
}

void FakeCluster::kill(const std::string& name) {
  if (nodes.contains(name)) nodes.at(name)->kill();
  if (view_managers.contains(name)) view_managers.at(name)->kill();
  if (coordinators.contains(name)) coordinators.at(name)->kill();
}

void FakeCluster::lose_disk(const std::string& name) {
  pb::RegionMap map = facts().map;
  for (const auto& entry : map.regions())
    if (const auto* replica = Situation::replica_on(entry, name))
      nodes.at(name)->lost.insert({entry.region(), replica->joined()});
  for (auto& [region, log] : logs) log.checkpoints.erase(name);
}

void FakeCluster::start(const std::vector<std::string>& with_nodes,
                        const std::vector<std::string>& with_view_managers) {
  for (const char* name : {"c1", "c2", "c3"}) add_coordinator(name);
  for (const auto& name : with_nodes) add_node(name);
  for (const auto& name : with_view_managers) add_view_manager(name);
  run_until_quiet();
}

bool FakeCluster::run_until(const std::function<bool()>& holds, Micros limit) {
  Micros end{world.now().value + limit.value};
  while (!holds()) {
    if (world.now() >= end) return false;
    world.run_until({world.now().value + 1'000});
  }
  return true;
}

void FakeCluster::run_for(Micros span) {
  world.run_until({world.now().value + span.value});
}

std::string FakeCluster::why_not_quiet() const {
  ClusterFacts now = facts();
  if (!is_bootstrapped(now)) return "no cluster";
  for (const auto& operation : now.operations.running()) return "running: " + operation.ShortDebugString();
  for (const auto& change : now.map.changes()) return "change: " + change.ShortDebugString();
  for (const auto& entry : now.map.regions()) {
    // With one replica the parent's log stays: it is the second copy.
    if (entry.sealed() && now.wishes.replicas() > 1) return "not deleted: " + entry.ShortDebugString();
    if (entry.sealed()) continue;
    auto owner = nodes.find(entry.owner());
    if (owner == nodes.end() || !owner->second->serves(entry.region()))
      return "not served: " + entry.ShortDebugString();
    const FakeLog& log = logs.at(entry.region());
    if (log.ring_acknowledged != now.ring.ring().version())
      return "not acknowledged: " + entry.ShortDebugString();
    if (log.merging != 0) return "merging with nobody: " + entry.ShortDebugString();
    for (const auto& replica : entry.replicas()) {
      auto mine = log.checkpoints.find(replica.node());
      if (mine == log.checkpoints.end() || mine->second.joined != replica.joined())
        return "no checkpoint on " + replica.node() + ": " + entry.ShortDebugString();
    }
  }
  if (now.ring.previous_size() > 0) return "rings are kept";
  for (const auto& table : now.catalog.tables())
    if (table.begun() == 0) return "not begun: " + table.name();
  return "";
}

bool FakeCluster::run_until_quiet() {
  return run_until([&] { return why_not_quiet().empty(); });
}

FakeCoordinator* FakeCluster::elected() {
  for (auto& [name, process] : coordinators)
    if (process->is_alive() && process->role().is_elected()) return process.get();
  return nullptr;
}

ClusterFacts FakeCluster::facts() const {
  return {read<pb::ClusterFact>(paths::kCluster), read<pb::RingFact>(paths::kRing),
          read<pb::RegionMap>(paths::kRegionMap), read<pb::Catalog>(paths::kCatalog),
          read<pb::WishFact>(paths::kWishes),     read<pb::OperationsFact>(paths::kOperations),
          read<pb::StagedFact>(paths::kStaged),   read<pb::HistoryFact>(paths::kHistory)};
}

std::optional<pb::Message> FakeCluster::request(pb::Message message) {
  for (auto& [name, process] : coordinators) {
    if (!process->is_alive()) continue;
    uint64_t number = next_request_++;
    message.set_request(number);
    operator_->send(Address{name}, std::make_shared<pb::Message>(message));
    if (run_until([&] { return answers_.contains(number); }, Micros{3'000'000})) return answers_[number];
  }
  return std::nullopt;
}

pb::AdminReply FakeCluster::ask(const std::vector<std::string>& words, bool json) {
  pb::Message message;
  message.mutable_admin()->mutable_words()->Add(words.begin(), words.end());
  message.mutable_admin()->set_json(json);
  auto answer = request(message);
  pb::AdminReply none;
  none.set_exit_code(99);
  return answer ? answer->admin_reply() : none;
}

pb::AdminReply FakeCluster::ask_and_wait(const std::vector<std::string>& words) {
  pb::AdminReply reply = ask(words);
  for (int i = 0; i < 100 && reply.more(); ++i) {
    pb::Message message;
    message.mutable_admin()->set_operation(reply.operation());
    run_for(Micros{200'000});
    auto answer = request(message);
    if (answer) reply = answer->admin_reply();
  }
  return reply;
}

pb::CatalogReply FakeCluster::change_catalog(const pb::CatalogRequest& wanted) {
  pb::Message message;
  *message.mutable_change_catalog() = wanted;
  auto answer = request(message);
  return answer ? answer->catalog_changed() : pb::CatalogReply();
}

}  // namespace tidemark
