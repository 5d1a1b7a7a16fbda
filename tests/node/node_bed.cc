#include "tests/node/node_bed.h"

#include <gtest/gtest.h>

#include <sstream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "proto/change.h"
#include "proto/convert.h"
#include "tests/node/feed_bed.h"

namespace tidemark {

// ---- a view manager ----------------------------------------------------------------------------------

PlainViewManager::PlainViewManager(SimNetwork& network, CoordinationTree& tree, Scheduler& scheduler,
                                   const std::string& name, RingOwner owner)
    : name_(name),
      owner_(std::move(owner)),
      coordination_(tree, scheduler, Random(XXH3_64bits(name.data(), name.size()))),
      transport_(network.connect(Address{name}, scheduler)) {
  transport_->set_handlers({[this](const Address& from, MessagePtr message) { on_message(from, *message); },
                            [](const Address&) {}});
  pb::ProcessFact self;
  self.set_name(name);
  self.set_address(name);
  self.set_boot(static_cast<uint64_t>(scheduler.now().value) + 1);
  registration_ = std::make_unique<Registration>(scheduler, coordination_, paths::kViewManagers, self);
}

void PlainViewManager::on_message(const Address& from, const pb::Message& message) {
  if (message.has_queue_open()) on_open(from, message.queue_open());
  if (message.has_queue_records()) on_records(from, message.queue_records());
}

void PlainViewManager::on_open(const Address& from, const pb::QueueOpen& open) {
  ++opens_;
  QueueName name{open.region(), open.incarnation(), open.epoch()};
  const auto [known, is_new] = queues_.try_emplace(name);
  if (is_new) {  // Else it is repeated, and some of its lanes may be another's by now.
    Queue& queue = known->second;
    queue.generation = Generation{open.generation()};
    for (const pb::LaneRun& run : open.lanes()) {
      ShardRange lanes = from_pb(run.lanes());
      queue.lanes.push_back(lanes);
      for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
        newest_[lane] = name;
        EXPECT_LE(from_pb(run.position()), std::max(next_[lane], from_pb(run.position())));
      }
    }
  }
  auto reply = std::make_shared<pb::Message>();
  reply->mutable_queue_credit()->set_region(open.region());
  reply->mutable_queue_credit()->set_epoch(open.epoch());
  reply->mutable_queue_credit()->set_incarnation(open.incarnation());
  reply->mutable_queue_credit()->set_bytes(credit);
  reply->mutable_queue_credit()->set_sequence(open.sequence());
  transport_->send(from, std::move(reply));
}

void PlainViewManager::on_records(const Address& from, const pb::QueueRecords& records) {
  QueueName name{records.region(), records.incarnation(), records.epoch()};
  auto found = queues_.find(name);
  if (found == queues_.end()) return;
  Generation generation = found->second.generation;
  std::map<ShardId, Position> committed;
  for (const pb::QueueEntry& entry : records.entries()) {
    Position at{generation, Offset{entry.offset()}, 0};
    ChangeReader reader(entry.changes());
    for (Change change; reader.next(change);) {
      ShardId lane = kBedShards.shard_of(change.hash);
      if (newest_[lane] != name || at < next_[lane]) continue;  // Not its, or seen before.
      seen_[lane].push_back({at, std::string(change.after.value_or("gone"))});
    }
    Position end{generation, Offset{entry.offset() + 1}, 0};
    if (entry.has_seal()) end = {Generation{entry.seal().generation()}, Offset{0}, 0};
    std::vector<ShardId> gone;
    for (auto& [lane, of] : newest_) {
      if (of != name) continue;
      committed[lane] = next_[lane] = std::max(next_[lane], end);
      if (entry.has_cut() && owner_(entry.cut().ring_version(), lane) != name_) gone.push_back(lane);
    }
    for (ShardId lane : gone) newest_.erase(lane);
  }
  if (!commits || committed.empty()) return;
  auto report = std::make_shared<pb::Message>();
  report->mutable_committed()->set_region(records.region());
  for (const auto& [lane, position] : committed) {
    pb::LaneRun& run = *report->mutable_committed()->add_lanes();
    *run.mutable_lanes() = to_pb(ShardRange{lane, ShardId{lane.value + 1}});
    *run.mutable_position() = to_pb(position);
  }
  transport_->send(from, std::move(report));
}

