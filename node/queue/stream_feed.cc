#include "node/queue/stream_feed.h"

#include <algorithm>

#include "base/assert.h"
#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "proto/change.h"
#include "proto/convert.h"
#include "proto/queue.h"

namespace tidemark {

StreamFeed::StreamFeed(FeedIdentity identity, ShardCount shards, const Rings& rings, Scheduler& scheduler,
                       Transport& transport, FeedOptions options, Listener listener)
    : identity_(identity),
      shards_(shards),
      rings_(rings),
      scheduler_(scheduler),
      transport_(transport),
      options_(options),
      listener_(std::move(listener)),
      by_slot_(1, nullptr),
      lanes_(identity.shards.size()) {}

StreamFeed::~StreamFeed() = default;

Queue* StreamFeed::queue(QueueSlot slot) {
  return slot < by_slot_.size() ? by_slot_[slot] : nullptr;
}

const Queue* StreamFeed::find(QueueSlot slot) const {
  return slot < by_slot_.size() ? by_slot_[slot] : nullptr;
}

const Queue* StreamFeed::find_epoch(uint64_t epoch) const {
  for (const auto& [slot, queue] : queues_) {
    if (queue.epoch == epoch) return &queue;
  }
  return nullptr;
}

QueueSlot StreamFeed::slot_of(ShardId lane) const {
  return lanes_[index_of(lane)].slot;
}

std::vector<QueueSlot> StreamFeed::slots() const {
  std::vector<QueueSlot> out;
  for (const auto& [slot, queue] : queues_) out.push_back(slot);
  return out;
}

std::vector<ShardRange> StreamFeed::lanes_of(QueueSlot slot) const {
  std::vector<ShardRange> out;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].slot != slot) continue;
    ShardId lane{identity_.shards.begin.value + static_cast<uint32_t>(i)};
    if (!out.empty() && out.back().end == lane) {
      ++out.back().end.value;
    } else {
      out.push_back({lane, ShardId{lane.value + 1}});
    }
  }
  return out;
}

// ---- opening and closing -----------------------------------------------------------------------------

QueueSlot StreamFeed::open(MemberIndex member, const Address& address, uint64_t epoch, RingVersion ring,
                           std::vector<LaneRun> lanes) {
  TM_ASSERT(!lanes.empty());
  QueueSlot slot = 1;
  while (queues_.count(slot) != 0) ++slot;
  Queue& queue = queues_[slot];
  queue.slot = slot;
  queue.member = member;
  queue.address = address;
  queue.epoch = epoch;
  queue.ring = ring;
  queue.lanes = std::move(lanes);
  queue.cursor = Offset{UINT64_MAX};
  for (const LaneRun& run : queue.lanes) {
    TM_ASSERT(run.position.generation == identity_.generation);
    TM_ASSERT(identity_.shards.contains(run.lanes));
    queue.cursor = std::min(queue.cursor, run.position.offset);
    queue.lanes_left += run.lanes.size();
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) {
      Lane& at = lanes_[index_of(lane)];
      TM_ASSERT(at.slot == 0);
      at = {slot, run.position.offset};
    }
  }
  queue.told = queue.cursor;
  if (by_slot_.size() <= slot) by_slot_.resize(slot + size_t{1}, nullptr);
  by_slot_[slot] = &queue;
  taking_.resize(by_slot_.size(), nullptr);
  send_open(queue);
  return slot;
}

void StreamFeed::send_open(Queue& queue) {
  auto message = std::make_shared<pb::Message>();
  pb::QueueOpen& open = *message->mutable_queue_open();
  open.set_region(identity_.region.value);
  open.set_generation(identity_.generation.value);
  *open.mutable_shards() = to_pb(identity_.shards);
  open.set_epoch(queue.epoch);
  open.set_incarnation(identity_.incarnation.value);
  open.set_ring_version(queue.ring.value);
  open.set_identity(rings_.identity(queue.member));
  to_pb(queue.lanes, *open.mutable_lanes());
  open.set_sequence(queue.sequence);
  send(queue, std::move(message));
}

