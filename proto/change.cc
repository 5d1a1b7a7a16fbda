#include "proto/change.h"

#include <cstring>

#include "base/assert.h"

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

// Writes as base/bytes.h does, into room that was made for all of it: every change of every record is encoded
// here, and growing a string byte by byte costs more than the bytes do.
class KnownSizeWriter {
 public:
  explicit KnownSizeWriter(char* at) : at_(at) {}
  const char* at() const { return at_; }

  void u8(uint8_t value) { *at_++ = static_cast<char>(value); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<uint8_t>(value | 0x80));
    u8(static_cast<uint8_t>(value));
  }
  void fixed64(uint64_t value) {
    for (int i = 0; i < 8; ++i) u8(static_cast<uint8_t>(value >> (8 * i)));
  }
  void bytes(std::string_view bytes) {
    varint(bytes.size());
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }

 private:
  char* at_;
};

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

  const size_t begin = out.size();
  out.resize(begin + varint_size(size) + size);
  KnownSizeWriter to(out.data() + begin);
  to.varint(size);
  to.fixed64(change.hash);
  to.u8(flags_of(change));
  to.varint(change.table.value);
  to.bytes(change.key);
  if (change.before) to.bytes(*change.before);
  if (change.after) to.bytes(*change.after);
  if (change.has_matches) to.bytes(change.matches);
  if (!change.skipped_views.empty()) to.bytes(change.skipped_views);
  TM_ASSERT(to.at() == out.data() + out.size());
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
