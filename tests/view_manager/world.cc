#include "tests/view_manager/world.h"

#include <algorithm>
#include <sstream>

#include "base/assert.h"
#include "proto/convert.h"
#include "proto/queue.h"

namespace tidemark {

using sample::Ints;

World::World(uint64_t seed, Probes& probes) : random_(seed), probes_(probes), truth_(kShards.value) {
  auto pick = [&](std::vector<double> choices) { return choices[random_.below(choices.size())]; };
  loss_ = pick({0, 0, 0.05, 0.2});
  repeat_ = pick({0, 0.1, 0.3});
  reorder_ = pick({0, 0.1, 0.5});
  busy_ = pick({0, 0.05, 0.2});
  keys_ = static_cast<int64_t>(pick({2, 5, 12}));
  groups_ = static_cast<int64_t>(pick({1, 2, 5}));
  limits_.batch_effects_max = static_cast<uint32_t>(pick({1, 3, 8, 1000}));
  limits_.batches_in_flight_max = static_cast<uint32_t>(pick({1, 2, 4}));
  limits_.effects_bytes_max = static_cast<size_t>(pick({500, 3000, 1 << 20}));
  limits_.input_bytes_max = static_cast<size_t>(pick({300, 2000, 1 << 20}));
  limits_.queue_bytes_min = static_cast<size_t>(pick({1, 100, 1000}));

  std::set<uint32_t> cuts;
  for (uint64_t i = random_.below(4); i > 0; --i) cuts.insert(static_cast<uint32_t>(1 + random_.below(7)));
  cuts.insert(kShards.value);
  uint32_t from = 0;
  for (uint32_t to : cuts) {
    auto region = std::make_unique<Region>();
    region->id = RegionId{next_region_++};
    region->shards = {ShardId{from}, ShardId{to}};
    region->parts = {{region->shards, {}}};
    region->generation = Generation{1};
    for (uint32_t lane = from; lane < to; ++lane) {
      region->committed.set({ShardId{lane}, ShardId{lane + 1}}, {Generation{1}, Offset{0}, 0});
    }
    regions_.push_back(std::move(region));
    from = to;
  }
  for (uint64_t i = 1 + random_.below(3); i > 0; --i) start("vm" + std::to_string(members_++));
  new_ring();
  for (auto& region : regions_) region->ring = rings_.back().version();
}

World::~World() = default;

void World::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
}

// ---- logs and rows

World::Region& World::owner(ShardId shard) {
  for (auto& region : regions_) {
    if (!region->sealed && region->shards.contains(shard)) return *region;
  }
  TM_UNREACHABLE();
}

World::Region& World::stream_of(ShardId lane, Generation generation) {
  for (auto& region : regions_) {
    if (region->shards.contains(lane) && region->generation == generation) return *region;
  }
  TM_ASSERT(false, lane, generation);
  TM_UNREACHABLE();
}

void World::append(Region& region, pb::QueueEntry entry) {
  ++appends_;
  entry.set_offset(region.log.size());
  entry.set_catalog_version(catalog_.value);
  EffectEntry effects;
  effects.reset(region.generation, Offset{entry.offset()});
  StepCounters steps(kShards);
  steps.begin_record();
  EffectWriter writer(effects, kShards, steps);
  sample::SampleProgram program;
  ChangeReader reader(entry.changes());
  Change change;
  while (reader.next(change)) {
    writer.enter_lane(kShards.shard_of(change.hash), 0);
    TM_ASSERT(program.effects_of(change, {}, writer));
  }
  TM_ASSERT(reader.ok());
  std::vector<std::pair<ShardId, Truth>> truths;
  for (const StoredEffect& stored : effects.effects()) {
    Effect effect = effects.decode(stored);
    Truth truth{effects.position_of(stored),
                stored.shard,
                effect.kind,
                effect.table,
                sample::ints_of_key(effect.key),
                {}};
    if (effect.kind != EffectKind::Delete) {
      truth.row = sample::ints_of_row(effect.row, sample::columns_of(effect.table));
    }
    truth_[stored.lane.value].push_back(std::move(truth));
  }
  largest_entry_ = std::max(largest_entry_, effects.bytes());
  largest_change_ = std::max(largest_change_, queue_entry_cost(entry));
  region.log.push_back(std::move(entry));
}

