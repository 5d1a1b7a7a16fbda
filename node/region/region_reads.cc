// Reads: of applied, hence durable, rows only.
#include <string>
#include <utility>

#include "base/bytes.h"
#include "node/region/key_range.h"
#include "node/region/owner.h"
#include "node/region/region.h"
#include "node/region/replies.h"
#include "node/store/store_key.h"
#include "proto/convert.h"
#include "proto/rows.h"

namespace tidemark {

namespace {

constexpr uint32_t kRowsMax = 100'000;
constexpr uint32_t kBytesMax = 4 << 20;

std::string encode_cursor(uint64_t hash, std::string_view key) {
  std::string out;
  put_ordered64(out, hash);
  out.append(key);
  return out;
}

uint32_t bounded(uint32_t asked, uint32_t max) {
  return asked == 0 || asked > max ? max : asked;
}

// Where a scan begins, and which rows belong to it.
struct ScanRange {
  HashSpan hashes;
  std::string prefix;
  uint64_t hash = 0;
  std::string key;
  bool skip_first = false;  // It is the cursor's, or the end.

  bool contains(const RowCursor& row) const {
    return hashes.contains(row.hash()) && row.key().starts_with(prefix);
  }
};

ScanRange range_of(const pb::ScanRequest& request, HashSpan region) {
  ScanRange out;
  out.hashes = request.has_hash() ? HashSpan{request.hash(), request.hash()} : region;
  if (request.has_hash()) out.prefix = request.key_prefix();
  if (!request.cursor().empty()) {
    ByteReader cursor(request.cursor());
    out.hash = cursor.ordered64();
    out.key = cursor.left();
    out.skip_first = true;
  } else if (request.reverse()) {
    RowPlace end = end_of_group(out.hashes.last, out.prefix);
    out.hash = end.hash;
    out.key = std::move(end.key);
    out.skip_first = true;
  } else {
    out.hash = out.hashes.first;
    out.key = out.prefix;
  }
  return out;
}

}  // namespace

// A region's owner that has been replaced, and has not heard of it, answers as of long ago. Who has seen more
// of the region must not be answered so.
bool Region::can_read(const Asker& asker, const pb::Position& seen, RegionCommands& out) {
  if (serving(asker, out) == nullptr) return false;
  if (from_pb(seen) <= durable_.end()) return true;
  send(out, asker, not_owner(durable_.identity().region, inputs_.facts));
  return false;
}

std::optional<pb::Message> Region::check_place(TableId table, uint64_t hash) const {
  RegionId region = durable_.identity().region;
  if (durable_.catalog().find(table) == nullptr) return refusal(pb::STALE_CATALOG, "no such table", region);
  if (!durable_.identity().shards.contains(durable_.identity().shard_count.shard_of(hash))) {
    return not_owner(region, inputs_.facts);
  }
  return std::nullopt;
}

void Region::on_get(const Asker& asker, const pb::GetRequest& request, RegionCommands& out) {
  if (!can_read(asker, request.seen(), out)) return;
  if (request.keys_size() != request.hashes_size()) {
    return send(out, asker, refusal(pb::MALFORMED, "keys without hashes", durable_.identity().region));
  }
  TableId table{request.table()};
  pb::Message reply;
  pb::RowsReply& rows = *reply.mutable_rows();
  for (int i = 0; i < request.keys_size(); ++i) {
    if (rows.rows().size() >= kBytesMax) {
      rows.set_keys_left(static_cast<uint32_t>(request.keys_size() - i));
      break;
    }
    if (auto refused = check_place(table, request.hashes(i))) return send(out, asker, std::move(*refused));
    auto row = rows_.get(table, request.hashes(i), request.keys(i));
    if (!row) continue;
    append_row(*rows.mutable_rows(), {request.hashes(i), request.keys(i), *row});
    rows.set_count(rows.count() + 1);
  }
  rows.set_catalog_version(durable_.catalog().version().value);
  send(out, asker, std::move(reply));
}

void Region::on_scan(const Asker& asker, const pb::ScanRequest& request, RegionCommands& out) {
  if (!can_read(asker, request.seen(), out)) return;
  HashSpan region = hash_span(durable_.identity().shards, durable_.identity().shard_count);
  TableId table{request.table()};
  if (auto refused = check_place(table, request.has_hash() ? request.hash() : region.first)) {
    return send(out, asker, std::move(*refused));
  }
  ScanRange range = range_of(request, region);
  uint32_t rows_max = bounded(request.rows_max(), kRowsMax);
  uint32_t bytes_max = bounded(request.bytes_max(), kBytesMax);
  pb::Message reply;
  pb::RowsReply& rows = *reply.mutable_rows();
  rows.set_catalog_version(durable_.catalog().version().value);
  auto row =
      rows_.seek(table, range.hash, range.key, request.reverse() ? Direction::Backward : Direction::Forward);
  if (range.skip_first && row->valid() && row->hash() == range.hash && row->key() == range.key) row->next();
  std::string last;
  for (; row->valid() && range.contains(*row); row->next()) {
    if (rows.count() == rows_max || rows.rows().size() >= bytes_max) {
      rows.set_cursor(last);
      break;
    }
    append_row(*rows.mutable_rows(), {row->hash(), row->key(), row->row()});
    rows.set_count(rows.count() + 1);
    last = encode_cursor(row->hash(), row->key());
  }
  send(out, asker, std::move(reply));
}

}  // namespace tidemark
