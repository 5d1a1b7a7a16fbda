#include "wal/file_segment.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "wal/log.h"
#include "wal/stream_name.h"

namespace tidemark {
namespace {

constexpr std::string_view kSegmentMagic = "TMSG";
constexpr std::string_view kEntryMagic = "TMLE";
constexpr uint32_t kSegmentVersion = 1;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kMagicAt = 8;

// Segment header: checksum, magic, version, cluster, region, first offset.
constexpr size_t kVersionAt = 12;
constexpr size_t kClusterAt = 16;
constexpr size_t kRegionAt = 24;
constexpr size_t kFirstAt = 32;

// Entry header: checksum, magic, length, offset, synced.
constexpr size_t kLengthAt = 12;
constexpr size_t kOffsetAt = 16;
constexpr size_t kSyncedAt = 24;

constexpr std::string_view kSuffix = ".log";
constexpr size_t kNameDigits = 20;

template <typename T>
T load(std::string_view bytes, size_t at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <typename T>
void store(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

uint64_t checksum(std::string_view head, std::string_view body) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, head.data() + kChecksumBytes, head.size() - kChecksumBytes);
  XXH3_64bits_update(&state, body.data(), body.size());
  return XXH3_64bits_digest(&state);
}

// What is wrong with the header, or nothing.
std::string header_problem(StreamId stream, Offset first, std::string_view segment) {
  if (segment.size() < kSegmentHeaderBytes) return "no whole segment header";
  const std::string_view header = segment.substr(0, kSegmentHeaderBytes);
  if (header.substr(kMagicAt, kSegmentMagic.size()) != kSegmentMagic ||
      load<uint64_t>(header, 0) != checksum(header, {})) {
    return "the segment header is damaged";
  }
  const auto version = load<uint32_t>(header, kVersionAt);
  if (version != kSegmentVersion) return "segment format version " + std::to_string(version) + " is unknown";
  const StreamId found{load<uint64_t>(header, kClusterAt), RegionId{load<uint64_t>(header, kRegionAt)}};
  if (found != stream) return "the segment belongs to stream " + stream_name(found);
  if (load<uint64_t>(header, kFirstAt) != first.value) return "the segment bears another's name";
  return {};
}

// Whether a sound entry after `position` tells that `position` was durable when it was written.
bool was_durable(std::string_view segment, uint64_t position) {
  for (size_t at = segment.find(kEntryMagic, position + kMagicAt + 1); at != std::string_view::npos;
       at = segment.find(kEntryMagic, at + 1)) {
    const auto entry = decode_entry(segment.substr(at - kMagicAt));
    if (entry.has_value() && entry->synced > position) return true;
  }
  return false;
}

}  // namespace

std::string segment_file_name(Offset first) {
  char digits[kNameDigits + 1];
  std::snprintf(digits, sizeof digits, "%020llu", static_cast<unsigned long long>(first.value));
  return digits + std::string(kSuffix);
}

std::optional<Offset> parse_segment_file_name(std::string_view name) {
  if (name.size() != kNameDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  Offset first;
  const char* end = name.data() + kNameDigits;
  const auto parsed = std::from_chars(name.data(), end, first.value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return first;
}

std::string encode_segment_header(StreamId stream, Offset first) {
  std::string header(kSegmentHeaderBytes, '\0');
  std::memcpy(header.data() + kMagicAt, kSegmentMagic.data(), kSegmentMagic.size());
  store(header, kVersionAt, kSegmentVersion);
  store(header, kClusterAt, stream.cluster);
  store(header, kRegionAt, stream.region.value);
  store(header, kFirstAt, first.value);
  store(header, 0, checksum(header, {}));
  return header;
}

std::string encode_entry_header(Offset offset, uint64_t synced, std::string_view bytes) {
  TM_ASSERT(bytes.size() <= kLogEntryBytesMax, bytes.size());
  std::string header(kEntryHeaderBytes, '\0');
  std::memcpy(header.data() + kMagicAt, kEntryMagic.data(), kEntryMagic.size());
  store(header, kLengthAt, static_cast<uint32_t>(bytes.size()));
  store(header, kOffsetAt, offset.value);
  store(header, kSyncedAt, synced);
  store(header, 0, checksum(header, bytes));
  return header;
}

std::optional<EntryView> decode_entry(std::string_view bytes) {
  if (bytes.size() < kEntryHeaderBytes) return std::nullopt;
  if (bytes.substr(kMagicAt, kEntryMagic.size()) != kEntryMagic) return std::nullopt;
  const size_t length = load<uint32_t>(bytes, kLengthAt);
  if (length > kLogEntryBytesMax || length > bytes.size() - kEntryHeaderBytes) return std::nullopt;
  const std::string_view body = bytes.substr(kEntryHeaderBytes, length);
  if (load<uint64_t>(bytes, 0) != checksum(bytes.substr(0, kEntryHeaderBytes), body)) return std::nullopt;
  return EntryView{Offset{load<uint64_t>(bytes, kOffsetAt)}, load<uint64_t>(bytes, kSyncedAt), body};
}

SegmentScan scan_segment(StreamId stream, Offset first, std::string_view segment) {
  SegmentScan scan;
  scan.end = first;
  scan.problem = header_problem(stream, first, segment);
  if (!scan.problem.empty()) {  // A segment gets its name only once its header is durable.
    scan.tail = SegmentScan::Tail::Damaged;
    return scan;
  }
  scan.sound_bytes = kSegmentHeaderBytes;
  while (scan.problem.empty() && scan.sound_bytes < segment.size()) {
    const auto entry = decode_entry(segment.substr(scan.sound_bytes));
    if (!entry.has_value()) {
      scan.problem = "no sound entry";
    } else if (entry->offset != scan.end) {
      scan.problem = "an entry of offset " + std::to_string(entry->offset.value) + " in the place of " +
                     std::to_string(scan.end.value);
      scan.tail = SegmentScan::Tail::Damaged;
      return scan;
    } else {
      if (scan.index.empty() || scan.sound_bytes - scan.index.back().position >= kIndexStepBytes) {
        scan.index.push_back({scan.end, scan.sound_bytes});
      }
      scan.synced = std::max(scan.synced, entry->synced);
      scan.sound_bytes += entry->size();
      ++scan.end.value;
    }
  }
  if (!scan.problem.empty()) {
    scan.tail = was_durable(segment, scan.sound_bytes) ? SegmentScan::Tail::Damaged : SegmentScan::Tail::Torn;
  }
  return scan;
}

}  // namespace tidemark