void World::change(Region& region, TableId table, const Ints& key, std::optional<Ints> after,
                   pb::QueueEntry& out) {
  sample::Rows& rows = region.rows[table];
  auto found = rows.find(key);
  std::optional<Ints> before;
  if (found != rows.end()) before = found->second;
  if (before == after) return;
  Change change;
  std::string key_bytes = sample::key_of(key), before_bytes, after_bytes, matches;
  change.table = table;
  change.hash = sample::hash_of(table, key);
  TM_ASSERT(region.shards.contains(kShards.shard_of(change.hash)));
  change.key = key_bytes;
  if (before) change.before = before_bytes = sample::row_of(*before);
  if (after) change.after = after_bytes = sample::row_of(*after);
  if (table == sample::kSideA || table == sample::kSideB) {
    change.has_matches = true;
    for (const auto& [other, row] : region.rows[table == sample::kSideA ? sample::kSideB : sample::kSideA]) {
      if (other[0] != key[0]) continue;
      std::string other_key = sample::key_of(other), other_row = sample::row_of(row);
      append_match(matches, {other_key, other_row});
    }
    change.matches = matches;
  }
  append_change(*out.mutable_changes(), change);
  if (after) {
    rows[key] = *after;
  } else {
    rows.erase(key);
  }
}

uint64_t World::ring_at(ShardId lane, Position position) {
  uint64_t out = 1;
  for (const auto& region : regions_) {
    if (!region->shards.contains(lane) || region->generation > position.generation) continue;
    for (const pb::QueueEntry& entry : region->log) {
      if (region->generation == position.generation && entry.offset() >= position.offset.value) break;
      if (entry.has_cut()) out = std::max(out, entry.cut().ring_version());
    }
  }
  return out;
}

// ---- what happens

void World::write() {
  Region& region = owner(ShardId{static_cast<uint32_t>(random_.below(kShards.value))});
  pb::QueueEntry entry;
  for (uint64_t i = 1 + random_.below(4); i > 0; --i) {
    TableId table = random_.chance(0.5) ? sample::kA : sample::kB;
    Ints key{random_.between(0, keys_ - 1)};
    if (!region.shards.contains(kShards.shard_of(sample::hash_of(table, key)))) continue;
    std::optional<Ints> after;
    if (random_.chance(0.8)) after = Ints{random_.between(0, groups_ - 1), random_.between(0, 8)};
    change(region, table, key, after, entry);
  }
  if (!entry.changes().empty()) append(region, std::move(entry));
}

void World::cut() {
  Region& region = owner(ShardId{static_cast<uint32_t>(random_.below(kShards.value))});
  if (region.ring == rings_.back().version()) return;
  region.ring += 1 + random_.below(rings_.back().version() - region.ring);
  pb::QueueEntry entry;
  entry.mutable_cut()->set_ring_version(region.ring);
  append(region, std::move(entry));
}

void World::split() {
  Region& parent = owner(ShardId{static_cast<uint32_t>(random_.below(kShards.value))});
  if (parent.shards.size() < 2 || regions_.size() > 14) return;
  ShardId middle{parent.shards.begin.value + 1 +
                 static_cast<uint32_t>(random_.below(parent.shards.size() - 1))};
  pb::QueueEntry seal;
  seal.mutable_seal()->set_generation(parent.generation.value + 1);
  append(parent, std::move(seal));
  parent.sealed = true;
  parent.queues.clear();
  ++probes_["split"];
  for (ShardRange range : {ShardRange{parent.shards.begin, middle}, ShardRange{middle, parent.shards.end}}) {
    auto child = std::make_unique<Region>();
    child->id = RegionId{next_region_++};
    child->shards = range;
    child->generation = Generation{parent.generation.value + 1};
    child->ring = parent.ring;
    for (const LaneRun& run : parent.committed.cover(range)) child->committed.set(run.lanes, run.position);
    for (const Part& part : parent.parts) {
      ShardRange both{std::max(part.shards.begin, range.begin), std::min(part.shards.end, range.end)};
      if (!both.empty()) child->parts.push_back({both, part.applied});
    }
    for (const auto& [table, rows] : parent.rows) {
      for (const auto& [key, row] : rows) {
        if (range.contains(kShards.shard_of(sample::hash_of(table, key)))) child->rows[table][key] = row;
      }
    }
    regions_.push_back(std::move(child));
  }
}

