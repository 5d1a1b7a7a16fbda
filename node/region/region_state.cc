#include "node/region/region_state.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/mutation.h"
#include "proto/change.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

LaneRuns all_at(ShardRange lanes, Position position) {
  LaneRuns out;
  out.set(lanes, position);
  return out;
}

std::vector<LaneRun> runs_of(const PbLaneRuns& messages) {
  std::vector<LaneRun> out;
  out.reserve(static_cast<size_t>(messages.size()));
  for (const pb::LaneRun& run : messages) out.push_back({from_pb(run.lanes()), from_pb(run.position())});
  return out;
}

Status write_rows(std::string_view changes, RowStore& rows) {
  ChangeReader reader(changes);
  std::array<Change, kPrefetchRows> next;
  std::array<RowAddress, kPrefetchRows> places;
  for (size_t count = 1; count > 0;) {
    for (count = 0; count < next.size() && reader.next(next[count]); ++count) {
      places[count] = {next[count].table, next[count].hash, next[count].key};
    }
    rows.prefetch({places.data(), count});
    for (size_t i = 0; i < count; ++i) {
      const Change& change = next[i];
      if (change.after) {
        rows.put(change.table, change.hash, change.key, *change.after);
      } else {
        rows.erase(change.table, change.hash, change.key);
      }
    }
  }
  if (!reader.ok()) return Error{"a record with malformed changes"};
  return {};
}

}  // namespace

RegionState::RegionState(const RegionIdentity& identity)
    : identity_(identity),
      parts_(identity.shards),
      committed_(all_at(identity.shards, {identity.generation, Offset{}, 0})),
      cuts_{{RingVersion{}, {}}} {
  TM_ASSERT(!identity.shards.empty(), identity.shards);
}

RingVersion RegionState::ring_at(ShardId lane, Position position) const {
  auto cut = std::find_if(cuts_.rbegin(), cuts_.rend() - 1,
                          [&](const CutPoint& c) { return c.at.at(lane) <= position; });
  return cut->ring;
}

bool RegionState::is_worth_recording(ShardRange lanes, Position committed) const {
  std::vector<LaneRun> runs = committed_.cover(lanes);
  return std::any_of(runs.begin(), runs.end(), [&](const LaneRun& run) {
    if (run.position >= committed) return false;
    if (TM_MUTATION("every progress is recorded")) return true;
    if (run.position.generation < identity_.generation)  // Of a parent: it ends at the seal.
      return !TM_MUTATION("progress past a seal is not recorded");
    return notable_.any_in(run.position.offset, committed.offset);
  });
}

Offset RegionState::committed_floor() const {
  Position lowest = committed_.lowest(identity_.shards);
  return lowest.generation < identity_.generation ? Offset{0} : lowest.offset;
}

uint64_t RegionState::records_behind() const {
  if (notable_.runs().empty()) return 0;
  return reader_.next.value - notable_.runs().front().begin.value;
}

std::vector<TableId> RegionState::backfilling() const {
  std::vector<TableId> out;
  catalog_.for_each([&](const Table& table) {
    if (table.definition->kind() != pb::VIEW) return;
    auto backfill = backfills_.find(table.id);
    const bool fills = backfill != backfills_.end() &&
                       !(TM_MUTATION("filled when the last page is written") && backfill->second.done);
    if (table.definition->begun() == 0 || fills) out.push_back(table.id);
  });
  return out;
}

bool RegionState::all_backfilled() const {
  if (TM_MUTATION("merge before every view has begun")) return true;
  bool all_begun = true;
  catalog_.for_each([&](const Table& table) {
    if (table.definition->kind() == pb::VIEW && table.definition->begun() == 0) all_begun = false;
  });
  if (!all_begun) return false;
  return std::all_of(backfills_.begin(), backfills_.end(), [](const auto& it) { return it.second.done; });
}

bool RegionState::committed_past_parents() const {
  return committed_.all_reached(identity_.shards, {identity_.generation, Offset{}, 0});
}

Result<DecodedRecord> decode_payload(Offset at, const WalRecord& record) {
  DecodedRecord out{at, record.header.kind, nullptr, nullptr};
  if (out.kind == RecordKind::Body) {
    auto body = std::make_shared<pb::RecordBody>();
    if (!body->ParseFromString(record.payload)) return Error{"a malformed record body"};
    out.body = std::move(body);
  } else if (out.kind == RecordKind::Seal) {
    auto seal = std::make_shared<pb::Seal>();
    if (!seal->ParseFromString(record.payload)) return Error{"a malformed seal"};
    out.seal = std::move(seal);
  }
  return out;
}

Status RegionState::apply(const DecodedRecord& record, const ReaderState& after, RowStore& rows) {
  if (record.body) TM_TRY(apply_body(record.at, *record.body, rows));
  if (record.seal) seal_ = *record.seal;
  reader_ = after;
  return {};
}

