#include "node/region_set.h"

#include <algorithm>
#include <utility>

#include "base/mutation.h"
#include "base/probe.h"
#include "proto/convert.h"

namespace tidemark {

RegionSet::RegionSet(ReplicaContext context, ClusterView& view, NodeStore& store, Listener listener)
    : context_(context),
      view_(view),
      store_(store),
      listener_(std::move(listener)),
      scheduler_(context.scheduler) {
  for (const Checkpoint& checkpoint : store_.loaded()) {
    on_disk_.emplace(checkpoint.region, checkpoint);
    saved_[checkpoint.region] = {checkpoint.shards,
                                 checkpoint.joined,
                                 checkpoint.map_version,
                                 checkpoint.reader.next,
                                 checkpoint.log_needed_from(),
                                 checkpoint.reader.sealed};
  }
}

RegionSet::~RegionSet() = default;

RegionReplica* RegionSet::find(RegionId region) {
  auto found = replicas_.find(region);
  return found == replicas_.end() ? nullptr : found->second.get();
}

RegionReplica* RegionSet::find_by_shard(ShardId shard) {
  RegionReplica* any = nullptr;
  for (auto& [id, replica] : replicas_) {
    if (!replica->state().identity().shards.contains(shard)) continue;
    if (replica->owning()) return replica.get();
    any = replica.get();
  }
  return any;
}

std::vector<RegionId> RegionSet::held() const {
  std::vector<RegionId> out;
  for (const auto& [id, replica] : replicas_) out.push_back(id);
  return out;
}

void RegionSet::for_each(const std::function<void(RegionReplica&)>& call) {
  for (RegionId region : held()) {
    if (RegionReplica* replica = find(region)) call(*replica);
  }
}

// ---- what the map says -------------------------------------------------------------------------------

std::optional<MapVersion> RegionSet::membership(const pb::RegionEntry& entry) const {
  for (const pb::Replica& replica : entry.replicas()) {
    if (replica.node() == context_.options.name) return MapVersion{replica.joined()};
  }
  return std::nullopt;
}

// The membership began before this disk did: what it had is gone, and its reports no longer hold. Or it is to
// own what it has nothing to begin with. With nobody else to bring a checkpoint, the log is all there is: if
// it is whole, it is enough. REQUIRES: nothing of it is here.
bool RegionSet::is_lost(const pb::RegionEntry& entry, MapVersion joined) const {
  if (entry.replicas_size() <= 1) return false;
  if (store_.first_map() && joined <= *store_.first_map()) return true;
  return entry.owner() == context_.options.name && (entry.floor() != 0 || lacks_parent(entry));
}

// Of which membership what is here of a region is; none: nothing is.
std::optional<MapVersion> RegionSet::held_since(RegionId region) const {
  if (auto it = replicas_.find(region); it != replicas_.end()) return it->second->joined();
  if (auto it = on_disk_.find(region); it != on_disk_.end()) return it->second.joined;
  if (auto it = saved_.find(region); it != saved_.end()) return it->second.joined;
  if (auto it = failed_.find(region); it != failed_.end()) return it->second;
  return std::nullopt;
}

std::map<RegionId, ShardRange> RegionSet::held_shards() const {
  std::map<RegionId, ShardRange> out;
  for (const auto& [region, replica] : replicas_) out.emplace(region, replica->state().identity().shards);
  for (const auto& [region, checkpoint] : on_disk_) out.emplace(region, checkpoint.shards);
  for (const auto& [region, held] : saved_) out.emplace(region, held.shards);
  return out;
}

// A map older than what this node has acted upon tells it nothing.
bool RegionSet::map_is_too_old() const {
  if (TM_MUTATION("a map older than the checkpoint is acted on")) return false;
  MapVersion version{view_.map().version()};
  auto newer = [&](MapVersion other) { return version < other; };
  return std::any_of(saved_.begin(), saved_.end(),
                     [&](const auto& it) { return newer(it.second.map_version); }) ||
         std::any_of(replicas_.begin(), replicas_.end(),
                     [&](const auto& it) { return newer(it.second->map_version()); });
}

void RegionSet::reconcile() {
  if (!store_.first_map()) store_.set_first_map(MapVersion{view_.map().version()});
  if (map_is_too_old()) {
    TM_PROBE("node: a map older than what it has acted upon");
    return;
  }
  drop_foreign();
  wants_seed_.clear();
  for (const pb::RegionEntry& entry : view_.map().regions()) {
    RegionId region{entry.region()};
    std::optional<MapVersion> joined = membership(entry);
    if (!joined || failed_.count(region) != 0) continue;
    if (find(region) == nullptr && !entry.sealed() && !load(entry, *joined)) continue;
    RegionReplica* replica = find(region);
    if (replica == nullptr) continue;
    if (auto facts = facts_of(view_.map(), region)) replica->on_facts(*facts);
    if (replica->owning()) replica->trim_to(Offset{entry.floor()});
  }
  give_up_seeds();
}

// ---- dropping ----------------------------------------------------------------------------------------

void RegionSet::drop_foreign() {
  std::set<RegionId> all;
  for (const auto& [region, shards] : held_shards()) all.insert(region);
  for (const auto& [region, joined] : failed_) all.insert(region);
  for (RegionId region : all) {
    const pb::RegionEntry* entry = view_.region(region);
    if (entry != nullptr && membership(*entry) == held_since(region)) continue;
    if (entry != nullptr && membership(*entry) && TM_MUTATION("an earlier membership counts")) continue;
    const bool sealed = is_sealed_here(region);
    drop(region);
    if (entry == nullptr && sealed) remove_stream(region);
  }
}

// The map has let go of a sealed region: every lane and every child's replica is past it. Whoever held it may
// remove the log; if nobody lives to do so, it only takes room.
void RegionSet::remove_stream(RegionId region) {
  auto guard = scheduler_.token();
  context_.logs.remove(
      {context_.options.cluster, region}, [this, region, guard](Result<void, LogFailure> removed) {
        if (guard.expired() || removed.ok()) return;
        context_.options.say("the log of region " + std::to_string(region.value) +
                             " could not be removed: " + removed.error().message);
        scheduler_.post_after(context_.options.refused_delay, [this, region] { remove_stream(region); });
      });
}

bool RegionSet::is_sealed_here(RegionId region) const {
  if (auto it = replicas_.find(region); it != replicas_.end()) return it->second->sealed();
  if (auto it = on_disk_.find(region); it != on_disk_.end()) return it->second.reader.sealed;
  return is_finished(region);
}

// Nothing of it will ever be written here again, also after a crash.
bool RegionSet::is_finished(RegionId region) const {
  auto saved = saved_.find(region);
  return saved != saved_.end() && saved->second.sealed;
}

void RegionSet::drop(RegionId region) {
  const std::map<RegionId, ShardRange> held = held_shards();
  replicas_.erase(region);
  on_disk_.erase(region);
  failed_.erase(region);
  doubted_.erase(region);
  store_.forget(region);
  saved_.erase(region);
  if (auto it = held.find(region); it != held.end()) erase_uncovered(it->second, region);
}

// A child's rows are its parent's: only what no other region here holds, or is being sent, may go.
void RegionSet::erase_uncovered(ShardRange shards, RegionId except) {
  std::vector<ShardRange> others;
  for (const auto& held : {held_shards(), seeding_}) {
    for (const auto& [region, its] : held) {
      if (region != except) others.push_back(its);
    }
  }
  std::sort(others.begin(), others.end());
  ShardId at = shards.begin;
  for (ShardRange other : others) {
    if (other.end <= at || shards.end <= other.begin) continue;
    if (at < other.begin) store_.erase_shards({at, other.begin});
    at = std::max(at, other.end);
  }
  if (at < shards.end) store_.erase_shards({at, shards.end});
}

// ---- loading -----------------------------------------------------------------------------------------

// False: it can not be loaded now.
bool RegionSet::load(const pb::RegionEntry& entry, MapVersion joined) {
  RegionId region{entry.region()};
  const bool has_checkpoint = on_disk_.count(region) != 0;
  const bool asks_anew =
      has_checkpoint && entry.owner() != context_.options.name && TM_MUTATION("a seed replaces a checkpoint");
  if (has_checkpoint && !asks_anew) return load_checkpoint(entry, joined);
  if (is_lost(entry, joined)) {
    listener_.on_status(region);
    return false;
  }
  // A later member starts from a checkpoint sent to it, even if the log is whole.
  bool is_first_member = joined.value == entry.born() && entry.floor() == 0 && !asks_anew;
  bool is_owner = entry.owner() == context_.options.name;
  if (!is_first_member && !is_owner && !TM_MUTATION("a later member starts from the log")) {
    wants_seed_[region] = joined;
    return false;
  }
  if (entry.parents().empty()) {
    load_new(entry, joined);
  } else {
    load_child(entry, joined);
    if (find(region) == nullptr && !is_owner && lacks_parent(entry)) wants_seed_[region] = joined;
  }
  return find(region) != nullptr;
}

// A member of a parent that had no checkpoint of it when it was sealed, or lost it since, never gets one:
// nobody owns what is sealed. Nor does one that can not use what it has. The child's owner can send the
// child's.
bool RegionSet::lacks_parent(const pb::RegionEntry& entry) const {
  return std::any_of(entry.parents().begin(), entry.parents().end(), [&](uint64_t id) {
    RegionId parent{id};
    if (replicas_.count(parent) != 0 || on_disk_.count(parent) != 0) return false;
    if (failed_.count(parent) != 0) return true;
    const pb::RegionEntry* known = view_.region(parent);
    std::optional<MapVersion> joined = known ? membership(*known) : std::nullopt;
    return !joined || wants_seed_.count(parent) != 0 || is_lost(*known, *joined);
  });
}

// By an old map a stream may be looked for that is gone: who made it again would own it. Those of children
// are made before their parent is sealed.
bool RegionSet::is_to_create(const pb::RegionEntry& entry, MapVersion joined) const {
  return entry.parents().empty() && joined.value == entry.born() && entry.floor() == 0 && !entry.sealed();
}

bool RegionSet::load_checkpoint(const pb::RegionEntry& entry, MapVersion joined) {
  Checkpoint checkpoint = std::move(on_disk_.extract(RegionId{entry.region()}).mapped());
  pb::RegionSnapshot snapshot;
  Result<RegionState> state = Error{"it does not parse"};
  if (snapshot.ParseFromString(checkpoint.state)) state = RegionState::from_snapshot(snapshot);
  if (!state.ok()) {
    context_.options.say("the checkpoint of region " + std::to_string(entry.region()) +
                         " can not be used: " + state.error().message);
    give_up(checkpoint.region, joined);
    return false;
  }
  RegionReplica::Origin origin;
  origin.map_version = checkpoint.map_version;
  origin.joined = joined;
  // Saved at once when it was new, before there was a stream perhaps.
  origin.create_stream = checkpoint.reader.next == Offset{0} && is_to_create(entry, joined);
  origin.readers = std::move(checkpoint.readers);
  origin.ancestors = std::move(checkpoint.ancestors);
  add(std::move(*state), std::move(origin));
  return true;
}

void RegionSet::load_new(const pb::RegionEntry& entry, MapVersion joined) {
  ShardRange shards = from_pb(entry.shards());
  erase_uncovered(shards, RegionId{entry.region()});
  RegionReplica::Origin origin;
  origin.map_version = MapVersion{view_.map().version()};
  origin.joined = joined;
  origin.create_stream = is_to_create(entry, joined);
  RegionIdentity identity{RegionId{entry.region()}, shards, Generation{entry.generation()},
                          context_.options.shards};
  add(RegionState(identity), std::move(origin));
  request_save();
}

// Parents that are on this node only as checkpoints are loaded for it; on_sealed() brings us here again.
void RegionSet::load_child(const pb::RegionEntry& entry, MapVersion joined) {
  std::vector<RegionReplica*> parents;
  for (uint64_t parent : entry.parents()) {
    RegionReplica* replica = sealed_parent(RegionId{parent});
    if (replica == nullptr) return;
    parents.push_back(replica);
  }
  std::sort(parents.begin(), parents.end(), [](RegionReplica* a, RegionReplica* b) {
    return a->state().identity().shards < b->state().identity().shards;
  });
  RegionId child{entry.region()};
  RegionReplica::Origin origin;
  origin.map_version = MapVersion{view_.map().version()};
  origin.joined = joined;
  for (RegionReplica* parent : parents) {
    for (Ancestor& ancestor : parent->ancestry()) {
      bool known = std::any_of(origin.ancestors.begin(), origin.ancestors.end(),
                               [&](const Ancestor& it) { return it.region == ancestor.region; });
      if (!known) origin.ancestors.push_back(std::move(ancestor));
    }
  }
  RegionState state = parents.size() == 1
                          ? RegionState::split_child(parents[0]->state(), child)
                          : RegionState::merge_child(parents[0]->state(), parents[1]->state(), child);
  add(std::move(state), std::move(origin));
  request_save();
}

RegionReplica* RegionSet::sealed_parent(RegionId parent) {
  if (RegionReplica* replica = find(parent)) return replica->sealed() ? replica : nullptr;
  const pb::RegionEntry* entry = view_.region(parent);
  if (entry == nullptr || failed_.count(parent) != 0) return nullptr;
  std::optional<MapVersion> joined = membership(*entry);
  if (!joined || !load(*entry, *joined)) return nullptr;
  RegionReplica* replica = find(parent);
  return replica->sealed() ? replica : nullptr;
}

void RegionSet::add(RegionState state, RegionReplica::Origin origin) {
  RegionId region = state.identity().region;
  RegionReplica::Listener listener;
  listener.on_sealed = [this](RegionId) { scheduler_.post([this] { reconcile(); }); };
  listener.on_status = listener_.on_status;
  listener.on_map_doubted = [this](RegionId) { view_.look_at_map_again(); };
  listener.on_failed = [this](RegionId id, LogFailure failure) { on_replica_failed(id, failure); };
  listener.on_ask_committed = listener_.on_ask_committed;
  auto replica = std::make_unique<RegionReplica>(context_, std::move(state), std::move(origin), listener);
  RegionReplica& added = *replica;
  replicas_[region] = std::move(replica);
  if (view_.catalog()) added.on_catalog(view_.catalog());
  if (view_.rings().known()) added.on_rings_changed();
  listener_.on_status(region);
}

// The log begins after what is here: worthless where another replica can send a checkpoint. Anything else is
// kept as it is, for people to look at.
void RegionSet::on_replica_failed(RegionId region, const LogFailure& failure) {
  const pb::RegionEntry* entry = view_.region(region);
  bool can_be_seeded = entry != nullptr && entry->owner() != context_.options.name;
  std::unique_ptr<RegionReplica> replica = std::move(replicas_.extract(region).mapped());
  if (failure.code == LogError::Trimmed && can_be_seeded) {
    drop(region);
    if (std::optional<MapVersion> joined = membership(*entry)) wants_seed_[region] = *joined;
  } else {
    give_up(region, replica->joined());
    if (!replica->damaged()) {
      on_disk_.insert_or_assign(region, replica->checkpoint());
      scheduler_.post_after(context_.options.refused_delay, [this, region] { try_again(region); });
    }
  }
  listener_.on_status(region);
}

void RegionSet::give_up(RegionId region, MapVersion joined) {
  failed_[region] = joined;
  doubted_.insert(region);
}

// The store may know better by now, or the map: a log that was cut, a broker that had not heard of a topic,
// an owner that could not be seeded.
void RegionSet::try_again(RegionId region) {
  if (failed_.count(region) == 0 || on_disk_.count(region) == 0) return;
  failed_.erase(region);
  reconcile();
}

// Whoever promotes this replica, or cuts the log on its word, must be able to rely on it.
bool RegionSet::is_doubted(RegionId region) const {
  auto replica = replicas_.find(region);
  const bool follows =
      replica != replicas_.end() && (replica->second->caught_up() || replica->second->owning());
  return doubted_.count(region) != 0 && !follows;
}

// ---- seeds -------------------------------------------------------------------------------------------

bool RegionSet::begin_seed(RegionId region) {
  const pb::RegionEntry* entry = view_.region(region);
  if (entry == nullptr || wants_seed_.count(region) == 0) return false;
  ShardRange shards = from_pb(entry->shards());
  for (const pb::RegionEntry& parent : view_.map().regions()) {
    const bool is_under_it = parent.sealed() && from_pb(parent.shards()).overlaps(shards);
    if (is_under_it && !is_finished(RegionId{parent.region()}) && is_awaited(parent)) return false;
  }
  for (const auto& [other, its] : held_shards()) {
    if (other == region || !its.overlaps(shards) || is_finished(other)) continue;
    const pb::RegionEntry* known = view_.region(other);
    if (find(other) != nullptr || known == nullptr || !known->sealed()) return false;
    drop(other);  // A parent that no child here is built from.
  }
  store_.forget(region);
  saved_.erase(region);
  store_.erase_shards(shards);
  std::erase_if(seeding_, [&](const auto& it) { return it.second.overlaps(shards); });
  seeding_[region] = shards;
  return true;
}

// Whether a region that is to be here is built from it, once it has been read to its end.
bool RegionSet::is_awaited(const pb::RegionEntry& parent) const {
  const auto& all = view_.map().regions();
  return std::any_of(all.begin(), all.end(), [&](const pb::RegionEntry& entry) {
    const RegionId region{entry.region()};
    const std::optional<MapVersion> joined = membership(entry);
    const bool waits = !entry.sealed() && joined && !held_since(region) && wants_seed_.count(region) == 0 &&
                       !is_lost(entry, *joined);
    return waits && descends_from(entry, RegionId{parent.region()});
  });
}

bool RegionSet::descends_from(const pb::RegionEntry& entry, RegionId ancestor) const {
  return std::any_of(entry.parents().begin(), entry.parents().end(), [&](uint64_t parent) {
    const pb::RegionEntry* known = view_.region(RegionId{parent});
    return parent == ancestor.value || (known != nullptr && descends_from(*known, ancestor));
  });
}

// Of those that are no longer wanted, and did not become a region here.
void RegionSet::give_up_seeds() {
  std::map<RegionId, ShardRange> unwanted;
  for (const auto& [region, shards] : seeding_) {
    if (wants_seed_.count(region) == 0) unwanted.emplace(region, shards);
  }
  for (const auto& [region, shards] : unwanted) {
    seeding_.erase(region);
    if (find(region) == nullptr) erase_uncovered(shards, region);
  }
}

bool RegionSet::install_seed(const Checkpoint& seed) {
  auto wanted = wants_seed_.find(seed.region);
  if (wanted == wants_seed_.end() || wanted->second != seed.joined || find(seed.region) != nullptr)
    return false;
  const pb::RegionEntry* entry = view_.region(seed.region);
  if (entry == nullptr) return false;
  if (seed.log_needed_from().value < entry->floor() && !TM_MUTATION("a seed below the floor")) return false;
  on_disk_[seed.region] = seed;
  if (!load_checkpoint(*entry, seed.joined)) return false;
  wants_seed_.erase(seed.region);
  seeding_.erase(seed.region);
  save([](const Status&) {});
  scheduler_.post([this] { reconcile(); });
  return true;
}

// ---- saving ------------------------------------------------------------------------------------------

void RegionSet::request_save() {
  if (std::exchange(save_posted_, true)) return;
  scheduler_.post_after(context_.options.reopen_delay, [this] {
    save_posted_ = false;
    save([](const Status&) {});
  });
}

void RegionSet::save(NodeStore::Done done) {
  save_waiters_.push_back(std::move(done));
  if (!saving_) save_now();
}

void RegionSet::save_now() {
  saving_ = true;
  std::vector<Checkpoint> checkpoints;
  for (auto& [region, replica] : replicas_) {
    auto saved = saved_.find(region);
    bool same = saved != saved_.end() && saved->second.next == replica->state().reader().next &&
                saved->second.joined == replica->joined();
    if (!same) checkpoints.push_back(replica->checkpoint());
  }
  std::map<RegionId, Held> saving;
  for (const Checkpoint& it : checkpoints) {
    saving[it.region] = {it.shards,       it.joined, it.map_version, it.reader.next, it.log_needed_from(),
                         it.reader.sealed};
  }
  std::vector<NodeStore::Done> waiters = std::exchange(save_waiters_, {});
  auto finish = [this, saving, waiters, guard = scheduler_.token()](const Status& saved) {
    if (guard.expired()) return;
    saving_ = false;
    if (!saved.ok()) context_.options.say("no checkpoint could be written: " + saved.error().message);
    for (const auto& [region, held] : saving) {
      if (!saved.ok() || find(region) == nullptr || find(region)->joined() != held.joined) continue;
      saved_[region] = held;
      listener_.on_status(region);
    }
    for (const NodeStore::Done& waiter : waiters) waiter(saved);
    if (!save_waiters_.empty()) save_now();
  };
  if (checkpoints.empty() && store_.rows().has_room()) return scheduler_.post([finish] { finish(Status{}); });
  store_.save(std::move(checkpoints), finish);
}

// ---- status ------------------------------------------------------------------------------------------

std::vector<pb::RegionStatus> RegionSet::statuses() const {
  std::vector<pb::RegionStatus> out;
  for (const pb::RegionEntry& entry : view_.map().regions()) {
    RegionId region{entry.region()};
    std::optional<MapVersion> joined = membership(entry);
    if (!joined) continue;
    auto replica = replicas_.find(region);
    pb::RegionStatus status;
    if (replica != replicas_.end()) status = replica->second->status();
    status.set_region(region.value);
    status.set_node(context_.options.name);
    status.set_joined(joined->value);
    auto saved = saved_.find(region);
    if (saved != saved_.end() && !is_doubted(region) &&
        (saved->second.joined == *joined || TM_MUTATION("an earlier membership counts"))) {
      status.set_has_checkpoint(true);
      status.set_checkpoint(saved->second.log_needed_from.value);
    } else if (!held_since(region) && is_lost(entry, *joined)) {
      status.set_lost(true);
    }
    out.push_back(std::move(status));
  }
  return out;
}

}  // namespace tidemark
