#include "tests/region/rig.h"

#include <algorithm>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"
#include "node/store/store_key.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

StreamId stream_of(const RegionIdentity& identity) {
  return {1, identity.region};
}

}  // namespace

Position pos(uint32_t generation, uint64_t offset, uint32_t step) {
  return {Generation{generation}, Offset{offset}, step};
}

ShardRange shards(uint32_t begin, uint32_t end) {
  return {ShardId{begin}, ShardId{end}};
}

void add_put(std::string& out, const TestTable& table, const Cells& cells, OperationKind kind) {
  sql::EncodedRow row = table.encode(cells);
  append_operation(out, {kind, table.id(), row.hash, row.key, row.row, std::nullopt});
}

void add_delete(std::string& out, const TestTable& table, const Cells& cells) {
  sql::EncodedRow row = table.encode(cells);
  append_operation(out, {OperationKind::Delete, table.id(), row.hash, row.key, {}, std::nullopt});
}

void add_effect(std::string& out, EffectKind kind, const TestTable& table, const Cells& cells) {
  sql::EncodedRow row = table.encode(cells);
  if (kind == EffectKind::Delete) row.row.clear();
  append_effect(out, {kind, table.id(), row.hash, row.key, row.row});
}

pb::EffectBatch make_batch(ShardRange part, const std::vector<LaneSpan>& lanes, std::string effects,
                           uint64_t catalog_version) {
  pb::EffectBatch out;
  *out.mutable_part() = to_pb(part);
  for (const LaneSpan& lane : lanes) {
    pb::LaneStep& step = *out.add_lanes();
    *step.mutable_lanes() = to_pb(lane.lanes);
    *step.mutable_prev() = to_pb(lane.prev);
    *step.mutable_to() = to_pb(lane.to);
    *step.mutable_floor() = to_pb(lane.floor);
  }
  out.set_effects(std::move(effects));
  out.set_catalog_version(catalog_version);
  return out;
}

Rig::Rig(RegionIdentity identity, RegionOptions options)
    : Rig(RegionState(identity), MemoryRowStore(identity.shard_count), std::make_shared<TestLog>(), options) {
}

Rig::Rig(RegionState state, MemoryRowStore rows, std::shared_ptr<TestLog> log, RegionOptions options)
    : options_(options),
      rows_(std::make_unique<MemoryRowStore>(std::move(rows))),
      log_(std::move(log)),
      rule_(stream_of(state.identity()), state.reader()) {
  region_ = std::make_unique<Region>(std::move(state), *rows_, arithmetic_, options);
}

Asker Rig::asker() {
  return {Address{"peer"}, ++last_request_};
}

void Rig::take(RegionCommands& out) {
  for (AppendCommand& append : out.appends) {
    TM_ASSERT(append.at.value == log_->records.size() + in_flight_.size(), append.at);
    in_flight_.push_back(std::move(append));
  }
  for (SendCommand& send : out.sends) replies_[send.message->request()] = *send.message;
  for (AskCommitted& ask : out.asks) asks_.push_back(std::move(ask));
  refence_ = refence_ || out.refence;
}

void Rig::deliver(Offset at, const WalRecord& record) {
  Result<Verdict> verdict = rule_.step(record.header);
  TM_ASSERT(verdict.ok());
  if (*verdict != Verdict::Valid) return;
  RegionCommands out;
  Status status = region_->on_record(at, record, rule_.state(), out);
  TM_ASSERT(status.ok(), at);
  take(out);
}

void Rig::read_log() {
  for (uint64_t at = rule_.state().next.value; at < log_->records.size(); ++at) {
    const WalRecord& record = log_->records[at].value();
    deliver(Offset{at}, record);
  }
}

void Rig::open(uint64_t map_version) {
  WalRecord fence;
  fence.header = {RecordKind::Fence, stream_of(state().identity()), {}, {}, MapVersion{map_version}, 1};
  log_->records.push_back(fence);
  read_log();
  incarnation_ = Offset{log_->records.size() - 1};
  RegionCommands out;
  region_->on_opened(*incarnation_, MapVersion{map_version}, out);
  take(out);
}

size_t Rig::land(size_t count) {
  size_t landed = 0;
  for (; landed < count && !in_flight_.empty(); ++landed) {
    AppendCommand append = std::move(in_flight_.front());
    in_flight_.pop_front();
    WalRecord record{{append.kind, stream_of(state().identity()), *incarnation_, append.at, {}, 0},
                     std::move(append.payload)};
    log_->records.push_back(record);
    deliver(append.at, record);
  }
  return landed;
}

void Rig::end(size_t landing) {
  std::deque<AppendCommand> lost = std::exchange(in_flight_, {});
  RegionCommands out;
  region_->on_ended(out);
  take(out);
  for (size_t i = 0; i < landing && i < lost.size(); ++i) {
    log_->records.push_back(
        WalRecord{{lost[i].kind, stream_of(state().identity()), *incarnation_, lost[i].at, {}, 0},
                  std::move(lost[i].payload)});
  }
  incarnation_.reset();
  read_log();
}

void Rig::tick(int64_t micros) {
  now_.value += micros;
  RegionCommands out;
  region_->on_tick(now_, out);
  take(out);
}