Status RegionState::apply_body(Offset at, const pb::RecordBody& body, RowStore& rows) {
  switch (body.body_case()) {
    case pb::RecordBody::kCommit: {
      const pb::Commit& commit = body.commit();
      TM_TRY(write_rows(commit.changes(), rows));
      for (const pb::RequestMark& mark : commit.requests()) {
        if (!sessions_.mark(tidemark::from_pb(mark.session()), mark.number(), mark.lowest_unanswered(),
                            mark.outcome())) {
          return Error{"a record with a malformed request mark"};
        }
      }
      for (const pb::AppliedBatch& batch : commit.batches()) apply_batch(batch);
      for (const pb::PendingJoin& pending : commit.pending_joins()) apply_pending_join(pending);
      if (!commit.changes().empty()) note_change(at);
      break;
    }
    case pb::RecordBody::kCatalog: {
      std::vector<TableId> dropped;
      TM_TRY(apply_catalog(body.catalog(), dropped));
      rows.erase_tables(dropped, identity_.shards);
      break;
    }
    default: return apply_control(at, body);
  }
  return {};
}

Status RegionState::apply_control(Offset at, const pb::RecordBody& body) {
  switch (body.body_case()) {
    case pb::RecordBody::kProgress: apply_progress(body.progress()); break;
    case pb::RecordBody::kRaise: parts_.raise(runs_of(body.raise().committed())); break;
    case pb::RecordBody::kCut: apply_cut(at, RingVersion{body.cut().ring_version()}); break;
    case pb::RecordBody::kBackfillPage: apply_page(at, body.backfill_page()); break;
    case pb::RecordBody::kJoinPage: apply_join_page(at, body.join_page()); break;
    case pb::RecordBody::kOpenSession: sessions_.open({identity_.region, at}, identity_.shards); break;
    case pb::RecordBody::kExpireSession:
      sessions_.expire(tidemark::from_pb(body.expire_session().session()));
      break;
    case pb::RecordBody::kMerging: merging_ = ChangeId{body.merging().change()}; break;
    case pb::RecordBody::kUnmerge:
      merging_.reset();
      unmerged_.insert(ChangeId{body.unmerge().change()});
      break;
    default: return Error{"a record body that this version does not know"};
  }
  return {};
}

void RegionState::apply_batch(const pb::AppliedBatch& batch) {
  parts_.apply(tidemark::from_pb(batch.part()), runs_of(batch.floors()), runs_of(batch.to()));
}

void RegionState::apply_pending_join(const pb::PendingJoin& pending) {
  pending_joins_[join_key_of(catalog_, TableId{pending.table()}, pending.join_key())] = pending;
}

void RegionState::apply_progress(const pb::Progress& progress) {
  for (const LaneRun& run : runs_of(progress.committed())) committed_.raise(run.lanes, run.position);
  forget_passed();
}

// What every lane has committed past needs no remembering.
void RegionState::forget_passed() {
  auto passed = [this](const LaneRuns& positions) {
    return std::all_of(positions.runs().begin(), positions.runs().end(), [this](const LaneRun& run) {
      return committed_.all_reached(run.lanes, run.position);
    });
  };
  while (cuts_.size() > 1 && passed(cuts_[1].at)) cuts_.erase(cuts_.begin());
  std::erase_if(backfills_, [&](const auto& it) { return it.second.done && passed(it.second.ended); });
  notable_.forget_before(committed_floor());
}

void RegionState::apply_cut(Offset at, RingVersion ring) {
  if (ring <= this->ring()) return;
  cuts_.push_back({ring, all_at(identity_.shards, {identity_.generation, Offset{at.value + 1}, 0})});
  notable_.add(at);
}

Status RegionState::apply_catalog(const pb::CatalogChange& change, std::vector<TableId>& dropped) {
  TM_TRY(catalog_.apply(change, dropped));
  for (TableId table : dropped) {
    backfills_.erase(table);
    std::erase_if(pending_joins_, [table](const auto& it) { return it.first.first == table; });
  }
  for (const pb::TableDefinition& definition : change.tables()) {
    bool begins = definition.kind() == pb::VIEW && definition.begun() == change.version();
    if (begins && definition.dropped() == 0) backfills_[TableId{definition.id()}] = {};
  }
  return {};
}

void RegionState::apply_page(Offset at, const pb::BackfillPage& page) {
  if (!page.changes().empty()) note_change(at);
  auto it = backfills_.find(TableId{page.view()});
  if (it == backfills_.end()) return;
  it->second.cursor = page.cursor();
  if (!page.last()) return;
  it->second.done = true;
  it->second.ended = all_at(identity_.shards, {identity_.generation, Offset{at.value + 1}, 0});
  if (!TM_MUTATION("progress past the end of a backfill is not recorded")) notable_.add(at);
}

void RegionState::apply_join_page(Offset at, const pb::JoinPage& page) {
  if (!page.changes().empty()) note_change(at);
  JoinKey key = join_key_of(catalog_, TableId{page.next().table()}, page.next().join_key());
  if (page.last()) {
    pending_joins_.erase(key);
  } else {
    pending_joins_[key] = page.next();
  }
}

void RegionState::note_change(Offset at) {
  last_change_ = Offset{at.value + 1};
  notable_.add(at);
}

JoinKey join_key_of(const TableCatalog& catalog, TableId side, std::string_view join_key) {
  const Table* table = catalog.find(side);
  TableId partner{table == nullptr ? 0 : table->definition->partner()};
  return {partner.value == 0 ? side : std::min(side, partner), std::string(join_key)};
}

}  // namespace tidemark
