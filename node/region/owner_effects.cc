// Effect batches: docs/design.md, "Batches".
#include <algorithm>
#include <array>
#include <utility>

#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "node/region/owner.h"
#include "proto/convert.h"
#include "proto/effect.h"

namespace tidemark {

namespace {

constexpr size_t kLaneBytes = 80;  // Of a lane's floor and position in a record, at most.

}  // namespace

void RegionOwner::on_effects(const Asker& asker, const pb::EffectBatch& batch, RegionCommands& out) {
  // Not answered: the sender asks again.
  if (queue_.unsent_bytes() > 2 * options_.in_flight_bytes_max || !rows_.store().has_room()) return;
  if (!read_lanes(batch)) return send(out, asker, refuse(pb::MALFORMED, "a malformed effect batch"));
  if (batch.catalog_version() > ahead_.catalog().version().value) {
    return send(out, asker, effect_answer(pb::EffectAnswer::CATALOG_BEHIND, &batch));
  }
  for (const LaneMove& move : lanes_) recorded_.raise(move.lanes, move.floor);

  switch (ahead_.parts().admit(from_pb(batch.part()), lanes_)) {
    case Admission::Refuse:
      TM_PROBE("region: a batch is refused");
      if (lacks_positions()) prove_ownership();
      return answer(asker, effect_answer(pb::EffectAnswer::REFUSED, &batch), out);
    case Admission::Drop: return answer(asker, effect_answer(pb::EffectAnswer::APPLIED, &batch), out);
    case Admission::Accept: break;
  }
  maker_.begin();
  switch (apply_effects(batch)) {
    case EffectOutcome::Malformed:
      maker_.rollback();
      return send(out, asker, refuse(pb::MALFORMED, "a malformed effect"));
    case EffectOutcome::Busy:
      TM_PROBE("region: a batch met a key whose join is being paged");
      maker_.rollback();
      return send(out, asker, effect_answer(pb::EffectAnswer::BUSY, &batch));
    case EffectOutcome::Done: break;
  }
  advance(batch);
  if (TM_MUTATION("effects answered before they are durable"))
    return send(out, asker, effect_answer(pb::EffectAnswer::APPLIED, &batch));
  answer(asker, effect_answer(pb::EffectAnswer::APPLIED, &batch), out);
}

// Somebody has told the sender of more than is here. (What it knows by floors, everybody was told.)
bool RegionOwner::lacks_positions() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneMove& move) {
    return move.prev > move.floor && ahead_.parts().raises(move.lanes, move.prev);
  });
}

bool RegionOwner::read_lanes(const pb::EffectBatch& batch) {
  lanes_.clear();
  ShardId at{0};
  for (const pb::LaneStep& step : batch.lanes()) {
    LaneMove move{from_pb(step.lanes()), from_pb(step.prev()), from_pb(step.to()), from_pb(step.floor())};
    if (move.lanes.empty() || move.lanes.begin < at || move.to <= move.prev) return false;
    at = move.lanes.end;
    lanes_.push_back(move);
  }
  return !lanes_.empty() && at <= identity().shard_count.all().end;
}

EffectOutcome RegionOwner::apply_effects(const pb::EffectBatch& batch) {
  ShardRange part = from_pb(batch.part());
  EffectReader reader(batch.effects());
  std::array<Effect, kPrefetchRows> effects;
  for (size_t count = 1; count > 0;) {
    for (count = 0; count < effects.size() && reader.next(effects[count]); ++count) {
      places_[count] = {effects[count].table, effects[count].hash, effects[count].key};
    }
    maker_.prefetch({places_.data(), count});
    for (size_t i = 0; i < count; ++i) {
      if (!part.contains(identity().shard_count.shard_of(effects[i].hash))) return EffectOutcome::Malformed;
      // At this catalog version or a later one it was dropped: discarded, but positions advance.
      const Table* table = ahead_.catalog().find(effects[i].table);
      if (table == nullptr && TM_MUTATION("effects for a dropped table refused"))
        return EffectOutcome::Malformed;
      if (table == nullptr) continue;
      EffectOutcome outcome = maker_.apply(*table, effects[i]);
      if (outcome != EffectOutcome::Done) return outcome;
    }
  }
  if (!reader.ok()) return EffectOutcome::Malformed;
  EffectOutcome outcome = maker_.finish();
  size_t bytes = maker_.changes().size() + maker_.pending_join_bytes() + lanes_.size() * kLaneBytes;
  // One effect at a time always fits: rows of views have a bound (base/row_limits.h).
  const bool is_done = outcome == EffectOutcome::Done;
  if (is_done && (bytes > options_.record_bytes_max || TM_BUGGIFY("region: busy without need")))
    return EffectOutcome::Busy;
  return outcome;
}

void RegionOwner::advance(const pb::EffectBatch& batch) {
  pb::Commit& commit = commit_changes(maker_.pending_join_bytes() + lanes_.size() * kLaneBytes);
  pb::AppliedBatch& applied = *commit.add_batches();
  *applied.mutable_part() = batch.part();
  for (const pb::LaneStep& step : batch.lanes()) {
    if (ahead_.parts().raises(from_pb(step.lanes()), from_pb(step.floor()))) {
      pb::LaneRun& floor = *applied.add_floors();
      *floor.mutable_lanes() = step.lanes();
      *floor.mutable_position() = step.floor();
    }
    pb::LaneRun& to = *applied.add_to();
    *to.mutable_lanes() = step.lanes();
    *to.mutable_position() = step.to();
  }
  ahead_.apply_batch(applied);
  for (pb::PendingJoin& pending : maker_.pending_joins()) {
    ahead_.apply_pending_join(pending);
    *commit.add_pending_joins() = std::move(pending);
  }
}

void RegionOwner::on_positions(const Asker& asker, RegionCommands& out) {
  if (!rows_.store().has_room()) return;  // Who tells where it is must take what it is sent then.
  answer(asker, effect_answer(pb::EffectAnswer::REFUSED, nullptr), out);
}

pb::Message RegionOwner::effect_answer(pb::EffectAnswer::Verdict verdict,
                                       const pb::EffectBatch* batch) const {
  pb::Message out;
  pb::EffectAnswer& answer = *out.mutable_effects_answer();
  answer.set_verdict(verdict);
  answer.set_region(identity().region.value);
  if (batch != nullptr) *answer.mutable_part() = batch->part();
  if (verdict == pb::EffectAnswer::APPLIED) {
    for (const pb::LaneStep& step : batch->lanes()) {
      pb::LaneRun& to = *answer.add_to();
      *to.mutable_lanes() = step.lanes();
      *to.mutable_position() = step.to();
    }
  }
  if (verdict == pb::EffectAnswer::REFUSED) {
    for (const RegionPart& part : ahead_.parts().all()) {
      pb::Part& message = *answer.add_parts();
      *message.mutable_shards() = to_pb(part.shards);
      to_pb(part.applied.runs(), *message.mutable_applied());
    }
  }
  return out;
}

}  // namespace tidemark