void StreamFeed::send(Queue& queue, std::shared_ptr<pb::Message> message) {
  queue.looked_after = scheduler_.now();
  transport_.send(queue.address, std::move(message));
}

// Any message may be lost, or come to one who has forgotten the queue: who has been silent for a while and
// has not yet done all is asked whether it knows.
void StreamFeed::repeat_opens() {
  for (auto& [slot, queue] : queues_) {
    if (scheduler_.now().value - queue.looked_after.value < options_.open_repeat.value) continue;
    queue.looked_after = scheduler_.now();
    const bool lacks_credit = queue.cursor < end_ && queue.cost_sent >= queue.credit;
    if (queue.credit == 0 || lacks_credit || queue.heard < queue.sequence || !has_done_all(queue))
      send_open(queue);
  }
}

bool StreamFeed::has_done_all(Queue& queue) const {
  if (queue.awaited <= queue.committed) return true;
  const Position all{identity_.generation, queue.awaited, 0};
  for (ShardRange lanes : lanes_of(queue.slot)) {
    if (listener_.committed(lanes) < all) return false;
  }
  queue.committed = queue.awaited;
  return true;
}

void StreamFeed::close_lanes(ShardRange lanes, Tell tell) {
  std::map<QueueSlot, std::vector<ShardRange>> taken;
  for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
    QueueSlot slot = std::exchange(lanes_[index_of(lane)].slot, QueueSlot{0});
    if (slot == 0) continue;
    --queue(slot)->lanes_left;
    std::vector<ShardRange>& ranges = taken[slot];
    if (!ranges.empty() && ranges.back().end == lane) {
      ++ranges.back().end.value;
    } else {
      ranges.push_back({lane, ShardId{lane.value + 1}});
    }
  }
  for (auto& [slot, ranges] : taken) {
    Queue& from = *queue(slot);
    if (tell == Tell::Yes) {
      flush(from);  // What it brings of these lanes comes first.
      auto message = std::make_shared<pb::Message>();
      pb::QueueClose& close = *message->mutable_queue_close();
      close.set_region(identity_.region.value);
      close.set_epoch(from.epoch);
      close.set_incarnation(identity_.incarnation.value);
      for (ShardRange range : ranges) *close.add_lanes() = to_pb(range);
      close.set_sequence(++from.sequence);
      send(from, std::move(message));
    }
    remove_if_empty(from);
  }
}

void StreamFeed::close(QueueSlot slot, Tell tell) {
  for (ShardRange lanes : lanes_of(slot)) close_lanes(lanes, tell);
  auto left = queues_.find(slot);  // Still there if all its lanes had stopped before.
  if (left == queues_.end()) return;
  by_slot_[slot] = nullptr;
  queues_.erase(left);
}

// A queue whose lanes have all stopped still sends what it has put together, then goes.
void StreamFeed::remove_if_empty(Queue& queue) {
  if (queue.lanes_left > 0) return;
  flush(queue);
  by_slot_[queue.slot] = nullptr;
  queues_.erase(queue.slot);
}

Offset StreamFeed::pending_floor(QueueSlot slot, Offset committed) {
  Queue& queue = *this->queue(slot);
  queue.committed = std::max(queue.committed, committed);
  return std::max(committed, queue.awaited <= queue.committed ? queue.cursor : queue.pending_from);
}

void StreamFeed::on_credit(const pb::QueueCredit& credit) {
  for (auto& [slot, queue] : queues_) {
    if (queue.epoch != credit.epoch()) continue;
    queue.credit = std::max(queue.credit, credit.bytes());
    queue.heard = std::max(queue.heard, credit.sequence());
  }
}

