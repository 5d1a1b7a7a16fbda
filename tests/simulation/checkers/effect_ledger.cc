#include "tests/simulation/checkers/effect_ledger.h"

#include <algorithm>
#include <sstream>

#include "proto/convert.h"
#include "proto/effect.h"
#include "proto/messages.pb.h"

namespace tidemark::sim {
namespace {

// Of lanes and their positions, in order.
class Hash {
 public:
  explicit Hash(ShardRange range) {
    add(range.begin.value);
    add(range.end.value);
  }
  void add(ShardId lane, Position position) {
    add(lane.value);
    add(position.generation.value);
    add(position.offset.value);
    add(position.step);
  }
  uint64_t value() const { return value_; }

 private:
  void add(uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 31;
  }
  uint64_t value_ = 0x243f6a8885a308d3;
};

template <typename Call>
void for_each_lane(ShardRange lanes, const Call& call) {
  for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) call(lane);
}

template <typename... Words>
std::string text(const Words&... words) {
  std::ostringstream out;
  ((out << words), ...);
  return out.str();
}

}  // namespace

EffectLedger::EffectLedger(const Evidence& evidence)
    : evidence_(evidence),
      shards_(evidence.cluster.options().shards),
      applied_(shards_.value * shards_.value),
      applied_from_(shards_.value * shards_.value),
      committed_(shards_.value) {}

void EffectLedger::on_message(const Address& sender, const pb::Message& message) {
  if (!message.has_effects()) return;
  const pb::EffectBatch& batch = message.effects();
  const ShardRange part = from_pb(batch.part());
  Hash from(part), to(part);
  for (const pb::LaneStep& step : batch.lanes()) {
    for_each_lane(from_pb(step.lanes()), [&](ShardId lane) {
      // The region raises its positions to the floor first: a batch from below it goes on from there.
      from.add(lane, from_pb(step.prev()));
      to.add(lane, from_pb(step.to()));
    });
  }
  const auto known = senders_.try_emplace(sender, static_cast<Sender>(senders_.size() + 1)).first;
  sent_[to.value()].try_emplace(from.value(), known->second);
  need(batch);
}

// When all its lanes are committed past it, its effects must have been applied.
void EffectLedger::need(const pb::EffectBatch& batch) {
  const auto sent = std::make_shared<Sent>();
  Effect effect;
  for (EffectReader reader(batch.effects()); reader.next(effect);)
    sent->destinations.insert(shards_.shard_of(effect.hash));
  for (const pb::LaneStep& step : batch.lanes()) {
    for_each_lane(from_pb(step.lanes()), [&](ShardId lane) {
      sent->lanes.push_back({lane, from_pb(step.prev())});
      const Position to = from_pb(step.to());
      if (to <= committed_[lane.value]) return;
      ++sent->uncommitted;
      needed_[lane].emplace(to, sent);
    });
  }
}

// Whose effect it is, of several lanes nobody knows; a destination that it was for has passed one of them.
void EffectLedger::check_done(const Sent& batch) {
  for (ShardId destination : batch.destinations) {
    const bool done = std::any_of(batch.lanes.begin(), batch.lanes.end(), [&](const Sent::Lane& one) {
      return applied(destination, one.lane) > one.prev;
    });
    if (done) continue;
    const Sent::Lane& first = batch.lanes.front();
    skipped_ = text("lane ", first.lane, " and ", batch.lanes.size() - 1, " others are committed, but shard ",
                    destination, " was sent effects of them and has the lane up to ",
                    applied(destination, first.lane));
  }
}

ShardRange EffectLedger::range_of(const SeenStream& stream) {
  const auto known = ranges_.find(stream.region);
  if (known != ranges_.end()) return known->second;
  for (const RegionPlace& place : evidence_.cluster.directory().places()) {
    if (place.region == stream.region) return ranges_[stream.region] = place.shards;
  }
  return {};
}

