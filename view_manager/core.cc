#include "view_manager/core.h"

#include <algorithm>
#include <sstream>

#include "base/assert.h"
#include "proto/convert.h"

namespace tidemark {

ViewManagerCore::ViewManagerCore(ViewManagerId identity, ShardCount shards, EffectProgram& program,
                                 const ViewManagerLimits& limits, uint64_t first_request)
    : identity_(std::move(identity)),
      shards_(shards),
      program_(program),
      limits_(limits),
      first_request_(first_request),
      next_request_(first_request),
      destinations_(shards),
      builder_(program, limits),
      steps_(shards) {}

ViewManagerCore::~ViewManagerCore() = default;

void ViewManagerCore::tick(Micros now) {
  now_ = std::max(now_, now);
  check_silence();
}

void ViewManagerCore::on_message(const Address& from, const MessagePtr& message) {
  switch (message->body_case()) {
    case pb::Message::kQueueOpen: on(from, message->queue_open()); break;
    case pb::Message::kQueueRecords: on(from, message, message->queue_records()); break;
    case pb::Message::kQueueClose: on(from, message->queue_close()); break;
    case pb::Message::kEffectsAnswer: on(message->request(), message->effects_answer()); break;
    case pb::Message::kRefusal: on(message->request(), message->refusal()); break;
    default: ++counts_.malformed; break;
  }
}

void ViewManagerCore::on_ring(const pb::RingFact& fact) {
  rings_.assign(fact.previous().begin(), fact.previous().end());
  rings_.push_back(fact.ring());
}

void ViewManagerCore::on_regions(const pb::RegionMap& map) {
  std::vector<ShardRange> regions;
  for (const pb::RegionEntry& region : map.regions()) {
    ShardRange range = from_pb(region.shards());
    if (!region.sealed() && !range.empty()) regions.push_back(range);
  }
  std::sort(regions.begin(), regions.end());
  destinations_.cut_unknown(regions);
}

void ViewManagerCore::pump(std::vector<Outgoing>& out) {
  std::move(replies_.begin(), replies_.end(), std::back_inserter(out));
  replies_.clear();
  compute_waiting();
  for (auto& queue : queues_) settle(*queue);
  if (lacks_credit()) park_stalled();
  send_all(out);
  report_all(out);
  grant_all(out);
  close_all(out);
}

size_t ViewManagerCore::input_bytes() const {
  size_t out = 0;
  for (const auto& queue : queues_) {
    if (!queue->reopening) out += queue->received - queue->released;  // Else all of it was let go.
  }
  return out;
}

size_t ViewManagerCore::parked_count() const {
  const auto& all = destinations_.all();
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [](const Destination& destination) { return destination.parked; }));
}

LaneSet ViewManagerCore::lanes() const {
  LaneSet out;
  for (const auto& queue : queues_) {
    for (const ShardRange& range : queue->lanes().ranges()) out.add(range);
  }
  return out;
}

bool ViewManagerCore::idle() const {
  for (const auto& queue : queues_) {
    if (queue->reopening || !queue->waiting().empty() || !queue->entries().empty()) return false;
    if (queue->needs_report()) return false;
  }
  for (const Destination& destination : destinations_.all()) {
    if (!destination.in_flight.empty()) return false;
  }
  return true;
}

std::string ViewManagerCore::describe() const {
  std::ostringstream out;
  for (const auto& queue : queues_) {
    out << "queue region " << queue->name().region << " epoch " << queue->name().epoch << " lanes";
    for (const ShardRange& range : queue->lanes().ranges()) out << ' ' << range;
    out << " read to " << queue->read_end() << " committed " << queue->committed() << " waiting "
        << queue->waiting().size() << " open " << queue->entries().size() << " granted " << queue->granted
        << " received " << queue->received << " released " << queue->released
        << (queue->reopening ? " reopening" : "") << (queue->pinned() ? " pinned" : "")
        << (queue->needs_report() ? " unrecorded" : "") << '\n';
  }
  for (const Destination& destination : destinations_.all()) {
    out << "destination " << destination.shards << " in flight " << destination.in_flight.size()
        << (destination.asking ? " asking" : "") << (destination.parked ? " parked" : "")
        << (is_slow(destination) ? " slow" : "") << (destination.dirty ? " dirty" : "") << '\n';
  }
  return out.str();
}

std::optional<Micros> ViewManagerCore::next_tick() const {
  std::optional<Micros> out;
  auto at = [&](Micros when) {
    if (!out || when < *out) out = when;
  };
  for (const auto& queue : queues_) {
    if (queue->reopening || queue->may_lack_credit()) at(queue->repeat_at);
    if (queue->needs_report() || queue->report_hint) at(queue->report_at);
  }
  for (const Destination& destination : destinations_.all()) {
    if (destination.stalled_since != Micros{}) {
      at(Micros{destination.waits_from.value + limits_.answer_timeout.value});
    }
    if (destination.dirty && destination.hold_until > now_) at(destination.hold_until);
  }
  return out;
}

std::unique_ptr<EffectEntry> ViewManagerCore::take_entry() {
  if (pool_.empty()) return std::make_unique<EffectEntry>();
  std::unique_ptr<EffectEntry> out = std::move(pool_.back());
  pool_.pop_back();
  return out;
}

void ViewManagerCore::release(std::unique_ptr<EffectEntry> entry) {
  constexpr size_t kPoolEntriesMax = 64;
  constexpr size_t kPooledBytesMax = size_t{256} << 10;  // Of one: what large records needed is given back.
  TM_ASSERT(effects_bytes_ >= entry->bytes(), effects_bytes_);
  effects_bytes_ -= entry->bytes();
  if (pool_.size() < kPoolEntriesMax && entry->capacity_bytes() <= kPooledBytesMax) {
    pool_.push_back(std::move(entry));
  }
}

size_t ViewManagerCore::pooled_bytes() const {
  size_t out = 0;
  for (const auto& entry : pool_) out += entry->capacity_bytes();
  return out;
}

}  // namespace tidemark