void StreamFeed::on_rings_changed() {
  for (auto& [slot, queue] : queues_) queue.waits_for_ring = false;
}

// ---- the window --------------------------------------------------------------------------------------

void StreamFeed::push(FeedRecord record) {
  TM_ASSERT(record.at >= end_, record.at, end_);
  end_ = record.next;
  figures_.window_bytes += record.bytes;
  window_.push_back(std::move(record));
  trim_window();
}

void StreamFeed::set_end(Offset end) {
  TM_ASSERT(window_.empty());
  end_ = window_begin_ = end;
}

// What no queue needs goes at once; beyond the bound the oldest go, and queues that need them read the log.
void StreamFeed::trim_window() {
  Offset lowest{UINT64_MAX};
  for (const auto& [slot, queue] : queues_) lowest = std::min(lowest, std::max(queue.cursor, window_begin_));
  while (!window_.empty() &&
         (window_.front().next <= lowest ||
          (figures_.window_bytes > options_.window_bytes_max && !TM_MUTATION("a window without a bound")) ||
          TM_BUGGIFY("queues: the window forgets a record"))) {
    figures_.window_bytes -= window_.front().bytes;
    window_begin_ = window_.front().next;
    window_.pop_front();
  }
  if (window_.empty()) window_begin_ = end_;
}

bool StreamFeed::can_send(const Queue& queue) const {
  return queue.cost_sent < queue.credit && !queue.waits_for_ring && queue.cursor < end_ &&
         queue.building_bytes + transport_.unsent_bytes(queue.address) < options_.unsent_bytes_max;
}

void StreamFeed::pump() {
  if (failed_) return;
  repeat_opens();
  pump_window();
  for (QueueSlot slot : slots()) {
    Queue& each = *queue(slot);
    tell_silent(each);
    flush(each);
  }
  trim_window();
  start_catch_up();
}

void StreamFeed::pump_window() {
  for (bool routed = true; routed;) {
    routed = false;
    Offset lowest{UINT64_MAX};
    for (const auto& [slot, queue] : queues_) {
      if (can_send(queue) && !is_behind(queue)) lowest = std::min(lowest, queue.cursor);
    }
    auto at = std::lower_bound(window_.begin(), window_.end(), lowest,
                               [](const FeedRecord& record, Offset from) { return record.at < from; });
    for (; at != window_.end(); ++at) {
      bool any = false;
      for (auto& [slot, queue] : queues_) {
        bool takes = can_send(queue) && !is_behind(queue) && queue.cursor <= at->at;
        taking_[slot] = takes ? &queue : nullptr;
        any |= takes;
      }
      if (!any) break;
      route(*at);
      routed = true;
    }
  }
}

// ---- routing -----------------------------------------------------------------------------------------

void StreamFeed::route(const FeedRecord& record) {
  if (record.body) {
    if (record.body->has_commit()) {
      route_changes(record, record.body->commit().changes());
    } else if (record.body->has_backfill_page()) {
      route_changes(record, record.body->backfill_page().changes());
    } else if (record.body->has_join_page()) {
      route_changes(record, record.body->join_page().changes());
    }
  }
  for (QueueSlot slot : slots()) {
    Queue* queue = taking_[slot];
    taking_[slot] = nullptr;
    if (queue == nullptr) continue;
    if (record.body && record.body->has_cut() && !route_cut(record, *queue)) continue;
    if (record.body && record.body->has_progress()) route_progress(record, *queue);
    if (record.body && record.body->has_backfill_page() && record.body->backfill_page().last()) {
      entry_for(*queue, record);
      await(*queue, record);
    }
    if (record.seal) *entry_for(*queue, record).mutable_seal() = *record.seal;
    finish_record(record, *queue);
  }
}