void EffectLedger::on_record(const SeenRecord& record, const SeenStream& stream) {
  skipped_ = repeated_ = went_back_ = broke_chain_ = "";
  if (record.seal) {
    for (const auto& child : record.seal->children())
      ranges_[RegionId{child.region()}] = from_pb(child.shards());
  }
  if (!record.body) return;
  const ShardRange region = range_of(stream);
  if (record.body->has_commit()) {
    for (const pb::AppliedBatch& batch : record.body->commit().batches()) apply(batch, region);
  } else if (record.body->has_raise()) {
    raise(record.body->raise().committed(), region);
  } else if (record.body->has_progress()) {
    commit(record.body->progress());
  }
}

void EffectLedger::raise(const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs, ShardRange region) {
  for (const pb::LaneRun& run : runs) {
    const Position position = from_pb(run.position());
    for_each_lane(from_pb(run.lanes()), [&](ShardId lane) {
      if (position > committed_[lane.value]) {
        skipped_ = text("lane ", lane, " is raised to ", position, ", but only ", committed_[lane.value],
                        " is recorded as committed");
      }
      for_each_lane(region, [&](ShardId destination) {
        applied(destination, lane) = std::max(applied(destination, lane), position);
      });
    });
  }
}

void EffectLedger::apply(const pb::AppliedBatch& batch, ShardRange region) {
  raise(batch.floors(), region);
  const ShardRange part = from_pb(batch.part());
  Hash to(part), from(part);
  for (const pb::LaneRun& run : batch.to()) {
    const Position position = from_pb(run.position());
    for_each_lane(from_pb(run.lanes()), [&](ShardId lane) {
      to.add(lane, position);
      const Position before = applied(part.begin, lane);
      from.add(lane, before);
      for_each_lane(part, [&](ShardId destination) {
        Position& at = applied(destination, lane);
        if (at != before)
          repeated_ =
              text("shards ", part, " take lane ", lane, " at once, but are at ", before, " and ", at);
        if (at >= position)
          went_back_ =
              text("shard ", destination, " is at ", at, " of lane ", lane, " and goes to ", position);
        at = position;
      });
    });
  }
  follow_chain(batch, part, to.value(), from.value());
}

void EffectLedger::follow_chain(const pb::AppliedBatch& batch, ShardRange part, uint64_t to, uint64_t from) {
  const auto sent = sent_.find(to);
  Sender sender = 0;  // If nobody sent it from there: who sent it from elsewhere.
  bool follows = false;
  if (sent != sent_.end()) {
    const auto exactly = sent->second.find(from);
    follows = exactly != sent->second.end();
    sender = follows ? exactly->second : sent->second.begin()->second;
  }
  bool moved = false;
  for (const pb::LaneRun& run : batch.to()) {
    for_each_lane(from_pb(run.lanes()), [&](ShardId lane) {
      Sender& before = applied_from(part.begin, lane);
      moved = moved || from_pb(run.position()).generation.value > 0 || (before != 0 && before != sender);
      for_each_lane(part, [&](ShardId destination) { applied_from(destination, lane) = sender; });
    });
  }
  if (follows) return;
  std::string& what = moved && sender != 0 ? broke_chain_ : repeated_;
  what = text("shards ", part, ": a batch was applied from where nobody sent it from; lane ",
              batch.to_size() > 0 ? batch.to(0).lanes().begin() : 0);
}

void EffectLedger::commit(const pb::Progress& progress) {
  for (const pb::LaneRun& run : progress.committed()) {
    const Position position = from_pb(run.position());
    for_each_lane(from_pb(run.lanes()), [&](ShardId lane) {
      committed_[lane.value] = std::max(committed_[lane.value], position);
      auto& needed = needed_[lane];
      while (!needed.empty() && needed.begin()->first <= position) {
        const std::shared_ptr<Sent> batch = std::move(needed.begin()->second);
        needed.erase(needed.begin());
        if (--batch->uncommitted == 0) check_done(*batch);
      }
    });
  }
}

}  // namespace tidemark::sim
