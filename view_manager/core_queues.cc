// The core's side towards the lanes' owners: opening, reading, computing, committing.
#include <algorithm>

#include "base/assert.h"
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
  return to_opener(queue, std::move(message));
}

// Does what is known of the lanes come from a later opening? A later generation's was opened after the
// lanes had committed past the seal.
bool is_newer(const SourceQueue& known, Generation generation, const pb::QueueOpen& open) {
  if (known.generation() != generation) return known.generation() > generation;
  return std::pair(known.name().incarnation, known.name().epoch) >
         std::pair(open.incarnation(), open.epoch());
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
  if (SourceQueue* known = find_queue(from, open.region(), open.incarnation(), open.epoch())) {
    if (known->granted > 0 && !known->reopening) replies_.push_back(credit_message(*known));
    return;
  }
  for (const auto& queue : queues_) {
    for (const LaneRun& run : *lanes) {
      if (queue->lanes().overlaps(run.lanes) && is_newer(*queue, generation, open)) return;
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
  drop_input(queue);
}

void ViewManagerCore::on(const Address& from, const pb::QueueClose& close) {
  SourceQueue* queue = find_queue(from, close.region(), close.incarnation(), close.epoch());
  if (queue == nullptr) return;
  if (close.lanes().empty()) queue->remove_lanes(shards_.all());
  for (const pb::ShardRange& lanes : close.lanes()) queue->remove_lanes(from_pb(lanes));
  drop_empty_queues();
}

// ---- reading

void ViewManagerCore::on(const Address& from, const MessagePtr& message, const pb::QueueRecords& records) {
  SourceQueue* queue = find_queue(from, records.region(), records.incarnation(), records.epoch());
  if (queue == nullptr) {
    // Its owner believes in a queue that we do not have: it opens it anew, or learns that it is not wanted.
    replies_.push_back(close_message(from, records.region(), records.incarnation(), records.epoch()));
    return;
  }
  if (queue->reopening || records.sequence() < queue->sequence_next) return;
  if (records.sequence() > queue->sequence_next) {
    reopen(*queue);
    return;
  }
  ++queue->sequence_next;
  for (int i = 0; i < records.entries_size(); ++i) {
    queue->received += queue_entry_cost(records.entries(i));
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
        park_silent();
      }
      if (effects_bytes_ >= limits_.effects_bytes_max) return;
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
  queue.waiting().pop_front();
  if (Offset{from.offset()} < queue.read_end() || queue.sealed()) {
    ++counts_.malformed;
    reopen(queue);
    return Step::Done;
  }
  std::unique_ptr<Entry> entry = take_entry();
  entry->reset(queue.generation(), Offset{from.offset()});
  entry->catalog_version = version;
  entry->cost = queue_entry_cost(from);
  entry->marker = from.has_cut() || from.has_seal() || from.last_page();
  entry->counts = entry->marker || !from.changes().empty() || !from.has_progress();
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
  queue.push(std::move(entry));
  after_entry(queue, from);
  return Step::Done;
}

bool ViewManagerCore::write_effects(const SourceQueue& queue, const pb::QueueEntry& from, Entry& entry) {
  const Offset offset = entry.offset();
  const RecordContext context{entry.catalog_version, TableId{from.view()}};
  steps_.begin_record();
  EffectWriter writer(entry, shards_, steps_);
  Change change;
  ChangeReader reader(from.changes());
  while (reader.next(change)) {
    const ShardId lane = shards_.shard_of(change.hash);
    if (!queue.wants(lane, offset)) continue;
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
    for (const pb::LaneRun& run : from.progress().committed()) {
      queue.raise_floor(from_pb(run.lanes()), from_pb(run.position()));
    }
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
void ViewManagerCore::catch_up(Entry& entry) {
  bool some = false;
  for (const Destination& destination : destinations_.all()) {
    uint32_t before = entry.open();
    entry.acknowledge(destination.shards, destination.acked, Position{});
    some = some || entry.open() < before;
  }
  if (some) ++counts_.already_applied;
}

void ViewManagerCore::let_go_parked(SourceQueue& queue, Entry& entry) {
  for (const Destination& destination : destinations_.all()) {
    if (!destination.parked) continue;
    uint32_t count = entry.let_go(destination.shards);
    if (count == 0) continue;
    counts_.let_go += count;
    queue.pin(entry.offset());
  }
}

void ViewManagerCore::mark_dirty(const Entry& entry) {
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

// The new ring gives some lanes to another: they end here for us. A ring that we do not know changes nothing:
// their owner takes the lanes away, and until then chains keep the order (PTO5).
void ViewManagerCore::stop_lanes(SourceQueue& queue, RingVersion version, Position at) {
  for (const pb::Ring& ring : rings_) {
    if (ring.version() != version.value) continue;
    for (const pb::Ring::Slice& slice : ring.slices()) {
      if (slice.member() < static_cast<uint32_t>(ring.members_size()) &&
          ring.members(static_cast<int>(slice.member())) == identity_.value) {
        continue;
      }
      ++counts_.lanes_stopped;
      queue.stop_lanes(from_pb(slice.shards()), at);
    }
  }
}

// ---- committing

void ViewManagerCore::settle(SourceQueue& queue) {
  while (std::unique_ptr<Entry> entry = queue.pop_done()) {
    queue.released += entry->cost;
    if (entry->counts) {
      const bool is_last = queue.entries().empty() && queue.sealed();
      queue.must_record = is_last ? queue.committed() : std::min(entry->end(), queue.committed());
      Micros soon{queue.reported_at.value + limits_.report_interval.value};
      queue.report_at = entry->marker ? now_ : std::max(now_, soon);
    }
    release(std::move(entry));
  }
}

void ViewManagerCore::report_all(std::vector<Outgoing>& out) {
  for (auto& queue : queues_) {
    if (queue->reopening || now_ < queue->report_at || !queue->needs_report()) continue;
    std::vector<LaneRun> lanes = queue->unrecorded();
    queue->reported_at = now_;
    queue->report_at = Micros{now_.value + limits_.repeat_interval.value};
    if (lanes.empty()) continue;  // Pinned.
    ++counts_.reports;
    auto message = std::make_shared<pb::Message>();
    pb::CommittedReport& report = *message->mutable_committed();
    report.set_region(queue->name().region.value);
    to_pb(lanes, *report.mutable_lanes());
    out.push_back(to_opener(*queue, std::move(message)));
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

// All queues together are granted no more than the limit. A share is topped up when half of it is used, so
// that credits are few messages.
void ViewManagerCore::grant_all(std::vector<Outgoing>& out) {
  size_t granted = 0;
  for (const auto& queue : queues_) granted += queue->outstanding();
  for (auto& queue : queues_) {
    if (queue->reopening) continue;
    const size_t share = std::max<size_t>(1, limits_.input_bytes_max / queues_.size());
    const size_t used = queue->outstanding();
    if (used <= share / 2 && granted < limits_.input_bytes_max) {
      const size_t more = std::min(share - used, limits_.input_bytes_max - granted);
      granted += more;
      queue->granted_before = queue->granted;
      queue->granted = std::max(queue->granted, queue->released) + more;
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
    const QueueName& name = queue->name();
    out.push_back(close_message(name.opener, name.region.value, name.incarnation, name.epoch));
  }
}

}  // namespace tidemark
