#include "node/seeding.h"

#include "base/buggify.h"
#include "base/bytes.h"
#include "base/mutation.h"
#include "node/store/store_key.h"
#include "proto/convert.h"

namespace tidemark {

namespace {

constexpr int kBegunBits = 24;

}  // namespace

SeedSender::SeedSender(const NodeOptions& options, const ClusterView& view, RegionSet& regions,
                       RowStore& rows, Transport& transport)
    : options_(options), view_(view), regions_(regions), rows_(rows), transport_(transport) {}

bool SeedSender::is_member(RegionId region, MapVersion joined) const {
  const pb::RegionEntry* entry = view_.region(region);
  if (entry == nullptr) return false;
  for (const pb::Replica& replica : entry->replicas()) {
    if (replica.joined() == joined.value && replica.node() != options_.name) return true;
  }
  return false;
}

void SeedSender::on_ack(const Address& from, const pb::CheckpointAck& ack) {
  RegionId region{ack.region()};
  MapVersion joined{ack.joined()};
  RegionReplica* replica = regions_.find(region);
  // A standby is a member before it gets a checkpoint: else the log could be cut behind it.
  if (replica == nullptr || !replica->owning()) return;
  if (!is_member(region, joined) && !TM_MUTATION("a seed before joining")) return;
  Sending& sending = sending_[{region, from}];
  const bool of_this = sending.next > 0 && ack.sending() == sending.name;
  const bool has_all_made = of_this && ack.index() == sending.next;
  if (sending.done && has_all_made) {  // It has all of it.
    sending_.erase({region, from});
    return;
  }
  const bool fresh =
      sending.next == 0 || ack.sending() > sending.name || (ack.index() == 0 && sending.next != 1);
  if (fresh || sending.checkpoint.joined != joined || TM_BUGGIFY("seeding: begun again")) {
    sending = begin(*replica, joined);
  } else if (!has_all_made) {
    // The last chunk may have been lost; of the first one the standby may not even know what it is of. Any
    // other ack is late: to begin again for it, or to send what comes next, would be wrong or never end.
    const bool lacks_last = sending.next == 1 || (of_this && ack.index() + 1 == sending.next);
    if (lacks_last) transport_.send(from, sending.last);
    return;
  }
  sending.last = next_chunk(sending);
  transport_.send(from, sending.last);
}

SeedSender::Sending SeedSender::begin(RegionReplica& replica, MapVersion joined) {
  Sending sending;
  sending.checkpoint = replica.checkpoint();
  sending.checkpoint.joined = joined;
  sending.checkpoint.map_version = MapVersion{view_.map().version()};
  // By the incarnation, since who starts again counts anew.
  sending.name = (replica.incarnation()->value << kBegunBits) + ++begun_;
  return sending;
}

void SeedSender::on_disconnect(const Address& peer) {
  std::erase_if(sending_, [&](const auto& it) { return it.first.second == peer; });
}

MessagePtr SeedSender::next_chunk(Sending& sending) {
  auto message = std::make_shared<pb::Message>();
  pb::CheckpointChunk& chunk = *message->mutable_checkpoint_chunk();
  chunk.set_region(sending.checkpoint.region.value);
  chunk.set_map_version(sending.checkpoint.map_version.value);
  chunk.set_joined(sending.checkpoint.joined.value);
  chunk.set_index(sending.next++);
  chunk.set_sending(sending.name);
  if (!sending.rows_done) read_rows(sending, *chunk.mutable_rows());
  if (sending.rows_done) read_state(sending, *chunk.mutable_state());
  chunk.set_last(sending.done);
  return message;
}

// As rows, until the chunk is full: views and joins of any number are in it.
void SeedSender::read_state(Sending& sending, std::string& out) {
  if (sending.state.empty()) sending.state = encode_checkpoint(sending.checkpoint);
  out = sending.state.substr(sending.state_sent, options_.seed_chunk_bytes);
  sending.state_sent += out.size();
  sending.done = sending.state_sent == sending.state.size();
}

// Rows of the region's tables, table after table, until the chunk is full.
void SeedSender::read_rows(Sending& sending, std::string& out) {
  RegionReplica* replica = regions_.find(sending.checkpoint.region);
  HashSpan hashes = hash_span(sending.checkpoint.shards, options_.shards);
  const TableCatalog& catalog = replica->state().catalog();
  for (const Table* table = catalog.at_or_after(sending.table); table != nullptr;
       table = catalog.at_or_after(TableId{table->id.value + 1})) {
    bool goes_on = table->id == sending.table && !sending.cursor.empty();
    DecodedStoreKey after{table->id, hashes.first, {}};
    if (goes_on) after = *decode_store_key(sending.cursor);
    auto cursor = rows_.seek(table->id, after.hash, after.key, Direction::Forward);
    if (goes_on && cursor->valid() && cursor->hash() == after.hash && cursor->key() == after.key)
      cursor->next();
    for (; cursor->valid() && cursor->hash() <= hashes.last; cursor->next()) {
      std::string key = encode_store_key(table->id, cursor->hash(), cursor->key());
      put_bytes(out, key);
      put_bytes(out, cursor->row());
      if (out.size() >= options_.seed_chunk_bytes) {
        sending.table = table->id;
        sending.cursor = std::move(key);
        return;
      }
    }
  }
  sending.rows_done = true;
}

// ---- the standby's end -------------------------------------------------------------------------------

SeedReceiver::SeedReceiver(const NodeOptions& options, const ClusterView& view, RegionSet& regions,
                           RowStore& rows, Scheduler& scheduler, Transport& transport)
    : options_(options),
      view_(view),
      regions_(regions),
      rows_(rows),
      scheduler_(scheduler),
      transport_(transport) {}

void SeedReceiver::ask() {
  std::erase_if(receiving_, [&](const auto& it) {
    auto wanted = regions_.wants_seed().find(it.first);
    return wanted == regions_.wants_seed().end() || wanted->second != it.second.joined;
  });
  for (const auto& [region, joined] : regions_.wants_seed()) {
    auto [at, fresh] = receiving_.try_emplace(region, Receiving{joined, scheduler_.now(), {}, 0, 0, {}});
    bool late = scheduler_.now().value - at->second.heard_at.value >= options_.seed_timeout.value / 2;
    if (fresh || late) send_ack(region, at->second);
  }
}

void SeedReceiver::send_ack(RegionId region, Receiving& receiving) {
  const pb::RegionEntry* entry = view_.region(region);
  if (entry == nullptr) return;
  Address owner = view_.address_of(entry->owner());
  if (owner.value.empty()) return;
  // What another owner has sent is of another checkpoint.
  if (receiving.from != owner) receiving = {receiving.joined, receiving.heard_at, owner, 0, 0, {}};
  auto message = std::make_shared<pb::Message>();
  pb::CheckpointAck& ack = *message->mutable_checkpoint_ack();
  ack.set_region(region.value);
  ack.set_joined(receiving.joined.value);
  ack.set_index(receiving.next);
  ack.set_sending(receiving.sending);
  transport_.send(owner, std::move(message));
}

void SeedReceiver::on_chunk(const Address& from, const pb::CheckpointChunk& chunk) {
  RegionId region{chunk.region()};
  auto found = receiving_.find(region);
  if (found == receiving_.end() || found->second.joined.value != chunk.joined()) return;
  Receiving& receiving = found->second;
  if (receiving.from != from || !rows_.has_room()) return;  // Asked again later.
  // Of an older connection. Who took it for a beginning would ask for what comes after it, for ever.
  if (chunk.sending() < receiving.sending) return;
  // An owner that has forgotten begins again.
  if (chunk.index() == 0 && chunk.sending() != receiving.sending) receiving.next = 0;
  if (chunk.index() != receiving.next) return;
  if (chunk.index() == 0) {
    if (!regions_.begin_seed(region)) return;  // Asked again later.
    receiving.sending = chunk.sending();
    receiving.state.clear();
  } else if (!regions_.is_seeding(region)) {
    return want_another(receiving);  // What came before is gone.
  }
  if (chunk.sending() != receiving.sending) return;
  receiving.heard_at = scheduler_.now();
  if (!take_rows(chunk.rows())) {
    options_.say("a chunk of the checkpoint of region " + std::to_string(region.value) + " is malformed");
    return want_another(receiving);
  }
  receiving.state += chunk.state();
  ++receiving.next;
  if (chunk.last() || !TM_BUGGIFY("seeding: a chunk is not acknowledged at once"))
    send_ack(region, receiving);
  if (!chunk.last()) return;
  Result<Checkpoint> seed = decode_checkpoint(receiving.state);
  receiving_.erase(found);
  if (!seed.ok()) return options_.say("a checkpoint that was sent can not be used: " + seed.error().message);
  if (seed->region == region) regions_.install_seed(*seed);
}

// Asked for later. This one will not do any more, not even its beginning.
void SeedReceiver::want_another(Receiving& receiving) {
  receiving.next = 0;
  ++receiving.sending;
}

bool SeedReceiver::take_rows(std::string_view rows) {
  ByteReader reader(rows);
  while (reader.ok() && !reader.done()) {
    std::string_view key = reader.bytes();
    std::string_view row = reader.bytes();
    auto decoded = decode_store_key(key);
    if (!reader.ok() || !decoded) return false;
    rows_.put(decoded->table, decoded->hash, decoded->key, row);
  }
  return reader.ok();
}

}  // namespace tidemark
