#include "tests/simulation/checkers/pto4_last_owner.h"

#include <sstream>

#include "proto/convert.h"
#include "proto/messages.pb.h"

namespace tidemark::sim {

Pto4LastOwner::Pto4LastOwner(Evidence& evidence)
    : Checker(evidence),
      shards_(evidence.cluster.options().shards),
      highest_(shards_.value * shards_.value) {}

void Pto4LastOwner::note(const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs,
                         ShardRange destinations) {
  for (const pb::LaneRun& run : runs) {
    const ShardRange lanes = from_pb(run.lanes());
    for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
      for (ShardId to = destinations.begin; to < destinations.end; ++to.value)
        highest(to, lane) = std::max(highest(to, lane), from_pb(run.position()));
    }
  }
}

void Pto4LastOwner::on_record(const SeenRecord& record, const SeenStream&) {
  if (!record.body) return;
  // Raises hold for the whole region; that they are allowed is PTO1's business, so all shards are taken.
  if (record.body->has_raise()) note(record.body->raise().committed(), shards_.all());
  if (!record.body->has_commit()) return;
  for (const pb::AppliedBatch& batch : record.body->commit().batches()) {
    note(batch.floors(), shards_.all());
    note(batch.to(), from_pb(batch.part()));
  }
}

void Pto4LastOwner::check(const Address& from, const google::protobuf::RepeatedPtrField<pb::LaneRun>& runs,
                          ShardRange part) {
  for (const pb::LaneRun& run : runs) {
    const ShardRange lanes = from_pb(run.lanes());
    const Position told = from_pb(run.position());
    for (ShardId lane = lanes.begin; lane < lanes.end; ++lane.value) {
      for (ShardId to = part.begin; to < part.end; ++to.value) {
        if (told <= highest(to, lane)) continue;
        std::ostringstream what;
        what << from << " tells that shard " << to << " has lane " << lane << " up to " << told
             << "; the logs say " << highest(to, lane);
        return violated(what.str());
      }
    }
  }
}

void Pto4LastOwner::on_message(const Address& from, const Address&, const pb::Message& message) {
  if (!message.has_effects_answer()) return;
  const pb::EffectAnswer& answer = message.effects_answer();
  if (answer.verdict() == pb::EffectAnswer::APPLIED) check(from, answer.to(), from_pb(answer.part()));
  if (answer.verdict() != pb::EffectAnswer::REFUSED) return;
  for (const pb::Part& part : answer.parts()) check(from, part.applied(), from_pb(part.shards()));
}

}  // namespace tidemark::sim
