// RegionState to and from the bytes of checkpoints and seeds.
#include <bit>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "node/region/region_state.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

Result<LaneRuns> read_runs(const PbLaneRuns& messages, ShardCount count) {
  Result<std::vector<LaneRun>> runs = tidemark::from_pb(messages, count);
  if (!runs) return runs.error();
  LaneRuns out;
  for (const LaneRun& run : *runs) out.set(run.lanes, run.position);
  return out;
}

void write_runs(const LaneRuns& runs, PbLaneRuns& out) {
  tidemark::to_pb(runs.runs(), out);
}

pb::ReaderState to_message(const ReaderState& state) {
  pb::ReaderState out;
  out.set_next(state.next.value);
  out.set_has_incarnation(state.incarnation.has_value());
  out.set_incarnation(state.incarnation.value_or(Offset{}).value);
  out.set_fence_version(state.fence_version.value);
  out.set_sealed(state.sealed);
  return out;
}

ReaderState from_message(const pb::ReaderState& state) {
  ReaderState out;
  out.next = Offset{state.next()};
  if (state.has_incarnation()) out.incarnation = Offset{state.incarnation()};
  out.fence_version = MapVersion{state.fence_version()};
  out.sealed = state.sealed();
  return out;
}

Result<RegionIdentity> read_identity(const pb::RegionSnapshot& snapshot) {
  RegionIdentity out{RegionId{snapshot.region()}, tidemark::from_pb(snapshot.shards()),
                     Generation{snapshot.generation()}, ShardCount{snapshot.shard_count()}};
  bool power_of_two = std::has_single_bit(out.shard_count.value);
  if (!power_of_two || out.shards.empty() || !out.shard_count.all().contains(out.shards)) {
    return Error{"a snapshot with impossible shards"};
  }
  return out;
}

}  // namespace

pb::RegionSnapshot RegionState::to_snapshot() const {
  pb::RegionSnapshot out;
  out.set_region(identity_.region.value);
  *out.mutable_shards() = tidemark::to_pb(identity_.shards);
  out.set_generation(identity_.generation.value);
  out.set_shard_count(identity_.shard_count.value);
  *out.mutable_reader() = to_message(reader_);
  out.set_last_change(last_change_.value);
  for (const OffsetRun& run : notable_.runs()) {
    pb::OffsetRun& message = *out.add_notable();
    message.set_begin(run.begin.value);
    message.set_end(run.end.value);
  }
  for (const RegionPart& part : parts_.all()) {
    pb::Part& message = *out.add_parts();
    *message.mutable_shards() = tidemark::to_pb(part.shards);
    write_runs(part.applied, *message.mutable_applied());
  }
  write_runs(committed_, *out.mutable_committed());
  for (const CutPoint& cut : cuts_) {
    auto& message = *out.add_cuts();
    message.set_ring_version(cut.ring.value);
    write_runs(cut.at, *message.mutable_at());
  }
  catalog_.to_pb(*out.mutable_catalog());
  for (const auto& [view, backfill] : backfills_) {
    auto& message = *out.add_backfills();
    message.set_view(view.value);
    message.set_cursor(backfill.cursor);
    message.set_done(backfill.done);
    write_runs(backfill.ended, *message.mutable_ended());
  }
  for (const auto& [key, pending] : pending_joins_) *out.add_pending_joins() = pending;
  sessions_.to_pb(*out.mutable_sessions());
  out.set_merging(merging_.value_or(ChangeId{}).value);
  for (ChangeId change : unmerged_) out.add_unmerged(change.value);
  if (seal_) *out.mutable_seal() = *seal_;
  return out;
}

Result<RegionState> RegionState::from_snapshot(const pb::RegionSnapshot& snapshot) {
  Result<RegionIdentity> identity = read_identity(snapshot);
  if (!identity) return identity.error();
  ShardCount count = identity->shard_count;
  RegionState out(*identity);
  out.reader_ = from_message(snapshot.reader());
  out.last_change_ = Offset{snapshot.last_change()};
  for (const pb::OffsetRun& run : snapshot.notable())
    out.notable_.add_run({Offset{run.begin()}, Offset{run.end()}});

  out.parts_ = Parts();
  ShardId at = identity->shards.begin;
  for (const pb::Part& part : snapshot.parts()) {
    ShardRange shards = tidemark::from_pb(part.shards());
    Result<LaneRuns> applied = read_runs(part.applied(), count);
    if (!applied) return applied.error();
    if (shards.empty() || shards.begin != at) return Error{"a snapshot with impossible parts"};
    at = shards.end;
    out.parts_.add({shards, std::move(*applied)});
  }
  if (at != identity->shards.end) return Error{"a snapshot with impossible parts"};

  Result<LaneRuns> committed = read_runs(snapshot.committed(), count);
  if (!committed) return committed.error();
  out.committed_ = std::move(*committed);
  out.cuts_.clear();
  for (const auto& cut : snapshot.cuts()) {
    Result<LaneRuns> position = read_runs(cut.at(), count);
    if (!position) return position.error();
    out.cuts_.push_back({RingVersion{cut.ring_version()}, std::move(*position)});
  }
  if (out.cuts_.empty()) return Error{"a snapshot without a ring"};

  Result<TableCatalog> catalog = TableCatalog::from_pb(snapshot.catalog());
  if (!catalog) return catalog.error();
  out.catalog_ = std::move(*catalog);
  for (const auto& backfill : snapshot.backfills()) {
    Result<LaneRuns> ended = read_runs(backfill.ended(), count);
    if (!ended) return ended.error();
    out.backfills_[TableId{backfill.view()}] = {backfill.cursor(), backfill.done(), std::move(*ended)};
  }
  for (const pb::PendingJoin& pending : snapshot.pending_joins()) out.apply_pending_join(pending);
  out.sessions_ = SessionTable::from_pb(snapshot.sessions());
  if (snapshot.merging() != 0) out.merging_ = ChangeId{snapshot.merging()};
  for (uint64_t change : snapshot.unmerged()) out.unmerged_.insert(ChangeId{change});
  if (snapshot.has_seal()) out.seal_ = snapshot.seal();
  return out;
}

uint64_t RegionState::hash() const {
  std::string bytes = to_snapshot().SerializeAsString();
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace tidemark