// The hot path: per change a lookup and a copy.
void StreamFeed::route_changes(const FeedRecord& record, const std::string& changes) {
  ChangeReader reader(changes);
  uint64_t hash = 0;
  std::string_view encoded;
  Queue* last = nullptr;
  std::string* into = nullptr;
  while (reader.next_raw(hash, encoded)) {
    ShardId shard = shards_.shard_of(hash);
    if (!identity_.shards.contains(shard)) continue;
    const Lane& lane = lanes_[index_of(shard)];
    Queue* queue = taking_[lane.slot];
    if (queue == nullptr || record.at < lane.start) continue;
    if (queue != last) {
      into = entry_for(*queue, record).mutable_changes();
      last = queue;
      await(*queue, record);
    }
    into->append(encoded);
  }
}

// The entry of the record in the queue's message, made on first need.
pb::QueueEntry& StreamFeed::entry_for(Queue& queue, const FeedRecord& record) {
  if (!queue.building) {
    queue.building = std::make_shared<pb::Message>();
    pb::QueueRecords& records = *queue.building->mutable_queue_records();
    records.set_region(identity_.region.value);
    records.set_epoch(queue.epoch);
    records.set_incarnation(identity_.incarnation.value);
  }
  auto* entries = queue.building->mutable_queue_records()->mutable_entries();
  if (!entries->empty() && entries->rbegin()->offset() == record.at.value) return *entries->rbegin();
  pb::QueueEntry& entry = *entries->Add();
  entry.set_offset(record.at.value);
  if (record.body) {
    entry.set_catalog_version(record.body->catalog_version());
    entry.set_written_at_micros(record.body->written_at_micros());
    if (record.body->has_backfill_page()) {
      entry.set_view(record.body->backfill_page().view());
      entry.set_last_page(record.body->backfill_page().last());
    }
  }
  ++figures_.entries;
  return entry;
}

// False: the ring is not known here yet; the queue waits before the cut.
bool StreamFeed::route_cut(const FeedRecord& record, Queue& queue) {
  RingVersion ring{record.body->cut().ring_version()};
  if (!rings_.has(ring)) {
    // A ring that every lane here has committed past is forgotten: then the cut is history for them.
    if (ring > rings_.newest()) {
      queue.waits_for_ring = true;
      queue.in_run = false;  // The reader goes on without it.
      return false;
    }
    return true;
  }
  *entry_for(queue, record).mutable_cut() = record.body->cut();
  await(queue, record);
  return true;
}

void StreamFeed::await(Queue& queue, const FeedRecord& record) {
  if (queue.awaited <= queue.committed) queue.pending_from = record.at;
  queue.awaited = Offset{record.at.value + 1};
}

void StreamFeed::route_progress(const FeedRecord& record, Queue& queue) {
  pb::Progress* into = nullptr;
  for (const pb::LaneRun& run : record.body->progress().committed()) {
    ShardRange lanes = from_pb(run.lanes());
    bool concerns = std::any_of(queue.lanes.begin(), queue.lanes.end(),
                                [&](const LaneRun& mine) { return mine.lanes.overlaps(lanes); });
    if (!concerns) continue;
    if (into == nullptr) into = entry_for(queue, record).mutable_progress();
    *into->add_committed() = run;
  }
}

void StreamFeed::finish_record(const FeedRecord& record, Queue& queue) {
  queue.cursor = record.next;
  if (queue.building) {
    const auto& entries = queue.building->queue_records().entries();
    if (!entries.empty() && entries.rbegin()->offset() == record.at.value) {
      size_t cost = queue_entry_cost(*entries.rbegin());
      queue.cost_sent += cost;
      queue.building_bytes += cost;
      queue.told = record.next;
    }
  }
  const bool is_full = queue.building_bytes >= options_.message_bytes_max;
  if (is_full || TM_BUGGIFY("queues: a short message")) flush(queue);
  if (record.seal || (record.body && record.body->has_cut())) stop_lanes(queue, record);
}

