#include "node/region_replica.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/mutation.h"
#include "proto/convert.h"

namespace tidemark {
namespace {

constexpr Micros kTickMin{500};

}  // namespace

RegionReplica::RegionReplica(ReplicaContext context, RegionState state, Origin origin, Listener listener)
    : context_(context),
      listener_(std::move(listener)),
      scheduler_(context.scheduler),
      region_(std::move(state), context.rows, context.arithmetic, context.options.region),
      meter_(region_.state(), time_of_day()),
      map_version_(origin.map_version),
      joined_(origin.joined),
      history_(std::move(origin.readers)),
      ancestors_(std::move(origin.ancestors)),
      tick_(scheduler_, kTickMin, [this] { schedule_turn(); }) {
  open_log(origin.create_stream);
}

RegionReplica::~RegionReplica() = default;

std::string RegionReplica::name() const {
  return "region " + std::to_string(id().value);
}

// ---- the log -----------------------------------------------------------------------------------------

void RegionReplica::open_log(bool create) {
  auto open = [this, guard = scheduler_.token()] {
    context_.handles.open(stream(), [this, guard](Result<std::shared_ptr<Log>, LogFailure> log) {
      if (guard.expired()) return;
      if (!log.ok()) return retry_log(log.error(), false);
      start_tailing(std::move(*log));
    });
  };
  if (!create) return open();
  context_.logs.create(stream(), [this, open, guard = scheduler_.token()](Result<void, LogFailure> created) {
    if (guard.expired()) return;
    if (!created.ok()) return retry_log(created.error(), true);
    open();
  });
}

void RegionReplica::retry_log(const LogFailure& failure, bool create) {
  if (failure.code == LogError::Refused) return fail(failure);
  on_waiting(failure);
  scheduler_.post_after(context_.options.wal.retry_delay, [this, create] { open_log(create); });
}

// The Wal asks where the log begins and ends, and has patience with a store that does not know.
void RegionReplica::start_tailing(std::shared_ptr<Log> log) {
  WalListener& listener = *this;
  wal_ = std::make_unique<Wal>(stream(), share_log(std::move(log)), region_.state().reader(),
                               context_.scheduler, listener, context_.options.wal);
  reconsider();
}

void RegionReplica::fail(const LogFailure& failure) {
  if (std::exchange(failed_, true)) return;
  context_.options.say(name() + " can not be used: " + failure.message);
  scheduler_.post([this, failure] { listener_.on_failed(id(), failure); });
}

void RegionReplica::on_failed(const LogFailure& failure) {
  fail(failure);
}

void RegionReplica::on_waiting(const LogFailure& why) {
  context_.options.say(name() + " waits for its log: " + why.message);
}

void RegionReplica::on_record(Offset at, const WalRecord& record, const ReaderState& state) {
  if (failed_) return;
  bool was_sealed = sealed();
  record_bytes_ = record.payload.size();
  record_next_ = state.next;
  ++log_figures_.records;
  log_figures_.bytes += record_bytes_;
  Status applied = region_.on_record(at, record, state, out_);
  if (!applied.ok()) {
    damaged_ = true;
    return fail({LogError::Refused, "record " + std::to_string(at.value) + ": " + applied.error().message});
  }
  history_.note(state);
  perform();
  append_pending();
  schedule_turn();
  if (sealed() && !was_sealed) listener_.on_sealed(id());
}

void RegionReplica::on_opened(Offset incarnation) {
  TM_ASSERT(opening_version_.has_value());
  incarnation_ = incarnation;
  map_version_ = std::max(map_version_, *opening_version_);
  RegionQueues::Owner owner;
  owner.stream = stream();
  owner.incarnation = incarnation;
  owner.log = &wal_->log();
  owner.reader_at = [this](Offset from) { return history_.at_or_before(from); };
  owner.open_log = [this](StreamId ancestor, LogHandles::Opened done) {
    context_.handles.open(ancestor, std::move(done));
  };
  owner.say = context_.options.say;
  drop_passed();
  meter_.restart_load(scheduler_.now());
  region_.set_time_of_day(time_of_day());
  queues_ = std::make_unique<RegionQueues>(region_.state(), std::move(owner), ancestors_, context_.rings,
                                           context_.view_managers, context_.scheduler, context_.transport,
                                           context_.options.feed);
  region_.on_opened(incarnation, *opening_version_, out_);
  hand_facts();
  perform();
  schedule_turn();
  keep_pumping();
  listener_.on_status(id());
}

void RegionReplica::on_ended(EndReason reason) {
  queues_.reset();
  incarnation_.reset();
  appends_.clear();
  appended_at_.clear();
  region_.on_ended(out_);
  perform();
  schedule_turn();
  if (reason == EndReason::MapTooOld) refused_version_ = opening_version_;
  opening_version_.reset();
  if (reason == EndReason::MapTooOld || reason == EndReason::Fenced) listener_.on_map_doubted(id());
  listener_.on_status(id());
  reconsider_after(context_.options.reopen_delay);
}

void RegionReplica::on_caught_up(Offset) {
  caught_up_ = true;
  listener_.on_status(id());
}

void RegionReplica::trim_to(Offset floor) {
  if (wal_ && region_.owning() && floor <= wal_->state().next) wal_->trim(floor);
}

// ---- facts -------------------------------------------------------------------------------------------

void RegionReplica::on_facts(const RegionFacts& facts) {
  const bool any_map = TM_MUTATION("a map older than the checkpoint is acted on");
  if (facts.map_version < map_version_ && !any_map) return;
  if (facts_ && facts.map_version <= facts_->map_version) return;
  if (!facts.entry.sealed()) remove_unused_streams(facts.change);
  facts_ = facts;
  map_version_ = facts.map_version;
  hand_facts();
  reconsider();
  schedule_turn();
}

// The core, which seals as soon as it owns, hears of a change when the streams of the children are made: the
// seal is the commit point.
void RegionReplica::hand_facts() {
  if (!facts_) return;
  RegionFacts handed = *facts_;
  if (!children_streams_there()) {
    handed.change.reset();
    if (region_.owning()) create_children_streams();
  }
  region_.on_facts(handed, out_);
  perform();
}

// Nothing is sealed where a change is undone: that must not wait for what may never come.
bool RegionReplica::children_streams_there() const {
  if (!facts_->change || facts_->change->phase() == pb::RegionChange::UNDO ||
      facts_->change->phase() == pb::RegionChange::MERGE_UNMERGE) {
    return true;
  }
  return std::all_of(
      facts_->change->children().begin(), facts_->change->children().end(),
      [&](const auto& child) { return streams_created_.count(RegionId{child.region()}) != 0; });
}

void RegionReplica::create_children_streams() {
  if (std::exchange(creating_streams_, true)) return;
  for (const auto& child : facts_->change->children()) {
    RegionId region{child.region()};
    if (streams_created_.count(region) != 0) continue;
    StreamId made{context_.options.cluster, region};
    streams_asked_.insert(region);
    context_.logs.create(made, [this, region, guard = scheduler_.token()](Result<void, LogFailure> created) {
      if (guard.expired()) return;
      creating_streams_ = false;
      if (!created.ok()) {
        on_waiting(created.error());
        return scheduler_.post_after(context_.options.wal.retry_delay, [this] { hand_facts(); });
      }
      streams_created_.insert(region);
      hand_facts();
      schedule_turn();
    });
    return;
  }
}

// Of children that were never born: the change was called off. If nobody lives to remove them, they only take
// room.
void RegionReplica::remove_unused_streams(const std::optional<pb::RegionChange>& change) {
  std::set<RegionId> used;
  if (change)
    for (const auto& child : change->children()) used.insert(RegionId{child.region()});
  for (auto it = streams_asked_.begin(); it != streams_asked_.end();) {
    if (used.contains(*it)) {
      ++it;
      continue;
    }
    context_.logs.remove({context_.options.cluster, *it}, [](const Result<void, LogFailure>&) {});
    it = streams_asked_.erase(it);
  }
}

void RegionReplica::reconsider_after(Micros delay) {
  waits_to_reopen_ = true;
  scheduler_.post_after(delay, [this] {
    waits_to_reopen_ = false;
    reconsider();
  });
}

void RegionReplica::reconsider() {
  if (!wal_ || failed_ || !facts_ || waits_to_reopen_) return;
  bool named = facts_->entry.owner() == context_.options.name && !facts_->entry.sealed() && !sealed();
  if (!named) return wal_->stop_owning();
  if (!wal_->idle()) return;
  if (refused_version_ && facts_->map_version <= *refused_version_) return;
  opening_version_ = facts_->map_version;
  wal_->open(facts_->map_version, context_.random.next());
}

void RegionReplica::on_catalog(std::shared_ptr<const pb::Catalog> catalog) {
  region_.on_catalog(std::move(catalog), out_);
  perform();
  schedule_turn();
}

void RegionReplica::on_rings_changed() {
  region_.on_ring(context_.rings.newest(), out_);
  perform();
  on_view_managers_changed();
}

void RegionReplica::on_view_managers_changed() {
  if (queues_) queues_->on_members_changed();
  schedule_turn();
}

void RegionReplica::on_disconnect(const Address& peer) {
  if (!queues_) return;
  queues_->on_disconnect(peer);
}

// ---- messages ----------------------------------------------------------------------------------------

bool RegionReplica::on_message(const Address& from, const pb::Message& message) {
  Asker asker{from, message.request()};
  switch (message.body_case()) {
    case pb::Message::kWrite: region_.on_write(asker, message.write(), out_); break;
    case pb::Message::kOpenSession: region_.on_open_session(asker, message.open_session(), out_); break;
    case pb::Message::kGet: region_.on_get(asker, message.get(), out_); break;
    case pb::Message::kScan: region_.on_scan(asker, message.scan(), out_); break;
    case pb::Message::kWait:
      region_.on_wait(asker, message.wait(), out_);
      want_told(message.wait().tokens());
      break;
    case pb::Message::kEffects: region_.on_effects(asker, message.effects(), out_); break;
    case pb::Message::kPositions: region_.on_positions(asker, out_); break;
    case pb::Message::kCommittedRequest:
      region_.on_committed_request(asker, message.committed_request(), out_);
      want_told(message.committed_request().wanted());
      break;
    case pb::Message::kCommitted: {
      auto lanes = from_pb(message.committed().lanes(), context_.options.shards);
      if (lanes.ok()) region_.on_committed_report(*lanes, out_);
      break;
    }
    case pb::Message::kQueueCredit:
      if (queues_) queues_->on_credit(message.queue_credit());
      break;
    case pb::Message::kQueueClose:
      if (queues_) queues_->on_close(message.queue_close());
      break;
    default: return false;
  }
  perform();
  schedule_turn();
  return true;
}

void RegionReplica::want_told(const google::protobuf::RepeatedPtrField<pb::LaneRun>& wanted) {
  auto lanes = from_pb(wanted, context_.options.shards);
  if (queues_ && lanes.ok()) queues_->want_told(*lanes);
}

void RegionReplica::on_committed_positions(const std::vector<LaneRun>& lanes) {
  region_.on_committed_positions(lanes, out_);
  perform();
  schedule_turn();
}

// ---- commands ----------------------------------------------------------------------------------------

void RegionReplica::perform() {
  if (out_.empty()) return;
  RegionCommands commands = std::exchange(out_, {});
  for (AppendCommand& append : commands.appends) appends_.push_back(std::move(append));
  for (SendCommand& send : commands.sends) {
    context_.metrics.on_answer(*send.message);
    context_.transport.send(send.to, std::move(send.message));
  }
  for (const DecodedRecord& applied : commands.applied) measure(applied);
  if (queues_) {
    for (DecodedRecord& applied : commands.applied) {
      queues_->on_applied({applied.at, record_next_, applied.body, applied.seal, record_bytes_});
    }
  }
  for (const AskCommitted& ask : commands.asks) listener_.on_ask_committed(id(), ask);
  if (commands.status_changed) {
    if (queues_) queues_->pump();  // Lanes that may move now do, so that the news tell how long they stood.
    listener_.on_status(id());
  }
  append_pending();
  if (commands.refence && wal_) wal_->stop_owning();
}

void RegionReplica::measure(const DecodedRecord& applied) {
  size_t changes = meter_.on_applied(region_.state(), applied);
  while (!appended_at_.empty() && appended_at_.front().first < applied.at) appended_at_.pop_front();
  if (appended_at_.empty() || appended_at_.front().first != applied.at || !applied.body) return;
  Micros took{scheduler_.now().value - appended_at_.front().second.value};
  context_.metrics.on_own_record(*applied.body, changes, took);
}

// The region numbers its records itself; the Wal takes them as its window allows.
void RegionReplica::append_pending() {
  while (!appends_.empty() && wal_->can_append()) {
    Offset at = wal_->append(appends_.front().kind, appends_.front().payload);
    TM_ASSERT(at == appends_.front().at, at, appends_.front().at);
    appended_at_.emplace_back(at, scheduler_.now());
    appends_.pop_front();
  }
}

void RegionReplica::schedule_turn() {
  if (std::exchange(turn_posted_, true)) return;
  scheduler_.post([this] { end_turn(); });
}

void RegionReplica::end_turn() {
  turn_posted_ = false;
  if (failed_) return;
  check_room();
  region_.hold_back(!context_.rows.has_room() ||
                    region_.state().records_behind() > context_.options.lag_records_max);
  region_.set_time_of_day(time_of_day());
  region_.on_tick(scheduler_.now(), out_);
  perform();
  if (queues_) queues_->pump();
  if (const std::optional<Micros> next = region_.next_tick()) tick_.by(*next);
}

void RegionReplica::check_room() {
  if (wal_) wal_->hold_reading(!context_.rows.has_room());
}

// Opens may have been lost and peers may have taken what was unsent: nobody tells.
void RegionReplica::keep_pumping() {
  scheduler_.post_after(context_.options.pump_interval, [this, of = incarnation_] {
    if (!queues_ || incarnation_ != of) return;
    queues_->pump();
    keep_pumping();
  });
}

// ---- what it is --------------------------------------------------------------------------------------

void RegionReplica::drop_passed() {
  const RegionState& state = region_.state();
  history_.forget_before(state.committed_floor());
  std::erase_if(ancestors_, [&](const Ancestor& ancestor) {
    ShardRange lanes{std::max(ancestor.shards.begin, state.identity().shards.begin),
                     std::min(ancestor.shards.end, state.identity().shards.end)};
    Position after{Generation{ancestor.generation.value + 1}, Offset{0}, 0};
    return lanes.empty() || state.committed().all_reached(lanes, after);
  });
}

Checkpoint RegionReplica::checkpoint() {
  drop_passed();
  const RegionState& state = region_.state();
  Checkpoint out;
  out.region = id();
  out.shards = state.identity().shards;
  out.generation = state.identity().generation;
  out.map_version = map_version_;
  out.joined = joined_;
  out.reader = state.reader();
  out.readers = history_.states();
  out.ancestors = ancestors_;
  state.to_snapshot().SerializeToString(&out.state);
  return out;
}

std::vector<Ancestor> RegionReplica::ancestry() const {
  std::vector<Ancestor> out = ancestors_;
  const RegionIdentity& identity = region_.state().identity();
  std::vector<ReaderState> readers = history_.states();
  if (readers.empty() || readers.back().next < region_.state().reader().next) {
    readers.push_back(region_.state().reader());
  }
  out.push_back({identity.region, identity.shards, identity.generation, std::move(readers)});
  return out;
}

pb::RegionStatus RegionReplica::status() const {
  pb::RegionStatus out = region_.status();
  out.set_node(context_.options.name);
  out.set_joined(joined_.value);
  meter_.report(region_.state(), pending_floor(), time_of_day(), parents_records(), out);
  if (queues_) {
    for (const RegionQueues::Pause& pause : queues_->pauses()) {
      pb::LanePause& told = *out.add_pauses();
      *told.mutable_lanes() = to_pb(pause.lanes);
      told.set_ring_version(queues_->pauses_ring().value);
      told.set_micros(pause.length.value);
    }
  }
  return out;
}

int64_t RegionReplica::time_of_day() const {
  const auto& clock = context_.options.wall_clock_micros;
  return clock ? clock() : scheduler_.now().value;
}

// What lanes have still to commit in the streams that this one came from, up to their seals.
uint64_t RegionReplica::parents_records() const {
  uint64_t out = 0;
  for (const Ancestor& ancestor : ancestors_) {
    ShardRange lanes{std::max(ancestor.shards.begin, region_.state().identity().shards.begin),
                     std::min(ancestor.shards.end, region_.state().identity().shards.end)};
    if (lanes.empty() || ancestor.readers.empty()) continue;
    Position lowest = region_.state().committed().lowest(lanes);
    if (lowest.generation > ancestor.generation) continue;
    uint64_t from = lowest.generation == ancestor.generation ? lowest.offset.value : 0;
    uint64_t end = ancestor.readers.back().next.value;
    out += from < end ? end - from : 1;
  }
  return out;
}

std::optional<RegionQueues::Figures> RegionReplica::queue_figures() const {
  if (!queues_) return std::nullopt;
  return queues_->figures();
}

}  // namespace tidemark