// ---- nodes -------------------------------------------------------------------------------------------

NodeBed::NodeBed(uint64_t seed, MemoryLogFaults faults)
    : random(seed),
      logs(MemoryLogKind::Kafka, scheduler, random.fork(), faults),
      tree(scheduler),
      network(scheduler, random.fork()),
      admin_(tree, scheduler, random.fork()) {
  bool done = false;
  ensure_folders(admin_, [&](auto) { done = true; });
  scheduler.run_while_not([&] { return done; });
  coordinator_ = network.connect(Address{"coordinator"}, scheduler);
  coordinator_->set_handlers({[this](const Address&, MessagePtr message) {
                                const pb::RegionStatus& status = message->region_status();
                                if (message->has_region_status()) {
                                  statuses_[{status.node(), status.region()}] = status;
                                }
                              },
                              [](const Address&) {}});
  pb::ProcessFact self;
  self.set_address("coordinator");
  done = false;
  admin_.create(std::string(paths::kElection) + "/guid-", self.SerializeAsString(),
                EntryMode::EphemeralSequential, [&](auto) { done = true; });
  scheduler.run_while_not([&] { return done; });
  client_transport_ = network.connect(Address{"client"}, scheduler);
  directory_ = std::make_unique<WatchedDirectory>(admin_, scheduler);
  ClientOptions options;
  options.shards = kBedShards;
  client_ = std::make_unique<Client>(scheduler, *client_transport_, *directory_, random, options);
}

NodeBed::~NodeBed() = default;

void NodeBed::start(const std::string& name) {
  auto process = std::make_unique<Process>();
  if (!disks_[name]) disks_[name] = std::make_unique<MemoryDisk>(kBedShards);
  process->coordination = std::make_unique<MemoryCoordination>(tree, scheduler, random.fork());
  process->transport = network.connect(Address{name}, scheduler);
  process->logs = std::make_unique<TroubledLogs>(logs.connect(scheduler), log_troubles);
  process->store = std::make_unique<MemoryStore>(*disks_[name], scheduler, kBedShards);
  process->random = random.fork();
  NodeOptions options;
  options.name = options.address = name;
  options.cluster = kBedCluster;
  options.shards = kBedShards;
  options.checkpoint_interval = Micros{2'000'000};
  options.seed_chunk_bytes = seed_chunk_bytes;
  options.feed.queues_per_member_max = queues_per_member_max;
  options.say = [this, name](const std::string& text) { said.push_back(name + ": " + text); };
  ProcessContext context{scheduler, *process->transport, *process->coordination, process->random,
                         process->logs.get()};
  process->node = std::make_unique<StorageNode>(context, options, *process->store, process->arithmetic);
  process->node->start();
  nodes_[name] = std::move(process);
}

void NodeBed::crash(const std::string& name) {
  std::unique_ptr<Process> process = std::move(nodes_.at(name));
  nodes_.erase(name);
  process->coordination->abandon();
  process->node.reset();
  process->store.reset();
  process->logs.reset();
  process->transport.reset();
  abandoned_.push_back(std::move(process->coordination));
  disks_.at(name)->crash(random);
}

void NodeBed::lose_disk(const std::string& name) {
  disks_[name] = std::make_unique<MemoryDisk>(kBedShards);
}

// ---- facts -------------------------------------------------------------------------------------------

