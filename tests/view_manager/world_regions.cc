// The naive regions of the world: queues, batches, reports.
#include <algorithm>
#include <sstream>

#include "base/assert.h"
#include "proto/convert.h"
#include "proto/queue.h"
#include "tests/view_manager/world.h"

namespace tidemark {

using sample::Ints;

World::Process* World::alive(const std::string& identity) {
  for (auto& process : processes_) {
    if (process->identity == identity) return process.get();
  }
  return nullptr;
}

// ---- queues

namespace {

std::string member_of(const pb::Ring& ring, ShardId lane) {
  for (const pb::Ring::Slice& slice : ring.slices()) {
    if (from_pb(slice.shards()).contains(lane)) return ring.members(static_cast<int>(slice.member()));
  }
  TM_UNREACHABLE();
}

}  // namespace

// Every lane is queued at the owner by the ring in force at its committed position, or at the newest owner if
// that one is dead, from the stream in which the position lies.
void World::serve(Region& region) {
  if (region.sealed || region.silent) return;
  std::map<std::pair<Address, RegionId>, std::vector<LaneRun>> wanted;
  for (uint32_t i = region.shards.begin.value; i < region.shards.end.value; ++i) {
    const ShardId lane{i};
    const ShardRange one{lane, ShardId{i + 1}};
    const Position position = region.committed.at(lane);
    Process* process = alive(member_of(rings_[ring_at(lane, position) - 1], lane));
    if (process == nullptr) process = alive(member_of(rings_[region.ring - 1], lane));
    if (process == nullptr) continue;
    const RegionId stream = stream_of(lane, position.generation).id;
    bool found = false;
    for (Queue& queue : region.queues) {
      if (!queue.lanes.contains(lane)) continue;
      const Position stop = queue.stops.at(lane);
      const bool stopped = stop != Position{} && position >= stop;
      if (queue.view_manager == process->address && queue.stream == stream && !stopped) {
        found = true;
      } else if (alive(queue.view_manager.value.substr(0, queue.view_manager.value.find('#'))) == nullptr ||
                 random_.chance(0.7)) {
        queue.lanes.remove(one);
        auto message = std::make_shared<pb::Message>();
        message->mutable_queue_close()->set_region(region.id.value);
        message->mutable_queue_close()->set_epoch(queue.epoch);
        message->mutable_queue_close()->set_sequence(queue.sequence++);
        *message->mutable_queue_close()->add_lanes() = to_pb(one);
        send(region.address(), queue.view_manager, std::move(message));
      }
    }
    if (!found) wanted[{process->address, stream}].push_back({one, position});
  }
  std::erase_if(region.queues, [](const Queue& queue) { return queue.lanes.empty(); });
  for (auto& [where, lanes] : wanted) {
    Region& stream = stream_of(lanes.front().lanes.begin, lanes.front().position.generation);
    Queue queue;
    queue.view_manager = where.first;
    queue.stream = where.second;
    queue.epoch = next_epoch_++;
    queue.next = lanes.front().position.offset;
    for (const LaneRun& run : lanes) {
      queue.lanes.add(run.lanes);
      queue.next = std::min(queue.next, run.position.offset);
    }
    auto message = std::make_shared<pb::Message>();
    pb::QueueOpen& open = *message->mutable_queue_open();
    open.set_region(region.id.value);
    open.set_generation(stream.generation.value);
    *open.mutable_shards() = to_pb(stream.shards);
    open.set_epoch(queue.epoch);
    open.set_identity(where.first.value.substr(0, where.first.value.find('#')));
    to_pb(lanes, *open.mutable_lanes());
    queue.open = message;
    send(region.address(), queue.view_manager, std::move(message));
    region.queues.push_back(std::move(queue));
  }
  for (Queue& queue : region.queues) send_records(region, queue);
}

void World::send_records(Region& region, Queue& queue) {
  if (!queue.opened) {
    send(region.address(), queue.view_manager, std::make_shared<pb::Message>(*queue.open));
    return;
  }
  Region& stream = **std::find_if(regions_.begin(), regions_.end(),
                                  [&](const auto& other) { return other->id == queue.stream; });
  auto message = std::make_shared<pb::Message>();
  pb::QueueRecords& records = *message->mutable_queue_records();
  records.set_region(region.id.value);
  records.set_epoch(queue.epoch);
  std::optional<pb::QueueEntry> left_out;
  while (queue.cost < queue.credit && queue.next.value < stream.log.size()) {
    const pb::QueueEntry& full = stream.log[queue.next.value++];
    pb::QueueEntry entry = full;
    entry.clear_changes();
    if (full.has_cut()) {
      const std::string& address = queue.view_manager.value;
      for (const ShardRange& range : queue.lanes.ranges()) {
        for (uint32_t lane = range.begin.value; lane < range.end.value; ++lane) {
          const pb::Ring& ring = rings_[full.cut().ring_version() - 1];
          if (member_of(ring, ShardId{lane}) == address.substr(0, address.find('#'))) continue;
          if (queue.stops.at(ShardId{lane}) != Position{}) continue;
          queue.stops.set({ShardId{lane}, ShardId{lane + 1}},
                          {stream.generation, Offset{full.offset() + 1}, 0});
        }
      }
    }
    ChangeReader reader(full.changes());
    uint64_t hash = 0;
    std::string_view encoded;
    while (reader.next_raw(hash, encoded)) {
      const ShardId lane = kShards.shard_of(hash);
      const bool stopped = queue.stops.at(lane) != Position{};
      if (queue.lanes.contains(lane) && !stopped) entry.mutable_changes()->append(encoded);
    }
    const bool control = entry.has_cut() || entry.has_seal() || entry.has_progress();
    if (entry.changes().empty() && !control && random_.chance(0.7)) {
      left_out = entry;  // A later entry says how far the stream has come.
      continue;
    }
    left_out.reset();
    queue.cost += queue_entry_cost(entry);
    *records.add_entries() = std::move(entry);
    if (random_.chance(chop_)) break;
  }
  if (left_out) {
    queue.cost += queue_entry_cost(*left_out);
    *records.add_entries() = std::move(*left_out);
  }
  // A lost message is noticed by the next: when nothing else comes, one without entries.
  if (records.entries_size() == 0 && !random_.chance(0.1)) return;
  records.set_sequence(queue.sequence++);
  send(region.address(), queue.view_manager, std::move(message));
}

void World::on_message(Region& region, const InFlight& in) {
  const pb::Message& message = *in.message;
  auto queue_of = [&](uint64_t epoch) -> Queue* {
    for (Queue& queue : region.queues) {
      if (queue.epoch == epoch && queue.view_manager == in.from) return &queue;
    }
    return nullptr;
  };
  switch (message.body_case()) {
    case pb::Message::kQueueCredit:
      if (Queue* queue = queue_of(message.queue_credit().epoch())) {
        queue->opened = true;
        queue->credit = std::max<size_t>(queue->credit, message.queue_credit().bytes());
        send_records(region, *queue);
      }
      break;
    case pb::Message::kQueueClose:
      if (Queue* queue = queue_of(message.queue_close().epoch())) {
        queue->lanes = {};  // Opened anew when next served.
        std::erase_if(region.queues, [](const Queue& one) { return one.lanes.empty(); });
      }
      break;
    case pb::Message::kCommitted:
      on_report(region, message.committed());
      if (queue_of(message.committed().epoch()) == nullptr) {
        auto close = std::make_shared<pb::Message>();
        close->mutable_queue_close()->set_region(region.id.value);
        close->mutable_queue_close()->set_epoch(message.committed().epoch());
        send(region.address(), in.from, std::move(close));
      }
      break;
    case pb::Message::kEffects: on_batch(region, in, message.effects()); break;
    case pb::Message::kPositions: answer(region, in, pb::EffectAnswer::REFUSED); break;
    default: fail("a message that no region expects");
  }
}

void World::on_report(Region& region, const pb::CommittedReport& report) {
  pb::QueueEntry entry;
  for (const pb::LaneRun& run : report.lanes()) {
    const Position position = from_pb(run.position());
    for (uint32_t i = run.lanes().begin(); i < run.lanes().end(); ++i) {
      const ShardId lane{i};
      for (const Truth& truth : truth_[i]) {
        if (truth.start >= position) continue;
        for (const Part& part : owner(truth.shard).parts) {
          if (part.shards.contains(truth.shard) && part.applied.at(lane) <= truth.start &&
              owner(lane).committed.at(lane) <= truth.start) {
            std::ostringstream what;
            what << "lane " << lane << " is reported to have committed " << position << " by epoch "
                 << report.epoch() << ", but its effect at " << truth.start << " is not applied at shard "
                 << truth.shard << ", which is at " << part.applied.at(lane);
            for (const auto* all : {&processes_, &zombies_}) {
              for (const auto& process : *all)
                what << '\n' << process->address << '\n' << process->core->describe();
            }
            fail(what.str());
          }
        }
      }
      if (!region.shards.contains(lane)) continue;  // It has moved on: its present region will hear of it.
      const Position recorded = region.committed.at(lane);
      if (position <= recorded || !passes(lane, recorded, position, Whose::Anybodys)) continue;
      region.committed.set({lane, ShardId{i + 1}}, position);
      to_pb({{{lane, ShardId{i + 1}}, position}}, *entry.mutable_progress()->mutable_committed());
    }
  }
  if (entry.has_progress()) append(region, std::move(entry));
}

bool World::passes(ShardId lane, Position from, Position to, Whose changes) {
  for (const auto& region : regions_) {
    if (!region->shards.contains(lane)) continue;
    for (const pb::QueueEntry& entry : region->log) {
      Position at{region->generation, Offset{entry.offset()}, 0};
      if (at < Position{from.generation, from.offset, 0} || at >= to) continue;
      if (entry.has_cut() || entry.has_seal()) return true;
      if (changes == Whose::Anybodys && !entry.changes().empty()) return true;
      ChangeReader reader(entry.changes());
      for (Change change; reader.next(change);) {
        if (kShards.shard_of(change.hash) == lane) return true;
      }
    }
  }
  return false;
}

// ---- batches

void World::answer(Region& region, const InFlight& asked, pb::EffectAnswer::Verdict verdict) {
  auto message = std::make_shared<pb::Message>();
  message->set_request(asked.message->request());
  pb::EffectAnswer& out = *message->mutable_effects_answer();
  out.set_verdict(verdict);
  out.set_region(region.id.value);
  if (asked.message->has_effects()) *out.mutable_part() = asked.message->effects().part();
  if (verdict == pb::EffectAnswer::APPLIED) {
    for (const pb::LaneStep& step : asked.message->effects().lanes()) {
      pb::LaneRun& run = *out.add_to();
      *run.mutable_lanes() = step.lanes();
      *run.mutable_position() = step.to();
    }
  }
  if (verdict == pb::EffectAnswer::REFUSED) {
    for (const Part& part : region.parts) {
      pb::Part& told = *out.add_parts();
      *told.mutable_shards() = to_pb(part.shards);
      to_pb(part.applied.runs(), *told.mutable_applied());
    }
  }
  send(region.address(), asked.from, std::move(message));
}

// The rule of "Batches", by the letter.
std::string World::admit(Region& region, const pb::EffectBatch& batch, Part*& part) {
  for (Part& one : region.parts) {
    if (one.shards == from_pb(batch.part())) part = &one;
  }
  if (part == nullptr) return "refuse";
  bool accept = true, drop = true;
  for (const pb::LaneStep& step : batch.lanes()) {
    for (uint32_t lane = step.lanes().begin(); lane < step.lanes().end(); ++lane) {
      Position at = std::max(part->applied.at(ShardId{lane}), from_pb(step.floor()));
      accept = accept && at == from_pb(step.prev());
      drop = drop && at >= from_pb(step.to());
    }
  }
  return accept ? "accept" : drop ? "drop" : "refuse";
}

void World::on_batch(Region& region, const InFlight& in, const pb::EffectBatch& batch) {
  if (batch.effects().empty()) fail("a batch without effects");
  if (!region.shards.contains(from_pb(batch.part()).begin)) return;
  EffectReader reader(batch.effects());
  Effect effect;
  int sides = 0;
  while (reader.next(effect)) sides += effect.table == sample::kSideA || effect.table == sample::kSideB;
  Part* part = nullptr;
  const std::string verdict = admit(region, batch, part);
  ++probes_["batch: " + verdict];
  if (verdict == "refuse") return answer(region, in, pb::EffectAnswer::REFUSED);
  if (verdict == "drop") return answer(region, in, pb::EffectAnswer::APPLIED);
  if (sides > 1 && random_.chance(busy_)) return answer(region, in, pb::EffectAnswer::BUSY);
  if (random_.chance(busy_ / 10)) return answer(region, in, pb::EffectAnswer::CATALOG_BEHIND);
  verify(region, batch);
  for (const pb::LaneStep& step : batch.lanes()) {
    for (Part& one : region.parts) one.applied.raise(from_pb(step.lanes()), from_pb(step.floor()));
    part->applied.set(from_pb(step.lanes()), from_pb(step.to()));
  }
  apply(region, batch);
  answer(region, in, pb::EffectAnswer::APPLIED);
}

// Exactly the effects that the log has for the part between prev and to, in order, combined.
void World::verify(const Region& region, const pb::EffectBatch& batch) {
  using Key = std::pair<TableId, Ints>;
  std::map<Key, std::pair<EffectKind, Ints>> want, have;
  const ShardRange shards = from_pb(batch.part());
  for (const pb::LaneStep& step : batch.lanes()) {
    for (uint32_t lane = step.lanes().begin(); lane < step.lanes().end(); ++lane) {
      std::vector<const Truth*> due;
      for (const Truth& truth : truth_[lane]) {
        if (truth.start < from_pb(step.prev()) || truth.start >= from_pb(step.to())) continue;
        if (shards.contains(truth.shard)) due.push_back(&truth);
      }
      std::sort(due.begin(), due.end(), [](const Truth* a, const Truth* b) { return a->start < b->start; });
      for (const Truth* truth : due) {
        auto [it, fresh] = want.try_emplace({truth->table, truth->key}, truth->kind, truth->row);
        if (fresh) continue;
        if (truth->kind != EffectKind::Add) {
          it->second = {truth->kind, truth->row};
        } else {
          for (size_t i = 0; i < truth->row.size(); ++i) it->second.second[i] += truth->row[i];
        }
      }
    }
  }
  EffectReader reader(batch.effects());
  Effect effect;
  while (reader.next(effect)) {
    Ints row;
    if (effect.kind != EffectKind::Delete) {
      row = sample::ints_of_row(effect.row, sample::columns_of(effect.table));
    }
    if (!have.try_emplace({effect.table, sample::ints_of_key(effect.key)}, effect.kind, row).second) {
      fail("a row twice in one batch");
    }
  }
  if (!reader.ok()) fail("malformed effects");
  if (have != want) fail("order/once: region " + std::to_string(region.id.value));
}

void World::apply(Region& region, const pb::EffectBatch& batch) {
  pb::QueueEntry entry;
  EffectReader reader(batch.effects());
  Effect effect;
  while (reader.next(effect)) {
    const Ints key = sample::ints_of_key(effect.key);
    const size_t columns = sample::columns_of(effect.table);
    std::optional<Ints> after;
    if (effect.kind != EffectKind::Delete) after = sample::ints_of_row(effect.row, columns);
    if (effect.kind == EffectKind::Add) {
      auto found = region.rows[effect.table].find(key);
      if (found != region.rows[effect.table].end()) {
        for (size_t i = 0; i < columns; ++i) (*after)[i] += found->second[i];
      }
      if (after->at(0) == 0) after.reset();
    }
    change(region, effect.table, key, after, entry);
  }
  append(region, std::move(entry));
}

}  // namespace tidemark
