// The core's side towards the regions that have the views' rows: sending, answers, silence.
#include <algorithm>

#include "base/assert.h"
#include "base/buggify.h"
#include "base/mutation.h"
#include "base/probe.h"
#include "proto/convert.h"
#include "view_manager/core.h"

namespace tidemark {

// ---- sending

void ViewManagerCore::send_all(std::vector<Outgoing>& out) {
  ++turn_;
  for (Destination& destination : destinations_.all()) {
    if (destination.asking) {
      if (!queues_.empty()) ask(destination, out);
      continue;
    }
    if (destination.hold_until > now_) continue;
    while (destination.dirty && destination.in_flight.size() < limits_.batches_in_flight_max) {
      auto message = std::make_shared<pb::Message>();
      pb::EffectBatch& batch = *message->mutable_effects();
      if (!builder_.build(destination, queues_, turn_, batch)) break;
      if (!rings_.empty()) batch.set_ring_version(rings_.back().version());
      message->set_request(next_request_);
      destination.wait(now_);
      destination.in_flight.push_back({next_request_++, now_});
      ++counts_.batches;
      if (TM_MUTATION("input is let go when it is sent"))
        apply_positions(destination.shards, destination.sent);
      out.push_back({std::nullopt, destination.shards.begin, std::move(message)});
      if (TM_BUGGIFY("view manager: a batch is sent twice")) out.push_back(out.back());
      if (is_slow(destination)) break;
    }
  }
}

// The answer may be lost, or the region be without an owner: asked again until it comes.
void ViewManagerCore::ask(Destination& destination, std::vector<Outgoing>& out) {
  if (destination.asked != 0 || destination.hold_until > now_) return;
  destination.wait(now_);
  destination.asked = next_request_;
  auto message = std::make_shared<pb::Message>();
  message->set_request(next_request_++);
  message->mutable_positions();
  out.push_back({std::nullopt, destination.shards.begin, std::move(message)});
}

// ---- answers

void ViewManagerCore::on(uint64_t request, const pb::EffectAnswer& answer) {
  const ShardRange part = from_pb(answer.part());
  switch (answer.verdict()) {
    case pb::EffectAnswer::APPLIED: {
      Result<std::vector<LaneRun>> to = from_pb(answer.to(), shards_);
      if (!to.ok() || part.empty() || part.end > shards_.all().end) break;
      ++counts_.applied;
      LaneRuns positions;
      for (const LaneRun& run : *to) positions.set(run.lanes, run.position);
      answered(request, part);
      destinations_.raise(part, positions);
      apply_positions(part, positions);
      return;
    }
    case pb::EffectAnswer::REFUSED: {
      std::vector<Destinations::Part> parts;
      bool valid = answer.parts_size() > 0;
      for (const pb::Part& told : answer.parts()) {
        ShardRange shards = from_pb(told.shards());
        Result<std::vector<LaneRun>> applied = from_pb(told.applied(), shards_);
        valid = valid && applied.ok() && !shards.empty() && shards.end <= shards_.all().end &&
                (parts.empty() || parts.back().shards.end == shards.begin);
        if (!valid) break;
        parts.push_back({shards, {}});
        for (const LaneRun& run : *applied) parts.back().applied.set(run.lanes, run.position);
      }
      if (!valid) break;
      const ShardRange region{parts.front().shards.begin, parts.back().shards.end};
      if (!is_fresh(request, region)) {
        ++counts_.stale_refusals;
        return;
      }
      ++counts_.refused;
      learn(parts);
      return;
    }
    case pb::EffectAnswer::BUSY:
      ++counts_.busy;
      if (is_fresh(request, part)) {
        hold(part, request, limits_.busy_delay);
        destinations_.for_overlapping(part, [](Destination& destination) { destination.effects_max = 1; });
      }
      return;
    case pb::EffectAnswer::CATALOG_BEHIND:
      ++counts_.catalog_behind;
      if (is_fresh(request, part)) hold(part, request, limits_.busy_delay);
      return;
    default: break;
  }
  ++counts_.malformed;
}

// Not the owner, or not yet: the role has looked at the region map again. Asking finds the new owner.
void ViewManagerCore::on(uint64_t request, const pb::Refusal&) {
  for (Destination& destination : destinations_.all()) {
    const bool ours = std::any_of(destination.in_flight.begin(), destination.in_flight.end(),
                                  [&](const auto& batch) { return batch.request == request; });
    if (!ours && destination.asked != request) continue;
    destination.rewind(next_request_);
    destination.asking = true;
    destination.asked = 0;
    destination.waits_from = now_;
    destination.hold_until = Micros{now_.value + limits_.busy_delay.value};
  }
}

// Was it sent after what we last learnt of some of these shards?
bool ViewManagerCore::is_fresh(uint64_t request, ShardRange shards) const {
  for (const Destination& destination : destinations_.all()) {
    if (destination.shards.overlaps(shards) && request >= destination.fresh_from) return true;
  }
  return false;
}

void ViewManagerCore::answered(uint64_t request, ShardRange shards) {
  destinations_.for_overlapping(shards, [&](Destination& destination) {
    auto& in_flight = destination.in_flight;
    const auto batch = std::find_if(in_flight.begin(), in_flight.end(),
                                    [&](const auto& it) { return it.request == request; });
    if (batch == in_flight.end()) return;
    if (now_.value - batch->sent_at.value < limits_.stall_timeout.value) destination.patience = 1;
    in_flight.erase(batch);
    if (is_slow(destination)) destination.effects_max *= 2;
    destination.heard(now_);
  });
}

// Goes on from what was applied, after a while.
void ViewManagerCore::hold(ShardRange shards, uint64_t request, Micros delay) {
  destinations_.for_overlapping(shards, [&](Destination& destination) {
    if (request < destination.fresh_from) return;
    destination.rewind(next_request_);
    destination.heard(now_);
    destination.hold_until = Micros{now_.value + delay.value};
  });
}

// Marks what lies before the positions as applied on the shards.
void ViewManagerCore::apply_positions(ShardRange shards, const LaneRuns& positions) {
  Destination& destination = destinations_.of(shards.begin);
  const bool known = destination.shards == shards;
  for (auto& queue : queues_) {
    Position lowest{Generation{UINT32_MAX}, {}, 0};
    Position highest{};
    for (const ShardRange& range : queue->lanes().ranges()) {
      for (const LaneRun& run : positions.cover(range)) {
        lowest = std::min(lowest, run.position);
        highest = std::max(highest, run.position);
      }
    }
    queue->catch_up_until = std::max(queue->catch_up_until, highest);
    if (queue->entries().empty() || highest == Position{}) continue;
    Offset& from = destination.open_from[queue->serial()];
    bool all_before = known;
    for (size_t i = known ? queue->entry_at(from) : 0; i < queue->entries().size(); ++i) {
      EffectEntry& entry = *queue->entries()[i];
      if (entry.begin() >= highest) break;
      bool all = entry.acknowledge(shards, positions, lowest);
      all_before = all_before && all;
      if (all_before) from = Offset{entry.offset().value + 1};
    }
  }
}

void ViewManagerCore::learn(const std::vector<Destinations::Part>& parts) {
  const ShardRange region{parts.front().shards.begin, parts.back().shards.end};
  bool was_parked = false;
  destinations_.for_overlapping(region, [&](const Destination& d) { was_parked = was_parked || d.parked; });
  destinations_.learn(parts, next_request_);
  // With what was told before: it is not sent again.
  for (const Destinations::Part& part : parts)
    apply_positions(part.shards, destinations_.of(part.shards.begin).acked);
  if (!was_parked) return;
  ++counts_.unparked;
  for (auto& queue : queues_) {
    if (queue->pinned()) reopen(*queue);
  }
}

// ---- silence

// Whoever does not answer is asked; who does nothing for long may be parked.
void ViewManagerCore::check_silence() {
  for (Destination& destination : destinations_.all()) {
    if (destination.stalled_since == Micros{}) continue;
    const bool is_late = now_.value - destination.waits_from.value >= limits_.answer_timeout.value;
    if (!is_late && !TM_BUGGIFY("view manager: an answer is not waited for")) continue;
    ++counts_.timeouts;
    destination.question(next_request_, now_);
  }
}

// Memory is short: input for those that have done nothing for long is let go, and the others go on. Their
// lanes commit no further until the stalled ones have come back and the log was read again for them. (A busy
// one would say at once where it is, and be busy again.)
void ViewManagerCore::park_stalled() {
  for (Destination& destination : destinations_.all()) {
    if (destination.parked || destination.stalled_since == Micros{}) continue;
    const int64_t patience = limits_.stall_timeout.value * destination.patience;
    if (now_.value - destination.stalled_since.value < patience) continue;
    TM_PROBE("view manager: a stalled region is parked");
    destination.parked = true;
    // Else a late answer to a batch would end the waiting, and nothing would be left to send or to ask.
    if (!destination.asking) destination.question(next_request_, now_);
    ++counts_.parked;
    for (auto& queue : queues_) {
      for (const auto& entry : queue->entries()) {
        uint32_t count = entry->let_go(destination.shards);
        if (count == 0) continue;
        counts_.let_go += count;
        queue->pin(entry->offset());
      }
      settle(*queue);
    }
  }
}

}  // namespace tidemark
