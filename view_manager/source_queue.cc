#include "view_manager/source_queue.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutation.h"

namespace tidemark {

SourceQueue::SourceQueue(uint64_t serial, QueueName name, Generation generation, ShardRange shards,
                         const std::vector<LaneRun>& lanes)
    : serial_(serial), name_(std::move(name)), generation_(generation), shards_(shards) {
  states_.resize(shards_.size(), LaneState::Absent);
  std::optional<Offset> first;
  for (const LaneRun& run : lanes) {
    TM_ASSERT(shards_.contains(run.lanes), run.lanes);
    TM_ASSERT(run.position.generation == generation_, run.position);
    lanes_.add(run.lanes);
    starts_.set(run.lanes, run.position);
    floors_.set(run.lanes, run.position);
    for (uint32_t lane = run.lanes.begin.value; lane < run.lanes.end.value; ++lane) {
      state(ShardId{lane}) = LaneState::Active;
    }
    all_started_at_ = std::max(all_started_at_, Offset{run.position.offset.value + 1});
    if (!first || run.position.offset < *first) first = run.position.offset;
  }
  read_end_ = first.value_or(Offset{});
}

void SourceQueue::remove_lanes(ShardRange lanes) {
  for (const ShardRange& range : std::vector<ShardRange>(lanes_.ranges())) {
    ShardRange both{std::max(range.begin, lanes.begin), std::min(range.end, lanes.end)};
    for (uint32_t lane = both.begin.value; lane < both.end.value; ++lane) {
      state(ShardId{lane}) = LaneState::Absent;
    }
  }
  lanes_.remove(lanes);
  for (auto& entry : entries_) entry->drop_lanes(lanes);
}

void SourceQueue::stop_lanes(ShardRange lanes, Position at) {
  for (const ShardRange& range : lanes_.ranges()) {
    for (uint32_t lane = std::max(range.begin, lanes.begin).value;
         lane < std::min(range.end, lanes.end).value; ++lane) {
      if (state(ShardId{lane}) != LaneState::Active) continue;
      state(ShardId{lane}) = LaneState::Stopped;
      stops_.set({ShardId{lane}, ShardId{lane + 1}}, at);
    }
  }
}

Position SourceQueue::stop_of(ShardId lane) const {
  Position stop = stops_.at(lane);
  return stop == Position{} ? Position{Generation{UINT32_MAX}, Offset{UINT64_MAX}, UINT32_MAX} : stop;
}

void SourceQueue::raise_floor(ShardRange lanes, Position position) {
  for (const ShardRange& range : lanes_.ranges()) {
    floors_.raise({std::max(range.begin, lanes.begin), std::min(range.end, lanes.end)}, position);
  }
}

bool SourceQueue::wants(ShardId lane, Offset offset) const {
  if (!shards_.contains(lane)) return false;
  if (states_[lane.value - shards_.begin.value] != LaneState::Active) return false;
  return offset >= all_started_at_ || starts_.at(lane).offset <= offset;
}

uint32_t SourceQueue::first_step(ShardId lane, Offset offset) const {
  if (offset >= all_started_at_) return 0;
  Position start = starts_.at(lane);
  return start.offset == offset ? start.step : 0;
}

const pb::QueueEntry& SourceQueue::Waiting::entry() const {
  return message->queue_records().entries(index);
}

size_t SourceQueue::entry_at(Offset offset) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), offset,
                             [](const auto& entry, Offset at) { return entry->offset() < at; });
  return static_cast<size_t>(it - entries_.begin());
}

void SourceQueue::push(std::unique_ptr<EffectEntry> entry) {
  TM_ASSERT(entry->offset() >= read_end_, entry->offset());
  read_end_ = Offset{entry->offset().value + 1};
  entries_.push_back(std::move(entry));
}

std::unique_ptr<EffectEntry> SourceQueue::pop_done() {
  if (entries_.empty() || entries_.front()->open() > 0) return nullptr;
  std::unique_ptr<EffectEntry> out = std::move(entries_.front());
  entries_.pop_front();
  return out;
}

void SourceQueue::pin(Offset offset) {
  if (!pinned_ || offset < *pinned_) pinned_ = offset;
}

Position SourceQueue::committed() const {
  if (pinned_ && (entries_.empty() || *pinned_ <= entries_.front()->offset())) {
    return {generation_, *pinned_, 0};
  }
  if (!entries_.empty() && !TM_MUTATION("committed reported before all destinations"))
    return entries_.front()->begin();
  if (sealed_to_ && !TM_MUTATION("a seal is not crossed")) return {*sealed_to_, Offset{0}, 0};
  return {generation_, read_end_, 0};
}

std::vector<LaneRun> SourceQueue::unrecorded() const {
  std::vector<LaneRun> out;
  const Position prefix = committed();
  for (const ShardRange& range : lanes_.ranges()) {
    for (const LaneRun& stop : stops_.cover(range)) {
      Position reached = stop.position == Position{} ? prefix : std::min(prefix, stop.position);
      for (const LaneRun& floor : floors_.cover(stop.lanes)) {
        if (floor.position < reached) out.push_back({floor.lanes, reached});
      }
    }
  }
  return out;
}

void SourceQueue::grant(size_t total) {
  granted = total;
  grants.push_back(total);
}

// An entry is sent while what was sent before it is below the credit.
void SourceQueue::receive(size_t cost) {
  while (grants.size() > 1 && grants.front() <= received) grants.pop_front();
  received += cost;
}

void SourceQueue::drop_input() {
  waiting_.clear();
  entries_.clear();
}

bool SourceQueue::needs_report() const {
  for (const ShardRange& range : lanes_.ranges()) {
    for (const LaneRun& stop : stops_.cover(range)) {
      Position wanted = stop.position == Position{} ? must_record : std::min(must_record, stop.position);
      if (!floors_.all_reached(stop.lanes, wanted)) return true;
    }
  }
  return false;
}

}  // namespace tidemark