void NodeBed::write_fact(const std::string& path, const std::string& data) {
  bool written = false;
  read_fact(admin_, path, nullptr, [&](Result<Fact, CoordinationError> old) {
    FactWrite write{path, data, old.ok() ? std::optional(*old) : std::nullopt};
    write_facts(admin_, {write}, random.next(), {}, [&](Result<void, CoordinationError> done) {
      ASSERT_TRUE(done.ok()) << to_string(done.error());
      written = true;
    });
  });
  ASSERT_TRUE(scheduler.run_while_not([&] { return written; }));
}

void NodeBed::change_map(const std::function<void(pb::RegionMap&)>& change) {
  map_.set_version(map_.version() + 1);
  change(map_);
  write_fact(paths::kRegionMap, map_.SerializeAsString());
}

pb::RegionEntry& NodeBed::entry(pb::RegionMap& map, uint64_t region) {
  for (pb::RegionEntry& entry : *map.mutable_regions()) {
    if (entry.region() == region) return entry;
  }
  ADD_FAILURE() << "no region " << region;
  return *map.add_regions();
}

void NodeBed::bootstrap(const std::vector<std::string>& nodes) {
  run_for(Micros{100'000});  // Nodes see that there is no map yet.
  catalog_.set_version(1);
  pb::TableDefinition& table = *catalog_.add_tables();
  table.set_id(kBedTable.value);
  table.set_name("t");
  table.set_kind(pb::MANAGED);
  table.set_row_rule(pb::PUT);
  table.set_created(1);
  write_fact(paths::kCatalog, catalog_.SerializeAsString());
  change_map([&](pb::RegionMap& map) {
    map.set_next_region(2);
    map.set_next_change(1);
    pb::RegionEntry& region = *map.add_regions();
    region.set_region(1);
    *region.mutable_shards() = to_pb(kBedShards.all());
    region.set_owner(nodes.front());
    region.set_born(map.version());
    for (const std::string& node : nodes) {
      pb::Replica& replica = *region.add_replicas();
      replica.set_node(node);
      replica.set_joined(map.version());
    }
  });
  ASSERT_TRUE(run_until([&] { return owns(nodes.front(), 1); }));
}

void NodeBed::move(uint64_t region, const std::string& to) {
  change_map([&](pb::RegionMap& map) { entry(map, region).set_owner(to); });
}

namespace {

void add_child(pb::RegionMap& map, const pb::RegionEntry& like, uint64_t region, ShardRange shards,
               uint32_t generation, const std::vector<uint64_t>& parents) {
  pb::RegionEntry child;
  child.set_region(region);
  *child.mutable_shards() = to_pb(shards);
  child.set_generation(generation);
  child.set_owner(like.owner());
  child.set_born(map.version());
  for (const pb::Replica& replica : like.replicas()) {
    pb::Replica& copy = *child.add_replicas();
    copy.set_node(replica.node());
    copy.set_joined(map.version());
  }
  for (uint64_t parent : parents) child.add_parents(parent);
  *map.add_regions() = child;
}

}  // namespace

void NodeBed::join(uint64_t region, const std::string& node) {
  change_map([&](pb::RegionMap& map) {
    pb::Replica& replica = *entry(map, region).add_replicas();
    replica.set_node(node);
    replica.set_joined(map.version());
  });
}

void NodeBed::leave(uint64_t region, const std::string& node) {
  change_map([&](pb::RegionMap& map) {
    auto& replicas = *entry(map, region).mutable_replicas();
    for (int i = replicas.size() - 1; i >= 0; --i)
      if (replicas[i].node() == node) replicas.DeleteSubrange(i, 1);
  });
}

void NodeBed::split(uint64_t region, uint32_t at_shard) {
  pb::RegionEntry parent = entry(map_, region);
  ShardRange low{ShardId{parent.shards().begin()}, ShardId{at_shard}};
  ShardRange high{ShardId{at_shard}, ShardId{parent.shards().end()}};
  uint64_t first = map_.next_region();
  uint64_t id = map_.next_change();
  change_map([&](pb::RegionMap& map) {
    pb::RegionChange& change = *map.add_changes();
    change.set_id(id);
    change.add_parents(region);
    change.set_phase(pb::RegionChange::SPLIT_SEAL);
    change.set_version(map.version());
    for (auto [child, shards] : {std::pair(first, low), std::pair(first + 1, high)}) {
      auto* made = change.add_children();
      made->set_region(child);
      *made->mutable_shards() = to_pb(shards);
    }
    map.set_next_region(first + 2);
    map.set_next_change(id + 1);
  });
  ASSERT_TRUE(run_until([&] { return status(entry(map_, region).owner(), region).sealed() == id; }));
  change_map([&](pb::RegionMap& map) {
    map.clear_changes();
    entry(map, region).set_sealed(true);
    pb::RegionEntry like = entry(map, region);
    add_child(map, like, first, low, parent.generation() + 1, {region});
    add_child(map, like, first + 1, high, parent.generation() + 1, {region});
  });
}

void NodeBed::merge(uint64_t low, uint64_t high) {
  pb::RegionEntry first = entry(map_, low);
  pb::RegionEntry second = entry(map_, high);
  uint64_t child = map_.next_region();
  uint64_t id = map_.next_change();
  ShardRange shards{ShardId{first.shards().begin()}, ShardId{second.shards().end()}};
  auto phase = [&](pb::RegionChange::Phase next) {
    change_map([&](pb::RegionMap& map) {
      pb::RegionChange& change = map.changes_size() > 0 ? *map.mutable_changes(0) : *map.add_changes();
      change.set_id(id);
      change.clear_parents();
      change.add_parents(low);
      change.add_parents(high);
      change.clear_children();
      change.add_children()->set_region(child);
      *change.mutable_children(0)->mutable_shards() = to_pb(shards);
      change.set_phase(next);
      change.set_version(map.version());
      change.set_catalog_version(catalog_.version());
      change.set_ring_version(ring_.ring().version());
      map.set_next_region(child + 1);
      map.set_next_change(id + 1);
    });
  };
  phase(pb::RegionChange::MERGE_MERGING);
  ASSERT_TRUE(run_until([&] { return status(entry(map_, high).owner(), high).merging() == id; }));
  phase(pb::RegionChange::MERGE_SEAL_FIRST);
  ASSERT_TRUE(run_until([&] { return status(entry(map_, low).owner(), low).sealed() == id; }));
  phase(pb::RegionChange::MERGE_SEAL_SECOND);
  ASSERT_TRUE(run_until([&] { return status(entry(map_, high).owner(), high).sealed() == id; }));
  change_map([&](pb::RegionMap& map) {
    map.clear_changes();
    entry(map, low).set_sealed(true);
    entry(map, high).set_sealed(true);
    pb::RegionEntry like = entry(map, low);
    add_child(map, like, child, shards, std::max(first.generation(), second.generation()) + 1, {low, high});
  });
}

void NodeBed::set_ring(const std::vector<std::string>& members_by_shard) {
  if (ring_.has_ring()) *ring_.add_previous() = ring_.ring();
  *ring_.mutable_ring() = ring_of(ring_.ring().version() + 1, members_by_shard);
  ring_.set_policy(pb::ACTIVATE_BY_NODE);
  write_fact(paths::kRing, ring_.SerializeAsString());
}

// ---- view managers -----------------------------------------------------------------------------------

PlainViewManager& NodeBed::start_view_manager(const std::string& name) {
  auto owner = [this](uint64_t version, ShardId lane) {
    if (ring_.ring().version() == version) return ring_.ring().members(static_cast<int>(lane.value));
    for (const pb::Ring& ring : ring_.previous()) {
      if (ring.version() == version) return ring.members(static_cast<int>(lane.value));
    }
    return std::string();
  };
  view_managers_[name] = std::make_unique<PlainViewManager>(network, tree, scheduler, name, owner);
  return *view_managers_[name];
}

void NodeBed::stop_view_manager(const std::string& name) {
  view_managers_.erase(name);
}

// ---- clients -----------------------------------------------------------------------------------------

uint64_t NodeBed::hash_of(const std::string& key) {
  return XXH3_64bits(key.data(), key.size());
}

void NodeBed::write(const std::string& key, const std::string& text) {
  WriteBatch batch;
  Operation operation;
  operation.table = kBedTable;
  operation.hash = hash_of(key);
  operation.key = key;
  operation.row = text;
  batch.add(operation);
  written_[key].push_back(text);
  in_flight_.insert(key);
  client_->write(std::move(batch), CatalogVersion{1}, Atomicity::PerRegion,
                 [this, key, text](Result<WriteOutcome, ClientFailure> outcome) {
                   in_flight_.erase(in_flight_.find(key));
                   if (outcome.ok()) acknowledged_.insert(text);
                 });
}

std::map<std::string, std::string> NodeBed::read_all() {
  std::map<std::string, std::string> out;
  ScanPosition from;
  bool done = false;
  std::function<void()> next = [&] {
    ScanSpec spec;
    spec.table = kBedTable;
    client_->scan(spec, from, [&](Result<RowPage, ClientFailure> page) {
      ASSERT_TRUE(page.ok()) << page.error().message;
      RowReader reader(page->rows);
      for (StoredRow row; reader.next(row);) out[std::string(row.key)] = std::string(row.row);
      done = !page->next.has_value();
      if (!done) from = *page->next;
      if (!done) next();
    });
  };
  next();
  EXPECT_TRUE(run_until([&] { return done; }));
  return out;
}

// Writes to one key are made one after another by these tests, so the last acknowledged one, or a later one
// whose outcome is unknown, must be there.
void NodeBed::expect_nothing_lost() {
  std::map<std::string, std::string> rows = read_all();
  for (const auto& [key, texts] : written_) {
    size_t last_acknowledged = texts.size();
    for (size_t i = 0; i < texts.size(); ++i) {
      if (acknowledged_.count(texts[i]) != 0) last_acknowledged = i;
    }
    auto row = rows.find(key);
    if (last_acknowledged == texts.size()) continue;
    ASSERT_NE(row, rows.end()) << key << " was acknowledged and is not there";
    auto found =
        std::find(texts.begin() + static_cast<ptrdiff_t>(last_acknowledged), texts.end(), row->second);
    EXPECT_NE(found, texts.end()) << key << " is " << row->second << ", acknowledged was "
                                  << texts[last_acknowledged];
  }
}

// ---- time --------------------------------------------------------------------------------------------

bool NodeBed::run_until(const std::function<bool()>& condition) {
  Micros end{scheduler.now().value + 60'000'000};
  while (!condition()) {
    if (scheduler.now() > end || !scheduler.run_one()) return false;
  }
  return true;
}

std::string NodeBed::describe() {
  std::ostringstream out;
  out << "map " << map_.version() << "\n";
  for (auto& [name, process] : nodes_) {
    for (RegionId id : process->node->regions().held()) {
      RegionReplica& replica = *process->node->region(id);
      const RegionState& state = replica.state();
      out << name << " region " << id << " " << state.identity().shards << " generation "
          << state.identity().generation << " next " << state.reader().next << " ring " << state.ring() << "/"
          << state.ring_acknowledged() << (replica.owning() ? " owning" : "")
          << (replica.sealed() ? " sealed" : "");
      if (auto figures = replica.queue_figures()) {
        out << " queues " << figures->queues << " lanes waiting " << figures->lanes_waiting << " messages "
            << figures->messages;
      }
      for (const LaneRun& run : state.committed().cover(state.identity().shards)) {
        out << " " << run.lanes << run.position;
      }
      out << "\n";
    }
  }
  for (const std::string& text : said) out << text << "\n";
  return out.str();
}

bool NodeBed::owns(const std::string& name, uint64_t region) {
  if (!is_up(name)) return false;
  RegionReplica* replica = node(name).region(RegionId{region});
  return replica != nullptr && replica->owning();
}

}  // namespace tidemark