void StreamFeed::stop_lanes(Queue& queue, const FeedRecord& record) {
  Position stop{identity_.generation, record.next, 0};
  RingVersion ring;
  if (record.seal) {
    stop = {Generation{record.seal->generation()}, Offset{0}, 0};
  } else {
    ring = RingVersion{record.body->cut().ring_version()};
    if (!rings_.has(ring)) return;
  }
  std::vector<ShardId> stopped;
  for (const LaneRun& run : queue.lanes) {
    for (ShardId lane = run.lanes.begin; lane < run.lanes.end; ++lane.value) {
      Lane& at = lanes_[index_of(lane)];
      if (at.slot != queue.slot || record.at < at.start) continue;
      if (!record.seal && rings_.owner(ring, lane) == queue.member) continue;
      at.slot = 0;
      --queue.lanes_left;
      stopped.push_back(lane);
    }
  }
  remove_if_empty(queue);
  for (ShardId lane : stopped) listener_.on_lane_stopped(lane, stop);
}

// Else a view manager whose lanes nothing happens to would hold the log for ever, and readers that wait for
// what came to other lanes.
void StreamFeed::tell_silent(Queue& queue) {
  if (!can_send(queue) && queue.cursor < end_) return;
  if (queue.credit == 0 || queue.cost_sent >= queue.credit) return;
  bool is_wanted = queue.told < wanted_ && wanted_ <= queue.cursor;
  if (!is_wanted && queue.cursor.value < queue.told.value + options_.silent_records_max) return;
  FeedRecord nothing;
  nothing.at = Offset{queue.cursor.value - 1};
  nothing.next = queue.cursor;
  entry_for(queue, nothing);
  finish_record(nothing, queue);
}

void StreamFeed::flush(Queue& queue) {
  if (!queue.building) return;
  queue.building->mutable_queue_records()->set_sequence(++queue.sequence);
  ++figures_.messages;
  send(queue, std::move(queue.building));
  queue.building.reset();
  queue.building_bytes = 0;
}

// ---- catching up -------------------------------------------------------------------------------------

void StreamFeed::set_source(Log* log, std::function<ReaderState(Offset)> state_at) {
  reader_.reset();
  log_ = log;
  state_at_ = std::move(state_at);
}

// From where those who are behind must be read for; none: nobody is.
std::optional<ReaderState> StreamFeed::catch_up_from() const {
  Offset from{UINT64_MAX};
  for (const auto& [slot, queue] : queues_) {
    if (can_send(queue) && is_behind(queue)) from = std::min(from, queue.cursor);
  }
  if (from.value == UINT64_MAX) return std::nullopt;
  ReaderState state = state_at_(from);
  for (const auto& [slot, queue] : queues_) {
    if (queue.resume.next <= from && queue.resume.next > state.next) state = queue.resume;
  }
  return state;
}

void StreamFeed::start_catch_up() {
  if (reader_ || log_ == nullptr || failed_) return;
  const std::optional<ReaderState> state = catch_up_from();
  if (!state) return;
  read_to_ = state->next;
  reader_ = std::make_unique<StreamReader>(identity_.stream, *log_, *state, options_.read_bytes);
  for (auto& [slot, queue] : queues_) queue.in_run = false;
  read_more();
}

void StreamFeed::read_more() {
  reader_->next(
      [this](Result<std::vector<JudgedRecord>, LogFailure> records) { on_read(std::move(records)); });
}