void World::merge() {
  ShardId at{1 + static_cast<uint32_t>(random_.below(kShards.value - 1))};
  Region &left = owner(ShardId{at.value - 1}), &right = owner(at);
  if (&left == &right || left.ring != right.ring || regions_.size() > 14) return;
  const Generation generation{std::max(left.generation, right.generation).value + 1};
  auto child = std::make_unique<Region>();
  child->id = RegionId{next_region_++};
  child->shards = {left.shards.begin, right.shards.end};
  child->generation = generation;
  child->ring = left.ring;
  for (Region* parent : {&left, &right}) {
    pb::QueueEntry seal;
    seal.mutable_seal()->set_generation(generation.value);
    append(*parent, std::move(seal));
    parent->sealed = true;
    parent->queues.clear();
    for (const LaneRun& run : parent->committed.cover(parent->shards)) {
      child->committed.set(run.lanes, run.position);
    }
    for (const Part& part : parent->parts) child->parts.push_back(part);
    for (const auto& [table, rows] : parent->rows) child->rows[table].insert(rows.begin(), rows.end());
  }
  ++probes_[child->parts.front().applied == child->parts.back().applied ? "merge" : "merge into parts"];
  regions_.push_back(std::move(child));
}

// Raises the parts to what is committed, if that makes them fewer.
void World::unify(Region& region) {
  std::vector<Part> parts;
  for (Part part : region.parts) {
    for (uint32_t lane = 0; lane < kShards.value; ++lane) {
      part.applied.raise({ShardId{lane}, ShardId{lane + 1}},
                         owner(ShardId{lane}).committed.at(ShardId{lane}));
    }
    if (!parts.empty() && parts.back().applied == part.applied) {
      parts.back().shards.end = part.shards.end;
    } else {
      parts.push_back(std::move(part));
    }
  }
  if (parts.size() == region.parts.size()) return;
  ++probes_["parts united"];
  region.parts = std::move(parts);
}

void World::start(const std::string& identity) {
  auto process = std::make_unique<Process>();
  process->identity = identity;
  process->address = {identity + "#" + std::to_string(++boots_)};
  process->program = std::make_unique<sample::SampleProgram>();
  process->program->known = catalog_;
  process->core =
      std::make_unique<ViewManagerCore>(ViewManagerId{identity}, kShards, *process->program, limits_);
  process->core->tick(now_);
  if (!rings_.empty()) tell(*process);
  processes_.push_back(std::move(process));
}

void World::tell(Process& process) {
  process.core->on_ring(ring_fact());
  process.core->on_regions(region_map());
  process.program->known = catalog_;
}

void World::crash() {
  if (zombies_.size() > 2) return;
  auto& victim = processes_[random_.below(processes_.size())];
  std::string identity = victim->identity;
  if (random_.chance(0.6)) {
    ++probes_["zombie"];
    zombies_.push_back(std::move(victim));
  } else {
    count(*victim);
    Address gone = victim->address;
    for (auto& region : regions_) {
      std::erase_if(region->queues, [&](const Queue& queue) { return queue.view_manager == gone; });
    }
  }
  std::erase_if(processes_, [](const auto& process) { return !process; });
  std::erase_if(processes_, [&](const auto& process) { return process->identity == identity; });
  ++probes_["crash"];
  if (!processes_.empty() && random_.chance(0.4) && rings_.size() < 12) {
    new_ring();
  } else {
    start(identity);
  }
}

void World::new_ring() {
  if (rings_.size() >= 12) return;
  if (!rings_.empty() && processes_.size() < 4 && random_.chance(0.4))
    start("vm" + std::to_string(members_++));
  pb::Ring ring;
  ring.set_version(rings_.size() + 1);
  for (const auto& process : processes_) ring.add_members(process->identity);
  for (uint32_t at = 0; at < kShards.value;) {
    uint32_t end = std::min<uint32_t>(kShards.value, at + 1 + static_cast<uint32_t>(random_.below(4)));
    pb::Ring::Slice& slice = *ring.add_slices();
    *slice.mutable_shards() = to_pb(ShardRange{ShardId{at}, ShardId{end}});
    slice.set_member(static_cast<uint32_t>(random_.below(processes_.size())));
    at = end;
  }
  rings_.push_back(std::move(ring));
}

void World::new_catalog() {
  if (catalog_.value < 6) ++catalog_.value;
}

void World::forget_zombie() {
  if (zombies_.empty()) return;
  count(*zombies_.front());
  Address gone = zombies_.front()->address;
  zombies_.erase(zombies_.begin());
  for (auto& region : regions_) {
    std::erase_if(region->queues, [&](const Queue& queue) { return queue.view_manager == gone; });
  }
}

pb::RingFact World::ring_fact() const {
  pb::RingFact fact;
  for (size_t i = 0; i + 1 < rings_.size(); ++i) *fact.add_previous() = rings_[i];
  *fact.mutable_ring() = rings_.back();
  return fact;
}

