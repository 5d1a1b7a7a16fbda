#include "proto/change.h"

namespace tidemark {

namespace {

enum Flags : uint8_t {
  kHasBefore = 1,
  kHasAfter = 2,
  kHasMatches = 4,
  kHasSkips = 8,
  kFirstOfSide = 16,
  kLastOfSide = 32,
  kAllFlags = 63,
};

size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

size_t bytes_size(std::string_view bytes) {
  return varint_size(bytes.size()) + bytes.size();
}

uint8_t flags_of(const Change& change) {
  uint8_t flags = 0;
  if (change.before) flags |= kHasBefore;
  if (change.after) flags |= kHasAfter;
  if (change.has_matches) flags |= kHasMatches;
  if (!change.skipped_views.empty()) flags |= kHasSkips;
  if (change.first_of_side) flags |= kFirstOfSide;
  if (change.last_of_side) flags |= kLastOfSide;
  return flags;
}

}  // namespace

bool Change::skips(TableId view) const {
  ByteReader reader(skipped_views);
  while (!reader.done()) {
    if (reader.varint() == view.value) return reader.ok();
  }
  return false;
}

void append_change(std::string& out, const Change& change) {
  size_t size = 8 + 1 + varint_size(change.table.value) + bytes_size(change.key);
  if (change.before) size += bytes_size(*change.before);
  if (change.after) size += bytes_size(*change.after);
  if (change.has_matches) size += bytes_size(change.matches);
  if (!change.skipped_views.empty()) size += bytes_size(change.skipped_views);

  put_varint(out, size);
  put_fixed64(out, change.hash);
  put_u8(out, flags_of(change));
  put_varint(out, change.table.value);
  put_bytes(out, change.key);
  if (change.before) put_bytes(out, *change.before);
  if (change.after) put_bytes(out, *change.after);
  if (change.has_matches) put_bytes(out, change.matches);
  if (!change.skipped_views.empty()) put_bytes(out, change.skipped_views);
}

void append_match(std::string& out, const Match& match) {
  put_bytes(out, match.key);
  put_bytes(out, match.row);
}

void append_skipped_view(std::string& out, TableId view) {
  put_varint(out, view.value);
}

bool MatchReader::next(Match& out) {
  if (reader_.done()) return false;
  out.key = reader_.bytes();
  out.row = reader_.bytes();
  return reader_.ok();
}

bool ChangeReader::next(Change& out) {
  if (reader_.done()) return false;
  ByteReader one(reader_.bytes());
  out = Change{};
  out.hash = one.fixed64();
  uint8_t flags = one.u8();
  out.table = TableId{one.varint32()};
  out.key = one.bytes();
  if (flags & kHasBefore) out.before = one.bytes();
  if (flags & kHasAfter) out.after = one.bytes();
  out.has_matches = flags & kHasMatches;
  if (out.has_matches) out.matches = one.bytes();
  if (flags & kHasSkips) out.skipped_views = one.bytes();
  out.first_of_side = flags & kFirstOfSide;
  out.last_of_side = flags & kLastOfSide;
  if (!one.ok() || !one.done() || flags > kAllFlags) reader_.fail();
  return reader_.ok();
}

bool ChangeReader::next_raw(uint64_t& hash, std::string_view& encoded) {
  if (reader_.done()) return false;
  std::string_view from = reader_.left();
  std::string_view body = reader_.bytes();
  hash = ByteReader(body).fixed64();
  if (body.size() < 8) reader_.fail();
  if (!reader_.ok()) return false;
  encoded = from.substr(0, from.size() - reader_.left().size());
  return true;
}

}  // namespace tidemark
