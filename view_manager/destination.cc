#include "view_manager/destination.h"

#include <algorithm>

#include "base/assert.h"

namespace tidemark {

void Destination::rewind(uint64_t next_request) {
  sent = acked;
  in_flight.clear();
  fresh_from = next_request;
  unsent_from.clear();
  dirty = true;
}

void Destination::question(uint64_t next_request, Micros now) {
  if (!asking) rewind(next_request);
  asking = true;
  asked = 0;
  waits_from = now;
}

void Destination::wait(Micros now) {
  if (!owes_answer()) waits_from = now;
  if (stalled_since == Micros{}) stalled_since = now;
}

void Destination::heard(Micros now) {
  waits_from = now;
  stalled_since = owes_answer() ? now : Micros{};
}

void Destination::forget_queue(uint64_t serial) {
  unsent_from.erase(serial);
  open_from.erase(serial);
}

Destinations::Destinations(ShardCount shards) {
  Destination all;
  all.shards = shards.all();
  all_.push_back(std::move(all));
}

Destination& Destinations::of(ShardId shard) {
  auto it = std::partition_point(all_.begin(), all_.end(),
                                 [shard](const Destination& d) { return d.shards.end <= shard; });
  TM_ASSERT(it != all_.end());
  return *it;
}

void Destinations::for_overlapping(ShardRange range, const std::function<void(Destination&)>& fn) {
  for (Destination& destination : all_) {
    if (destination.shards.overlaps(range)) fn(destination);
  }
}

namespace {

constexpr int64_t kPatienceMax = 16;

Destination piece_of(const Destination& from, ShardRange shards) {
  Destination out = from;
  out.shards = shards;
  out.dirty = true;
  return out;
}

}  // namespace

void Destinations::cut_unknown(const std::vector<ShardRange>& regions) {
  std::vector<Destination> out;
  for (const Destination& destination : all_) {
    if (!destination.asking) {
      out.push_back(destination);
      continue;
    }
    ShardId at = destination.shards.begin;
    for (const ShardRange& region : regions) {
      if (region.end <= at || region.end >= destination.shards.end) continue;
      out.push_back(piece_of(destination, {at, region.end}));
      out.back().asked = 0;
      at = region.end;
    }
    out.push_back(piece_of(destination, {at, destination.shards.end}));
    if (at != destination.shards.begin) out.back().asked = 0;
  }
  all_ = std::move(out);
}

void Destinations::learn(const std::vector<Part>& parts, uint64_t next_request) {
  TM_ASSERT(!parts.empty());
  const ShardRange region{parts.front().shards.begin, parts.back().shards.end};
  std::vector<Destination> out;
  bool placed = false;
  auto place = [&] {
    if (placed) return;
    placed = true;
    for (const Part& part : parts) {
      Destination now;
      now.shards = part.shards;
      now.acked = part.applied;
      const Destination& old = of(part.shards.begin);
      // What was told later than this answer was sent still holds.
      if (old.shards.contains(part.shards)) now.acked.raise(old.acked);
      now.effects_max = old.effects_max;
      now.patience = old.parked ? std::min(2 * old.patience, kPatienceMax) : old.patience;
      now.asking = false;
      now.rewind(next_request);
      out.push_back(std::move(now));
    }
  };
  for (const Destination& old : all_) {
    if (!old.shards.overlaps(region)) {
      if (old.shards.begin >= region.end) place();
      out.push_back(old);
      continue;
    }
    // What was sent for the whole was refused, or will be: the pieces begin again, too.
    if (old.shards.begin < region.begin) {
      out.push_back(piece_of(old, {old.shards.begin, region.begin}));
      out.back().rewind(next_request);
    }
    place();
    if (region.end < old.shards.end) {
      out.push_back(piece_of(old, {region.end, old.shards.end}));
      out.back().rewind(next_request);
      out.back().asked = 0;
    }
  }
  all_ = std::move(out);
}

void Destinations::raise(ShardRange shards, const LaneRuns& positions) {
  for (Destination& destination : all_) {
    if (!shards.contains(destination.shards)) continue;
    destination.acked.raise(positions);
    destination.sent.raise(positions);
  }
}

}  // namespace tidemark