pb::RegionMap World::region_map() const {
  pb::RegionMap map;
  for (const auto& region : regions_) {
    pb::RegionEntry& entry = *map.add_regions();
    entry.set_region(region->id.value);
    *entry.mutable_shards() = to_pb(region->shards);
    entry.set_sealed(region->sealed);
  }
  return map;
}

void World::advance(int64_t millis) {
  now_.value += millis * 1000;
  for (auto* all : {&processes_, &zombies_}) {
    for (auto& process : *all) {
      process->core->tick(now_);
      pump(*process);
    }
  }
}

// ---- messages

void World::send(const Address& from, const Address& to, std::shared_ptr<pb::Message> message) {
  if (random_.chance(loss_)) return;
  network_.push_back({from, to, message});
  if (random_.chance(repeat_)) network_.push_back({from, to, message});
}

void World::pump(Process& process) {
  std::vector<Outgoing> out;
  process.core->pump(out);
  check_memory(process);
  for (Outgoing& outgoing : out) {
    fingerprint_ = fingerprint_ * 1099511628211u + outgoing.message->ByteSizeLong() * 31 +
                   static_cast<uint64_t>(outgoing.message->body_case());
    Address to = outgoing.to ? *outgoing.to : owner(outgoing.shard).address();
    send(process.address, to, std::move(outgoing.message));
  }
}

void World::check_memory(const Process& process) {
  if (process.core->effects_bytes() > limits_.effects_bytes_max + largest_entry_) fail("memory: effects");
  size_t input_max =
      limits_.input_bytes_max + process.core->queue_count() * (limits_.queue_bytes_min + largest_change_);
  if (process.core->input_bytes() > input_max) fail("memory: input");
}

void World::deliver_one() {
  if (network_.empty()) return;
  size_t index = random_.chance(reorder_) ? random_.below(network_.size()) : 0;
  InFlight message = network_[index];
  network_.erase(network_.begin() + static_cast<std::ptrdiff_t>(index));
  handle(message);
}

void World::handle(const InFlight& message) {
  for (auto& region : regions_) {
    if (region->address() == message.to) {
      if (!region->silent && !region->sealed) on_message(*region, message);
      return;
    }
  }
  for (auto* all : {&processes_, &zombies_}) {
    for (auto& process : *all) {
      if (process->address != message.to) continue;
      process->core->on_message(message.from, message.message);
      pump(*process);
      return;
    }
  }
}

// ---- running

std::string World::run() {
  const int steps = static_cast<int>(random_.between(200, 3000));
  const double quiet_catalog = random_.chance(0.5) ? 0.3 : 1.0;
  for (int i = 0; i < steps && failure_.empty(); ++i) {
    double dice = random_.unit() * 100;
    if (dice < 18)
      write();
    else if (dice < 60)
      deliver_one();
    else if (dice < 85)
      serve(*regions_[random_.below(regions_.size())]);
    else if (dice < 90)
      advance(random_.between(1, 300));
    else if (dice < 91)
      crash();
    else if (dice < 92)
      new_ring();
    else if (dice < 94)
      cut();
    else if (dice < 94.6)
      split();
    else if (dice < 95.4)
      merge();
    else if (dice < 96)
      unify(*regions_[random_.below(regions_.size())]);
    else if (dice < 97)
      forget_zombie();
    else if (dice < 97.3)
      new_catalog();
    else if (dice < 98)
      regions_[random_.below(regions_.size())]->silent ^= true;
    else if (random_.chance(quiet_catalog))
      tell(*processes_[random_.below(processes_.size())]);
  }
  if (failure_.empty()) finish();
  return failure_;
}

void World::round() {
  for (auto& process : processes_) tell(*process);
  for (auto& process : zombies_) tell(*process);
  for (size_t i = 0; i < regions_.size(); ++i) {
    Region& region = *regions_[i];
    if (region.sealed) continue;
    if (region.ring != rings_.back().version()) {
      region.ring = rings_.back().version();
      pb::QueueEntry entry;
      entry.mutable_cut()->set_ring_version(region.ring);
      append(region, std::move(entry));
    }
    unify(region);
    serve(region);
  }
  advance(60);
  for (int i = 0; i < 3000 && !network_.empty(); ++i) deliver_one();
}