void StreamFeed::on_read(Result<std::vector<JudgedRecord>, LogFailure> records) {
  if (!records.ok()) {
    if (records.error().code == LogError::Trimmed) {
      reader_.reset();
      if (close_passed()) return listener_.on_passed();
      // Those that it was read for may be gone.
      const std::optional<ReaderState> next = catch_up_from();
      if (!next || next->next > read_to_) return start_catch_up();
    }
    if (records.error().code != LogError::Unavailable) {
      reader_.reset();
      return fail(records.error());
    }
    return scheduler_.post_after(options_.read_retry, [this] {
      if (reader_) read_more();
    });
  }
  // Queues that have come to be behind where the reader is now join; those before it wait for the next run.
  for (auto& [slot, queue] : queues_) queue.in_run |= queue.cursor >= read_to_;
  bool past_end = false;
  for (const JudgedRecord& judged : *records) {
    // The log may have more than was pushed yet. That comes by the window, and must not be passed over here.
    past_end = judged.at >= end_;
    if (past_end) break;
    read_to_ = Offset{judged.at.value + 1};
    if (judged.verdict != Verdict::Valid) {
      skip_read(judged);
    } else if (!route_read(judged)) {
      break;
    }
  }
  for (QueueSlot slot : slots()) {
    if (Queue* each = queue(slot)) flush(*each);
  }
  // A reader that nobody waits for must go: at the end of the log it would wait for ever, and the next queue
  // that falls behind with it.
  bool wanted = std::any_of(queues_.begin(), queues_.end(), [&](const auto& it) {
    return it.second.in_run && is_behind(it.second) && can_send(it.second);
  });
  if (wanted && !past_end && !failed_) return read_more();
  reader_.reset();
  pump();
}

void StreamFeed::fail(const LogFailure& failure) {
  failed_ = true;
  scheduler_.post_after(options_.failed_retry, [this] {
    failed_ = false;
    pump();
  });
  listener_.on_failed(failure);
}

// Reports of an earlier queue may commit lanes past where this one stands, and the log may be cut there
// before it was read.
bool StreamFeed::close_passed() {
  bool any = false;
  for (QueueSlot slot : slots()) {
    const Position at{identity_.generation, queue(slot)->cursor, 0};
    const std::vector<ShardRange> lanes = lanes_of(slot);
    const bool passed = std::all_of(lanes.begin(), lanes.end(),
                                    [&](ShardRange range) { return listener_.committed(range) > at; });
    if (!passed || !is_behind(*queue(slot))) continue;
    TM_PROBE("queues: a queue stands before the log");
    close(slot, Tell::Yes);
    any = true;
  }
  return any;
}

// A void record is nothing to anybody.
void StreamFeed::skip_read(const JudgedRecord& judged) {
  for (auto& [slot, queue] : queues_) {
    if (!queue.in_run || queue.cursor != judged.at) continue;
    queue.cursor = judged.state.next;
    queue.resume = judged.state;
  }
}

// False: nobody needs more from the reader.
bool StreamFeed::route_read(const JudgedRecord& judged) {
  bool wanted = false, taken = false;
  for (auto& [slot, queue] : queues_) {
    bool takes = queue.in_run && is_behind(queue) && can_send(queue);
    queue.in_run &= takes;
    wanted |= takes;
    TM_ASSERT(!takes || queue.cursor >= judged.at, queue.cursor, judged.at);
    takes &= queue.cursor == judged.at;
    taken |= takes;
    taking_[slot] = takes ? &queue : nullptr;
  }
  if (!wanted) return false;
  ++figures_.records_read;
  if (!taken) return true;
  TM_PROBE("queues: a record is read again from the log");
  FeedRecord record;
  record.at = judged.at;
  record.next = judged.state.next;
  if (judged.record.header.kind == RecordKind::Body) {
    auto body = std::make_shared<pb::RecordBody>();
    if (!body->ParseFromString(judged.record.payload)) {
      fail({LogError::Refused, "a record's body does not parse"});
      return false;
    }
    record.body = std::move(body);
  } else if (judged.record.header.kind == RecordKind::Seal) {
    auto seal = std::make_shared<pb::Seal>();
    seal->ParseFromString(judged.record.payload);
    record.seal = std::move(seal);
  }
  route(record);
  for (auto& [slot, queue] : queues_) {
    if (queue.cursor == judged.state.next) queue.resume = judged.state;
  }
  return true;
}

}  // namespace tidemark
