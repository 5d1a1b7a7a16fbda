// The bytes of a file log: segments of a header and entries. docs/formats.md describes them. No I/O here but
// for scan_segment's argument: the whole segment as bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

constexpr size_t kSegmentHeaderBytes = 40;
constexpr size_t kEntryHeaderBytes = 32;

std::string segment_file_name(Offset first);
std::optional<Offset> parse_segment_file_name(std::string_view name);

std::string encode_segment_header(StreamId stream, Offset first);

// `synced`: up to which byte the segment was durable when the entry was written. By it, a torn tail is told
// from damage: what lies before the `synced` of a later entry was durable once and can not be torn.
std::string encode_entry_header(Offset offset, uint64_t synced, std::string_view bytes);

struct EntryView {
  Offset offset;
  uint64_t synced;
  std::string_view bytes;
  size_t size() const { return kEntryHeaderBytes + bytes.size(); }
};
// The entry at the front of `bytes`, if there is a whole and sound one.
std::optional<EntryView> decode_entry(std::string_view bytes);

struct SegmentScan {
  struct Point {
    Offset offset;
    uint64_t position;
  };
  Offset end;                // After the last sound entry.
  uint64_t sound_bytes = 0;  // The file up to the first problem; 0 if its header is unsound.
  uint64_t synced = 0;       // The highest `synced` of a sound entry.
  std::vector<Point> index;  // Sparse: where to look for an offset.

  enum class Tail : uint8_t {
    Clean,    // Sound to its last byte.
    Torn,     // What follows sound_bytes was never durable, as far as anything there can tell.
    Damaged,  // Something at sound_bytes was durable once and is no longer sound.
  };
  Tail tail = Tail::Clean;
  std::string problem;  // What is wrong at sound_bytes.
};

constexpr uint64_t kIndexStepBytes = 64 << 10;

SegmentScan scan_segment(StreamId stream, Offset first, std::string_view segment);

}  // namespace tidemark
