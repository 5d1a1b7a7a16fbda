#include "node/region/region.h"

#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/mutation.h"
#include "node/region/owner.h"
#include "node/region/replies.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

// What the coordinator acts on.
auto headline(const RegionState& state) {
  return std::tuple(state.ring(), state.ring_acknowledged(), state.catalog().version(), state.merging(),
                    state.unmerged().size(), state.seal().has_value(), state.backfills().size(),
                    state.parts().size(), state.committed_past_parents());
}

}  // namespace

void RegionCommands::clear() {
  appends.clear();
  sends.clear();
  applied.clear();
  asks.clear();
  refence = false;
  status_changed = false;
}

bool RegionCommands::empty() const {
  return appends.empty() && sends.empty() && applied.empty() && asks.empty() && !refence && !status_changed;
}

Region::Region(RegionState state, RowStore& rows, RowArithmetic& arithmetic, RegionOptions options)
    : durable_(std::move(state)), rows_(rows), arithmetic_(arithmetic), options_(options) {}

Region::~Region() = default;

Status Region::on_record(Offset at, const WalRecord& record, const ReaderState& after, RegionCommands& out) {
  bool own =
      owner_ && record.header.kind != RecordKind::Fence && record.header.incarnation == owner_->incarnation();
  std::optional<DecodedRecord> applied = own ? owner_->take_durable(at) : std::nullopt;
  if (!applied) {
    Result<DecodedRecord> decoded = decode_payload(at, record);
    if (!decoded) return decoded.error();
    applied = std::move(*decoded);
  }
  if (!own && applied->body && TM_MUTATION("standbys write no rows")) {
    auto without = std::make_shared<pb::RecordBody>(*applied->body);
    if (without->has_commit()) without->mutable_commit()->clear_changes();
    applied->body = std::move(without);
  }
  auto before = headline(durable_);
  TM_TRY(durable_.apply(*applied, after, rows_));
  if (headline(durable_) != before) out.status_changed = true;
  out.applied.push_back(std::move(*applied));
  // Another's record, such as a fence, may lie where ours was to lie: it acknowledges nothing.
  if (own) owner_->on_applied(at, out);
  return {};
}

void Region::on_opened(Offset incarnation, MapVersion version, RegionCommands& out) {
  TM_ASSERT(!owner_, incarnation);
  owner_ =
      std::make_unique<RegionOwner>(durable_, rows_, arithmetic_, options_, inputs_, incarnation, version);
  out.status_changed = true;
}

void Region::on_ended(RegionCommands& out) {
  if (!owner_) return;
  owner_->give_up(out);
  owner_.reset();
  out.status_changed = true;
}

RegionOwner* Region::serving(const Asker& asker, RegionCommands& out) {
  if (owner_ && owner_->serves()) return owner_.get();
  send(out, asker, not_owner(durable_.identity().region, inputs_.facts));
  return nullptr;
}

void Region::on_write(const Asker& asker, const pb::WriteRequest& request, RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_write(asker, request, out);
}

void Region::on_open_session(const Asker& asker, const pb::OpenSessionRequest& request, RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_open_session(asker, request, out);
}

void Region::on_wait(const Asker& asker, const pb::WaitRequest& request, RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_wait(asker, request, out);
}

void Region::on_effects(const Asker& asker, const pb::EffectBatch& batch, RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_effects(asker, batch, out);
}

void Region::on_positions(const Asker& asker, RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_positions(asker, out);
}

void Region::on_committed_request(const Asker& asker, const pb::CommittedRequest& request,
                                  RegionCommands& out) {
  if (RegionOwner* owner = serving(asker, out)) owner->on_committed_request(asker, request, out);
}

void Region::on_committed_report(const std::vector<LaneRun>& lanes, RegionCommands&) {
  if (owner_ && owner_->serves()) owner_->on_committed_report(lanes);
}

void Region::on_committed_positions(const std::vector<LaneRun>& lanes, RegionCommands&) {
  if (owner_) owner_->on_committed_positions(lanes);
}

void Region::on_facts(const RegionFacts& facts, RegionCommands&) {
  if (!inputs_.facts || inputs_.facts->map_version <= facts.map_version) inputs_.facts = facts;
}

void Region::on_catalog(std::shared_ptr<const pb::Catalog> catalog, RegionCommands&) {
  if (!inputs_.catalog || inputs_.catalog->version() < catalog->version())
    inputs_.catalog = std::move(catalog);
}

void Region::on_ring(RingVersion version, RegionCommands&) {
  inputs_.ring = std::max(inputs_.ring, version);
}

void Region::on_tick(Micros now, RegionCommands& out) {
  inputs_.now = now;
  if (owner_) owner_->on_tick(out);
}

std::optional<Micros> Region::next_tick() const {
  return owner_ ? owner_->next_tick() : std::nullopt;
}

size_t Region::rows_in_flight() const {
  return owner_ ? owner_->rows_in_flight() : 0;
}

pb::RegionStatus Region::status() const {
  pb::RegionStatus out;
  out.set_region(durable_.identity().region.value);
  out.set_owner(owning());
  out.set_incarnation(durable_.reader().incarnation.value_or(Offset{}).value);
  out.set_fence_version(durable_.reader().fence_version.value);
  out.set_durable_end(durable_.reader().next.value);
  out.set_ring_version(durable_.ring().value);
  out.set_ring_acknowledged(durable_.ring_acknowledged().value);
  out.set_catalog_version(durable_.catalog().version().value);
  out.set_merging(durable_.merging().value_or(ChangeId{}).value);
  for (ChangeId change : durable_.unmerged()) out.add_unmerged(change.value);
  if (durable_.seal()) out.set_sealed(durable_.seal()->change());
  for (TableId view : durable_.backfilling()) out.add_backfilling(view.value);
  out.set_parts(durable_.parts().size());
  out.set_committed_floor(durable_.committed_floor().value);
  if (TM_MUTATION("trim by what is reported") && owner_ &&
      owner_->reported_floor().generation == durable_.identity().generation)
    out.set_committed_floor(std::max(out.committed_floor(), owner_->reported_floor().offset.value));
  out.set_committed_past_seal(durable_.committed_past_parents());
  return out;
}

}  // namespace tidemark
