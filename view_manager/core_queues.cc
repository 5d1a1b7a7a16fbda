// The core's side towards the lanes' owners: opening, reading, computing, committing.
#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "proto/convert.h"
#include "proto/queue.h"
#include "view_manager/core.h"

namespace tidemark {

// ---- opening and closing

SourceQueue* ViewManagerCore::find_queue(const Address& from, uint64_t region, uint64_t incarnation,
                                         uint64_t epoch) {
  for (auto& queue : queues_) {
    const QueueName& name = queue->name();
    if (name.region.value == region && name.incarnation == incarnation && name.epoch == epoch &&
        name.opener == from) {
      return queue.get();
    }
  }
  return nullptr;
}

namespace {

// Reports, then closings, that nothing came of: the opener is gone, and whoever has its lanes now has opened
// them elsewhere.
constexpr uint32_t kUnansweredMax = 20;

Outgoing to_opener(const SourceQueue& queue, std::shared_ptr<pb::Message> message) {
  return {queue.name().opener, {}, std::move(message)};
}

Outgoing close_message(const Address& to, uint64_t region, uint64_t incarnation, uint64_t epoch) {
  auto message = std::make_shared<pb::Message>();
  pb::QueueClose& close = *message->mutable_queue_close();
  close.set_region(region);
  close.set_incarnation(incarnation);
  close.set_epoch(epoch);
  return {to, {}, std::move(message)};
}

Outgoing credit_message(const SourceQueue& queue) {
  auto message = std::make_shared<pb::Message>();
  pb::QueueCredit& credit = *message->mutable_queue_credit();
  credit.set_region(queue.name().region.value);
  credit.set_epoch(queue.name().epoch);
  credit.set_bytes(queue.granted);
  credit.set_incarnation(queue.name().incarnation);
  credit.set_sequence(queue.sequence_next - 1);
  return to_opener(queue, std::move(message));
}

// Does what is known of the lanes come from a later opening? Regions that a split or merge makes have higher
// ids than their parents.
bool is_newer(const QueueName& known, const pb::QueueOpen& open) {
  return std::tuple(known.region.value, known.incarnation, known.epoch) >
         std::tuple(open.region(), open.incarnation(), open.epoch());
}

}  // namespace

void ViewManagerCore::on(const Address& from, const pb::QueueOpen& open) {
  const ShardRange stream = from_pb(open.shards());
  const Generation generation{open.generation()};
  Result<std::vector<LaneRun>> lanes = from_pb(open.lanes(), shards_);
  bool valid = lanes.ok() && !lanes->empty() && !stream.empty() && stream.end <= shards_.all().end;
  for (size_t i = 0; valid && i < lanes->size(); ++i) {
    const LaneRun& run = (*lanes)[i];
    valid = stream.contains(run.lanes) && run.position.generation == generation;
  }
  if (!valid) {
    ++counts_.malformed;
    return;
  }
  if (open.identity() != identity_.value) {
    TM_PROBE("view manager: a queue for another identity");
    return;  // Its owner hears soon enough who bears which.
  }
  if (SourceQueue* known = find_queue(from, open.region(), open.incarnation(), open.epoch())) {
    if (known->reopening) return;
    if (open.sequence() >= known->sequence_next) {
      TM_PROBE("view manager: the last input was lost");
      return reopen(*known);
    }
    known->unanswered = 0;  // Its owner is there; what it may lack is credit, to say how far it has come.
    if (known->granted > 0) replies_.push_back(credit_message(*known));
    // A report of entries that are not worth a record is sent once, and may be lost, too.
    known->report_hint = true;
    known->report_at = std::min(known->report_at, now_);
    return;
  }
  if (open.sequence() > 0) {  // What came through it is forgotten here.
    replies_.push_back(close_message(from, open.region(), open.incarnation(), open.epoch()));
    return;
  }
  for (const auto& queue : queues_) {
    for (const LaneRun& run : *lanes) {
      if (queue->lanes().overlaps(run.lanes) && is_newer(queue->name(), open)) return;
    }
  }
  for (const LaneRun& run : *lanes) take_lanes(run.lanes);
  QueueName name{from, RegionId{open.region()}, open.incarnation(), open.epoch()};
  queues_.push_back(
      std::make_unique<SourceQueue>(next_serial_++, std::move(name), generation, stream, *lanes));
  drop_empty_queues();
  // A successor first asks each region for its positions: most of what it will read may be applied already.
  for (Destination& destination : destinations_.all()) {
    destination.asking = true;
    destination.dirty = true;
  }
}

void ViewManagerCore::take_lanes(ShardRange lanes) {
  for (auto& queue : queues_) {
    if (queue->lanes().overlaps(lanes)) queue->remove_lanes(lanes);
  }
}

void ViewManagerCore::drop_empty_queues() {
  for (auto& queue : queues_) {
    if (!queue->lanes().empty()) continue;
    drop_input(*queue);
    for (Destination& destination : destinations_.all()) destination.forget_queue(queue->serial());
  }
  std::erase_if(queues_, [](const auto& queue) { return queue->lanes().empty(); });
}

void ViewManagerCore::drop_input(SourceQueue& queue) {
  for (const auto& entry : queue.entries()) effects_bytes_ -= entry->bytes();
  queue.drop_input();
}

void ViewManagerCore::reopen(SourceQueue& queue) {
  if (queue.reopening) return;
  ++counts_.reopened;
  queue.reopening = true;
  queue.repeat_at = now_;
  queue.unanswered = 0;
  drop_input(queue);
}

void ViewManagerCore::on(const Address& from, const pb::QueueClose& close) {
  SourceQueue* queue = find_queue(from, close.region(), close.incarnation(), close.epoch());
  if (queue == nullptr) return;
  if (close.lanes().empty()) {
    queue->remove_lanes(shards_.all());
  } else if (!next_in_sequence(*queue, close.sequence())) {
    return;
  }
  for (const pb::ShardRange& lanes : close.lanes()) queue->remove_lanes(from_pb(lanes));
  drop_empty_queues();
}

// A gap means that input was lost: all is read again.
bool ViewManagerCore::next_in_sequence(SourceQueue& queue, uint64_t sequence) {
  if (queue.reopening || sequence < queue.sequence_next) return false;
  queue.unanswered = 0;
  if (sequence > queue.sequence_next) {
    TM_PROBE("view manager: input was lost");
    reopen(queue);
    return false;
  }
  ++queue.sequence_next;
  return true;
}

// ---- reading

void ViewManagerCore::on(const Address& from, const MessagePtr& message, const pb::QueueRecords& records) {
  SourceQueue* queue = find_queue(from, records.region(), records.incarnation(), records.epoch());
  if (queue == nullptr) {
    // Its owner believes in a queue that we do not have: it opens it anew, or learns that it is not wanted.
    replies_.push_back(close_message(from, records.region(), records.incarnation(), records.epoch()));
    return;
  }
  if (!next_in_sequence(*queue, records.sequence())) return;
  if (TM_BUGGIFY("view manager: input is dropped and read again")) return reopen(*queue);
  for (int i = 0; i < records.entries_size(); ++i) {
    queue->receive(queue_entry_cost(records.entries(i)));
    queue->waiting().push_back({message, i});
  }
}

// One entry of each queue in turn, while there is memory for effects.
void ViewManagerCore::compute_waiting() {
  bool more = true;
  while (more) {
    more = false;
    for (auto& queue : queues_) {
      if (queue->waiting().empty()) continue;
      if (effects_bytes_ >= limits_.effects_bytes_max) {
        settle(*queue);
        park_stalled();
      }
      if (effects_bytes_ >= limits_.effects_bytes_max && !TM_MUTATION("effects without a bound")) return;
      if (compute_next(*queue) == Step::Done) more = true;
    }
  }
}

ViewManagerCore::Step ViewManagerCore::compute_next(SourceQueue& queue) {
  const SourceQueue::Waiting waiting = queue.waiting().front();
  const pb::QueueEntry& from = waiting.entry();
  const CatalogVersion version{from.catalog_version()};
  if (!program_.knows(version)) {
    ++counts_.waits_for_catalog;
    return Step::Waits;
  }
  if (from.has_cut() && !knows_ring(RingVersion{from.cut().ring_version()})) {
    ++counts_.waits_for_ring;
    return Step::Waits;
  }
  queue.waiting().pop_front();
  if (Offset{from.offset()} < queue.read_end() || queue.sealed()) {
    ++counts_.malformed;
    reopen(queue);
    return Step::Done;
  }
  std::unique_ptr<EffectEntry> entry = take_entry();
  entry->reset(queue.generation(), Offset{from.offset()});
  entry->catalog_version = version;
  entry->cost = queue_entry_cost(from);
  entry->marker = from.has_cut() || from.has_seal() || from.last_page();
  entry->counts = entry->marker || !from.changes().empty();
  entry->hint = !entry->counts;
  if (!write_effects(queue, from, *entry)) {
    ++counts_.malformed;
    reopen(queue);
    return Step::Done;
  }
  entry->seal();
  ++counts_.entries;
  counts_.effects += entry->effects().size();
  effects_bytes_ += entry->bytes();
  if (entry->begin() < queue.catch_up_until) catch_up(*entry);
  let_go_parked(queue, *entry);
  mark_dirty(*entry);
  if (TM_MUTATION("batches without effects are sent")) {
    for (Destination& destination : destinations_.all()) destination.dirty = true;
  }
  queue.push(std::move(entry));
  after_entry(queue, from);
  return Step::Done;
}

bool ViewManagerCore::write_effects(const SourceQueue& queue, const pb::QueueEntry& from,
                                    EffectEntry& entry) {
  const Offset offset = entry.offset();
  const RecordContext context{entry.catalog_version, TableId{from.view()}};
  steps_.begin_record();
  EffectWriter writer(entry, shards_, steps_);
  Change change;
  ChangeReader reader(from.changes());
  while (reader.next(change)) {
    const ShardId lane = shards_.shard_of(change.hash);
    if (!queue.wants(lane, offset)) continue;
    ++counts_.changes;
    writer.enter_lane(lane, queue.first_step(lane, offset));
    if (!program_.effects_of(change, context, writer)) return false;
  }
  if (!reader.ok()) return false;
  if (from.last_page() && queue.wants(ShardId{0}, offset)) {
    writer.enter_lane(ShardId{0}, queue.first_step(ShardId{0}, offset));
    program_.end_of_backfill(context, writer);
  }
  return true;
}

// What a record says beside its changes.
void ViewManagerCore::after_entry(SourceQueue& queue, const pb::QueueEntry& from) {
  if (from.has_progress()) {
    Position highest;
    for (const pb::LaneRun& run : from.progress().committed()) {
      queue.raise_floor(from_pb(run.lanes()), from_pb(run.position()));
      highest = std::max(highest, from_pb(run.position()));
    }
    pass_committed(queue, highest);
    drop_finished_lanes(queue);
  }
  if (from.has_cut()) {
    Position after{queue.generation(), Offset{from.offset() + 1}, 0};
    stop_lanes(queue, RingVersion{from.cut().ring_version()}, after);
  }
  if (from.has_seal()) {
    queue.cross_seal(Generation{from.seal().generation()});
    ++counts_.seals_crossed;
  }
}

// Effects that a destination had applied before we read them are done.
void ViewManagerCore::catch_up(EffectEntry& entry) {
  bool some = false;
  for (const Destination& destination : destinations_.all()) {
    uint32_t before = entry.open();
    entry.acknowledge(destination.shards, destination.acked, Position{});
    some = some || entry.open() < before;
  }
  if (some) ++counts_.already_applied;
}

void ViewManagerCore::let_go_parked(SourceQueue& queue, EffectEntry& entry) {
  for (const Destination& destination : destinations_.all()) {
    if (!destination.parked) continue;
    uint32_t count = entry.let_go(destination.shards);
    if (count == 0) continue;
    counts_.let_go += count;
    queue.pin(entry.offset());
  }
}

void ViewManagerCore::mark_dirty(const EffectEntry& entry) {
  auto effects = entry.effects();
  for (size_t i = 0; i < effects.size();) {
    Destination& destination = destinations_.of(effects[i].shard);
    destination.dirty = true;
    auto next = std::partition_point(
        effects.begin() + static_cast<std::ptrdiff_t>(i), effects.end(),
        [&](const StoredEffect& effect) { return effect.shard < destination.shards.end; });
    i = static_cast<size_t>(next - effects.begin());
  }
}

bool ViewManagerCore::knows_ring(RingVersion version) const {
  return !rings_.empty() && version.value <= rings_.back().version();
}

// The ring gives some lanes to another: they end here for us. The owner decides by the same ring and sends no
// more of their changes, so to read on would be to commit past what was never seen. By a ring that all lanes
// have long passed, and that is forgotten, nobody can tell: then all of them end.
void ViewManagerCore::stop_lanes(SourceQueue& queue, RingVersion version, Position at) {
  auto ring = std::find_if(rings_.begin(), rings_.end(),
                           [&](const pb::Ring& known) { return known.version() == version.value; });
  if (ring == rings_.end()) {
    queue.stop_lanes(shards_.all(), at);
    return;
  }
  for (const pb::Ring::Slice& slice : ring->slices()) {
    if (slice.member() < static_cast<uint32_t>(ring->members_size()) &&
        ring->members(static_cast<int>(slice.member())) == identity_.value) {
      continue;
    }
    ++counts_.lanes_stopped;
    queue.stop_lanes(from_pb(slice.shards()), at);
  }
}

// ---- committing

void ViewManagerCore::settle(SourceQueue& queue) {
  bool has_marker = false;  // Its report is not put off by what was committed with it.
  while (std::unique_ptr<EffectEntry> entry = queue.pop_done()) {
    queue.released += entry->cost;
    has_marker = has_marker || entry->marker;
    if (entry->counts) {
      const bool is_last = queue.entries().empty() && queue.sealed();
      queue.must_record = is_last ? queue.committed() : std::min(entry->end(), queue.committed());
    }
    if (entry->counts || entry->hint) {
      const Micros soon{queue.reported_at.value + limits_.report_interval.value};
      queue.report_at = has_marker ? now_ : std::max(now_, soon);
      queue.report_hint = queue.report_hint || entry->hint;
    }
    release(std::move(entry));
  }
}

void ViewManagerCore::report_all(std::vector<Outgoing>& out) {
  for (auto& queue : queues_) {
    if (queue->reopening || now_ < queue->report_at) continue;
    const bool again = queue->needs_report();
    if (!again && !queue->report_hint) continue;
    if (TM_BUGGIFY("view manager: a report is put off")) {
      queue->report_at = Micros{now_.value + limits_.report_interval.value};
      continue;
    }
    queue->report_hint = false;
    std::vector<LaneRun> lanes = queue->unrecorded();
    queue->reported_at = now_;
    queue->report_at = Micros{now_.value + limits_.repeat_interval.value};
    if (lanes.empty()) continue;  // Pinned.
    ++counts_.reports;
    if (again && ++queue->unanswered > kUnansweredMax) {
      TM_PROBE("view manager: reports are not answered");
      reopen(*queue);
      continue;
    }
    auto message = std::make_shared<pb::Message>();
    pb::CommittedReport& report = *message->mutable_committed();
    report.set_region(queue->name().region.value);
    report.set_epoch(queue->name().epoch);
    report.set_incarnation(queue->name().incarnation);
    to_pb(lanes, *report.mutable_lanes());
    out.push_back(to_opener(*queue, std::move(message)));
  }
}

// Every destination has what the log says is committed, also one that told less when it was asked: whoever
// had the lanes before may have committed it since. Sent again from the floor on, it would be applied twice.
void ViewManagerCore::pass_committed(SourceQueue& queue, Position highest) {
  for (const auto& entry : queue.entries()) {
    if (entry->begin() >= highest) return;
    if (entry->open() == 0) continue;
    TM_PROBE("view manager: another has committed what is not sent yet");
    entry->acknowledge(shards_.all(), queue.floors(), Position{});
  }
}

// Lanes that stopped at a cut, and whose end is recorded, are another's now.
void ViewManagerCore::drop_finished_lanes(SourceQueue& queue) {
  for (const ShardRange& range : std::vector<ShardRange>(queue.lanes().ranges())) {
    for (const LaneRun& stop : queue.stops(range)) {
      if (stop.position == Position{}) continue;
      for (const LaneRun& floor : queue.floors().cover(stop.lanes)) {
        if (floor.position >= stop.position) queue.remove_lanes(floor.lanes);
      }
    }
  }
}

// ---- credit

size_t ViewManagerCore::granted_bytes() const {
  size_t out = 0;
  for (const auto& queue : queues_) out += queue->outstanding();
  return out;
}

// A queue's share is topped up when half of it is used, so that credits are few messages. Shares leave room
// for queues to come.
size_t ViewManagerCore::more_credit(const SourceQueue& queue, size_t granted) const {
  const size_t share =
      std::max(limits_.queue_bytes_min, limits_.input_bytes_max / std::max<size_t>(4, 2 * queues_.size()));
  const size_t used = queue.outstanding();
  if (TM_MUTATION("credit without a bound")) return 1 << 20;
  if (used > share / 2) return 0;
  const size_t left = limits_.input_bytes_max - std::min(granted, limits_.input_bytes_max);
  const size_t least = used < limits_.queue_bytes_min ? limits_.queue_bytes_min - used : 0;
  return std::max(least, std::min(share - used, left));
}

// An owner has sent all that it may, and only regions that take effects can make room for more.
bool ViewManagerCore::lacks_credit() const {
  const size_t granted = granted_bytes();
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& queue) {
    const bool is_used_up = queue->granted > 0 && queue->received >= queue->granted;
    return !queue->reopening && is_used_up && more_credit(*queue, granted) == 0;
  });
}

void ViewManagerCore::grant_all(std::vector<Outgoing>& out) {
  size_t granted = granted_bytes();
  for (auto& queue : queues_) {
    if (queue->reopening) continue;
    if (const size_t more = more_credit(*queue, granted); more > 0) {
      granted += more;
      queue->grant(std::max(queue->granted, queue->released) + more);
    } else if (!queue->may_lack_credit() || now_ < queue->repeat_at) {
      continue;
    }
    queue->repeat_at = Micros{now_.value + limits_.repeat_interval.value};
    out.push_back(credit_message(*queue));
  }
}

void ViewManagerCore::close_all(std::vector<Outgoing>& out) {
  for (auto& queue : queues_) {
    if (!queue->reopening || now_ < queue->repeat_at) continue;
    queue->repeat_at = Micros{now_.value + limits_.repeat_interval.value};
    if (++queue->unanswered > kUnansweredMax) queue->remove_lanes(shards_.all());
    const QueueName& name = queue->name();
    out.push_back(close_message(name.opener, name.region.value, name.incarnation, name.epoch));
  }
  drop_empty_queues();
}

}  // namespace tidemark