void Rig::settle() {
  for (int quiet = 0; quiet < 2;) {
    tick(100'000);
    quiet = land() > 0 ? 0 : quiet + 1;
  }
}

// ---- messages

uint64_t Rig::open_session() {
  RegionCommands out;
  region_->on_open_session(asker(), {}, out);
  take(out);
  return last_request_;
}

uint64_t Rig::write(const pb::WriteRequest& request) {
  RegionCommands out;
  region_->on_write(asker(), request, out);
  take(out);
  return last_request_;
}

uint64_t Rig::effects(const pb::EffectBatch& batch) {
  RegionCommands out;
  region_->on_effects(asker(), batch, out);
  take(out);
  return last_request_;
}

uint64_t Rig::positions() {
  RegionCommands out;
  region_->on_positions(asker(), out);
  take(out);
  return last_request_;
}

uint64_t Rig::wait(const pb::WaitRequest& request) {
  RegionCommands out;
  region_->on_wait(asker(), request, out);
  take(out);
  return last_request_;
}

uint64_t Rig::get(const TestTable& table, const Cells& cells, Position seen) {
  sql::EncodedRow row = table.encode(cells);
  pb::GetRequest request;
  request.set_table(table.id().value);
  request.add_keys(row.key);
  request.add_hashes(row.hash);
  *request.mutable_seen() = to_pb(seen);
  return get(request);
}

uint64_t Rig::get(const pb::GetRequest& request) {
  RegionCommands out;
  region_->on_get(asker(), request, out);
  take(out);
  return last_request_;
}

uint64_t Rig::scan(const pb::ScanRequest& request) {
  RegionCommands out;
  region_->on_scan(asker(), request, out);
  take(out);
  return last_request_;
}

uint64_t Rig::committed_request(const std::vector<LaneRun>& wanted) {
  pb::CommittedRequest request;
  to_pb(wanted, *request.mutable_wanted());
  RegionCommands out;
  region_->on_committed_request(asker(), request, out);
  take(out);
  return last_request_;
}

void Rig::report(ShardRange lanes, Position position) {
  RegionCommands out;
  region_->on_committed_report({{lanes, position}}, out);
  take(out);
}

void Rig::committed_positions(ShardRange lanes, Position position) {
  RegionCommands out;
  region_->on_committed_positions({{lanes, position}}, out);
  take(out);
}

void Rig::facts(const RegionFacts& facts) {
  RegionCommands out;
  region_->on_facts(facts, out);
  take(out);
}

void Rig::split(uint64_t low, uint64_t high) {
  const ShardRange all = state().identity().shards;
  const ShardId middle{all.begin.value + (all.end.value - all.begin.value) / 2};
  RegionFacts asked;
  asked.map_version = MapVersion{2};
  asked.child_generation = Generation{2};
  pb::RegionChange& change = asked.change.emplace();
  change.set_phase(pb::RegionChange::SPLIT_SEAL);
  for (auto [region, shards] : {std::pair(low, ShardRange{all.begin, middle}), {high, {middle, all.end}}}) {
    pb::RegionChange::Child& child = *change.add_children();
    child.set_region(region);
    *child.mutable_shards() = to_pb(shards);
  }
  facts(asked);
}

void Rig::catalog(const TestCatalog& catalog) {
  RegionCommands out;
  region_->on_catalog(catalog.get(), out);
  take(out);
}

void Rig::ring(uint64_t version) {
  RegionCommands out;
  region_->on_ring(RingVersion{version}, out);
  take(out);
}

const pb::Message& Rig::reply(uint64_t request) const {
  auto it = replies_.find(request);
  TM_ASSERT(it != replies_.end(), request);
  return it->second;
}

// ---- the whole way

pb::SessionName Rig::session() {
  uint64_t request = open_session();
  settle();
  return reply(request).session_opened().session();
}

pb::WriteRequest Rig::request(const pb::SessionName& session, uint64_t number, std::string operations,
                              uint64_t lowest) const {
  pb::WriteRequest out;
  *out.mutable_session() = session;
  out.set_number(number);
  out.set_lowest_unanswered(lowest);
  out.set_operations(std::move(operations));
  return out;
}

pb::WriteReply Rig::put(const TestTable& table, const Cells& cells) {
  if (!put_session_) put_session_ = session();
  std::string operations;
  add_put(operations, table, cells);
  ++put_number_;
  uint64_t asked = write(request(*put_session_, put_number_, operations, put_number_));
  settle();
  return reply(asked).written();
}

void Rig::apply(const std::string& effects) {
  const RegionPart& part = state().parts().all().front();
  TM_ASSERT(state().parts().size() == 1);
  ++batches_;
  uint64_t asked = this->effects(make_batch(
      part.shards, {{shards(0, 1), part.applied.at(ShardId{0}), pos(90, batches_), pos(0, 0)}}, effects));
  settle();
  TM_ASSERT(verdict(asked) == pb::EffectAnswer::APPLIED);
}

std::optional<Cells> Rig::row(const TestTable& table, const Cells& key) {
  sql::EncodedRow encoded = table.encode(key);
  auto row = rows_->get(table.id(), encoded.hash, encoded.key);
  if (!row) return std::nullopt;
  return table.decode(encoded.key, *row);
}

std::vector<Cells> Rig::all(const TestTable& table) {
  std::vector<Cells> out;
  for (const auto& [place, row] : rows_->all()) {
    DecodedStoreKey key = *decode_store_key(place);
    if (key.table == table.id()) out.push_back(table.decode(key.key, row));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<pb::RecordBody> Rig::bodies() const {
  std::vector<pb::RecordBody> out;
  for (const auto& record : log_->records) {
    if (!record || record->header.kind != RecordKind::Body) continue;
    TM_ASSERT(out.emplace_back().ParseFromString(record->payload));
  }
  return out;
}

pb::RecordBody Rig::last_body() const {
  return bodies().back();
}

uint64_t hash_of(const RegionState& state, const MemoryRowStore& rows) {
  std::string all;
  for (const auto& [key, row] : rows.all()) {
    put_bytes(all, key);
    put_bytes(all, row);
  }
  return XXH3_64bits_withSeed(all.data(), all.size(), state.hash());
}

uint64_t Rig::hash() const {
  return hash_of(state(), *rows_);
}

}  // namespace tidemark