void World::finish() {
  loss_ = repeat_ = reorder_ = busy_ = chop_ = 0;
  for (auto& region : regions_) region->silent = false;
  if (random_.chance(0.5)) {
    while (!zombies_.empty()) forget_zombie();
  }
  int quiet = 0;
  for (int i = 0; i < 3000 && quiet < 20 && failure_.empty(); ++i) {
    uint64_t before = appends_;
    round();
    bool idle = network_.empty();
    for (const auto& process : processes_) idle = idle && process->core->idle();
    quiet = appends_ == before && idle ? quiet + 1 : 0;
  }
  if (failure_.empty() && quiet < 20) {
    std::string what = "liveness: never quiet\n";
    for (const auto& region : regions_) {
      for (size_t i = region->log.size() < 30 ? 0 : region->log.size() - 12; i < region->log.size(); ++i) {
        if (!region->sealed)
          what += std::to_string(region->id.value) + ": " + region->log[i].ShortDebugString() + "\n";
      }
    }
    for (const auto& process : processes_) what += process->address.value + "\n" + process->core->describe();
    fail(what);
  }
  if (failure_.empty()) final_check();
}

void World::count(const Process& process) {
  const ViewManagerCore::Counts& counts = process.core->counts();
  probes_["applied"] += counts.applied;
  probes_["refused"] += counts.refused;
  probes_["stale refusal"] += counts.stale_refusals;
  probes_["busy"] += counts.busy;
  probes_["catalog behind"] += counts.catalog_behind;
  probes_["waits for catalog"] += counts.waits_for_catalog;
  probes_["waits for ring"] += counts.waits_for_ring;
  probes_["parked"] += counts.parked;
  probes_["unparked"] += counts.unparked;
  probes_["let go"] += counts.let_go;
  probes_["reopened"] += counts.reopened;
  probes_["timeout"] += counts.timeouts;
  probes_["lanes stopped"] += counts.lanes_stopped;
  probes_["seal crossed"] += counts.seals_crossed;
  probes_["already applied"] += counts.already_applied;
  probes_["combined"] += process.core->batch_counts().combined;
  probes_["ends inside a record"] += process.core->batch_counts().inside_record;
}

void World::final_check() {
  std::map<TableId, sample::Rows> rows;
  for (const auto& region : regions_) {
    if (region->sealed) continue;
    for (const auto& [table, some] : region->rows) rows[table].insert(some.begin(), some.end());
  }
  for (uint32_t lane = 0; lane < kShards.value; ++lane) {
    for (const Truth& truth : truth_[lane]) {
      Region& region = owner(truth.shard);
      for (const Part& part : region.parts) {
        if (part.shards.contains(truth.shard) && part.applied.at(ShardId{lane}) <= truth.start) {
          std::ostringstream what;
          what << "liveness: an effect of lane " << lane << " at " << truth.start
               << " was never applied at shard " << truth.shard << ", which is at "
               << part.applied.at(ShardId{lane}) << "; the lane has committed "
               << owner(ShardId{lane}).committed.at(ShardId{lane});
          for (const Queue& queue : owner(ShardId{lane}).queues) {
            what << "\nqueue of " << queue.view_manager << " epoch " << queue.epoch << " next " << queue.next;
          }
          for (const auto& process : processes_)
            what << '\n' << process->address << '\n' << process->core->describe();
          fail(what.str());
        }
      }
    }
    Region& region = owner(ShardId{lane});
    if (passes(ShardId{lane}, region.committed.at(ShardId{lane}),
               {region.generation, Offset{region.log.size()}, 0}, Whose::Own)) {
      std::ostringstream what;
      what << "liveness: lane " << lane << " has committed only " << region.committed.at(ShardId{lane})
           << " of region " << region.id << " with " << region.log.size() << " records; queues:";
      for (const Queue& queue : region.queues) {
        what << ' ' << queue.view_manager << " epoch " << queue.epoch << " next " << queue.next;
      }
      for (const auto& process : processes_)
        what << '\n' << process->address << '\n' << process->core->describe();
      fail(what.str());
    }
  }
  std::map<TableId, sample::Rows> want = sample::evaluate(rows[sample::kA], rows[sample::kB]);
  for (TableId table : {sample::kCounts, sample::kHistogram, sample::kIndex, sample::kWords, sample::kSideA,
                        sample::kSideB, sample::kJoin, sample::kJoined}) {
    if (rows[table] != want[table]) fail("convergence: table " + std::to_string(table.value));
  }
  for (const auto& process : processes_) {
    if (process->core->effects_bytes() != 0) fail("memory is kept");
    count(*process);
  }
}

}  // namespace tidemark
