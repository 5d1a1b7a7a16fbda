#include "tests/simulation/checkers/effect_ledger.h"

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
      committed_(shards_.value) {}

void EffectLedger::on_message(const pb::Message& message) {
  if (!message.has_effects()) return;
  const pb::EffectBatch& batch = message.effects();
  const ShardRange part = from_pb(batch.part());
  Hash from(part), to(part);
  size_t lanes = 0;
  for (const pb::LaneStep& step : batch.lanes()) {
    for_each_lane(from_pb(step.lanes()), [&](ShardId lane) {
      ++lanes;
      // The region raises its positions to the floor first: a batch from below it goes on from there.
      from.add(lane, from_pb(step.prev()));
      to.add(lane, from_pb(step.to()));
    });
  }
  sent_[to.value()].insert(from.value());
  if (lanes != 1) return;  // Else nobody knows which effect is whose.
  std::set<ShardId> destinations;
  Effect effect;
  for (EffectReader reader(batch.effects()); reader.next(effect);)
    destinations.insert(shards_.shard_of(effect.hash));
  const pb::LaneStep& step = batch.lanes(0);
  for (ShardId destination : destinations)
    needed_[ShardId{step.lanes().begin()}].insert({from_pb(step.to()), from_pb(step.prev()), destination});
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
  const auto sent = sent_.find(to.value());
  if (sent == sent_.end() || !sent->second.contains(from.value())) {
    std::string& what = batch.to_size() > 0 && from_pb(batch.to(0).position()).generation.value > 0
                            ? broke_chain_
                            : repeated_;
    what = text("shards ", part, ": a batch was applied from where nobody sent it from; lane ",
                batch.to_size() > 0 ? batch.to(0).lanes().begin() : 0);
  }
}

void EffectLedger::commit(const pb::Progress& progress) {
  for (const pb::LaneRun& run : progress.committed()) {
    const Position position = from_pb(run.position());
    for_each_lane(from_pb(run.lanes()), [&](ShardId lane) {
      committed_[lane.value] = std::max(committed_[lane.value], position);
      std::multiset<Needed>& needed = needed_[lane];
      while (!needed.empty() && needed.begin()->to <= position) {
        const Needed one = *needed.begin();
        needed.erase(needed.begin());
        if (applied(one.destination, lane) <= one.prev) {
          skipped_ = text("lane ", lane, " is committed up to ", position, ", but shard ", one.destination,
                          " has it up to ", applied(one.destination, lane), " and was sent effects between ",
                          one.prev, " and ", one.to);
        }
      }
    });
  }
}

}  // namespace tidemark::sim
