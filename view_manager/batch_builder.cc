#include "view_manager/batch_builder.h"

#include <algorithm>

#include "base/assert.h"
#include "base/buggify.h"
#include "base/mutation.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

// Runs of lanes that a batch names before a further queue is taken: with those of the last one, at most every
// second shard, they fit a record of the region.
constexpr size_t kMovesMax = 2048;

}  // namespace

bool BatchBuilder::build(Destination& destination, const Queues& queues, size_t first, pb::EffectBatch& out) {
  combiner_.clear();
  moves_.clear();
  bytes_ = effects_ = 0;
  catalog_version_ = {};
  Taken taken = Taken::Nothing;
  for (size_t i = 0; i < queues.size() && taken != Taken::Full && moves_.size() < kMovesMax; ++i) {
    SourceQueue& queue = *queues[(first + i) % queues.size()];
    if (!queue.reopening && !queue.entries().empty()) taken = take(destination, queue);
  }
  if (effects_ == 0 && TM_MUTATION("batches without effects are sent")) {
    for (const auto& queue : queues) add_moves(destination, *queue, queue->shards(), queue->committed());
  }
  if (effects_ == 0 && moves_.empty()) {
    destination.dirty = false;
    return false;
  }
  finish(destination, out);
  return true;
}

// Takes whole entries of the queue while they fit; a first one that does not fit, as far as it does.
BatchBuilder::Taken BatchBuilder::take(Destination& destination, SourceQueue& queue) {
  Position sent_highest{};
  for (const ShardRange& range : queue.lanes().ranges()) {
    for (const LaneRun& run : destination.sent.cover(range)) {
      sent_highest = std::max(sent_highest, run.position);
    }
  }
  Offset& from = destination.unsent_from[queue.serial()];
  EffectEntry* last = nullptr;
  Taken taken = Taken::Nothing;
  for (size_t i = queue.entry_at(from); i < queue.entries().size(); ++i) {
    EffectEntry& entry = *queue.entries()[i];
    collect_unsent(destination, entry, sent_highest);
    if (!unsent_.empty()) {
      size_t entry_bytes = 0;
      for (const StoredEffect* effect : unsent_) entry_bytes += effect->size;
      const bool alone = effects_ == 0;
      const bool fits = bytes_ + entry_bytes <= limits_.batch_bytes_max &&
                        effects_ + unsent_.size() <= effects_max(destination) &&
                        !TM_BUGGIFY("view manager: a batch is cut short");
      if (alone && !fits) {
        take_inside(destination, queue, entry);
        return Taken::Full;
      }
      if (!fits) {
        taken = Taken::Full;
        break;
      }
      for (const StoredEffect* effect : unsent_) add_effect(entry, *effect);
      catalog_version_ = std::max(catalog_version_, entry.catalog_version);
      last = &entry;
    }
    from = Offset{entry.offset().value + 1};
  }
  if (last == nullptr) return taken;
  add_moves(destination, queue, queue.shards(), last->end());
  return taken == Taken::Full ? taken : Taken::Some;
}

// A prefix of the entry's effects in the order of (lane, step).
void BatchBuilder::take_inside(const Destination& destination, const SourceQueue& queue, EffectEntry& entry) {
  std::sort(unsent_.begin(), unsent_.end(), [](const StoredEffect* a, const StoredEffect* b) {
    return std::pair(a->lane, a->step) < std::pair(b->lane, b->step);
  });
  size_t count = 0;
  while (count < unsent_.size() && count < effects_max(destination) &&
         (count == 0 || bytes_ + unsent_[count]->size <= limits_.batch_bytes_max)) {
    add_effect(entry, *unsent_[count++]);
  }
  catalog_version_ = entry.catalog_version;
  ++counts_.inside_record;
  const StoredEffect& last = *unsent_[count - 1];
  const ShardId lane = last.lane;
  if (count == unsent_.size()) {
    add_moves(destination, queue, queue.shards(), entry.end());
  } else if (unsent_[count]->lane != lane) {
    add_moves(destination, queue, {queue.shards().begin, ShardId{lane.value + 1}}, entry.end());
  } else {
    add_moves(destination, queue, {queue.shards().begin, lane}, entry.end());
    Position to = entry.position_of(last);
    ++to.step;
    if (TM_MUTATION("positions without a step")) to = entry.end();
    add_moves(destination, queue, {lane, ShardId{lane.value + 1}}, to);
  }
}

void BatchBuilder::collect_unsent(const Destination& destination, EffectEntry& entry, Position sent_highest) {
  unsent_.clear();
  if (entry.open() == 0) return;
  const bool whole = sent_highest <= entry.begin();
  for (const StoredEffect& effect : entry.for_shards(destination.shards)) {
    if (effect.done) continue;
    if (whole || destination.sent.at(effect.lane) <= entry.position_of(effect)) unsent_.push_back(&effect);
  }
}

void BatchBuilder::add_moves(const Destination& destination, const SourceQueue& queue, ShardRange lanes,
                             Position to) {
  for (const ShardRange& of_queue : queue.lanes().ranges()) {
    ShardRange range{std::max(of_queue.begin, lanes.begin), std::min(of_queue.end, lanes.end)};
    if (range.empty()) continue;
    for (const LaneRun& sent : destination.sent.cover(range)) {
      for (const LaneRun& floor : queue.floors().cover(sent.lanes)) {
        for (const LaneRun& stop : queue.stops(floor.lanes)) {
          Position committed = floor.position;
          if (TM_MUTATION("floors not yet recorded")) committed = std::max(committed, queue.committed());
          if (TM_MUTATION("no floors are sent")) committed = Position{};
          Position prev = std::max(sent.position, committed);
          Position end = stop.position == Position{} ? to : std::min(to, stop.position);
          if (TM_MUTATION("floors above what is committed")) committed = prev;
          if (prev < end) moves_.push_back({stop.lanes, prev, end, committed});
        }
      }
    }
  }
}

void BatchBuilder::add_effect(const EffectEntry& entry, const StoredEffect& effect) {
  combiner_.add(entry.decode(effect));
  bytes_ += effect.size;
  ++effects_;
}

void BatchBuilder::finish(Destination& destination, pb::EffectBatch& out) {
  // Never without a lane that moves: each effect's lane does.
  TM_ASSERT(!moves_.empty());
  std::sort(moves_.begin(), moves_.end(),
            [](const Move& a, const Move& b) { return a.lanes.begin < b.lanes.begin; });
  *out.mutable_part() = to_pb(destination.shards);
  for (const Move& move : moves_) {
    destination.sent.set(move.lanes, move.to);
    pb::LaneStep& step = *out.add_lanes();
    *step.mutable_lanes() = to_pb(move.lanes);
    *step.mutable_prev() = to_pb(move.prev);
    *step.mutable_to() = to_pb(move.to);
    *step.mutable_floor() = to_pb(move.floor);
  }
  out.set_catalog_version(catalog_version_.value);
  combiner_.append_to(*out.mutable_effects());
  counts_.effects += effects_;
  counts_.combined += combiner_.combined();
}

}  // namespace tidemark
