// Any bytes in place of a segment give a scan that holds together, and what it calls sound can be read.
#include <string_view>

#include "base/assert.h"
#include "wal/file_segment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tidemark::Offset;
  const tidemark::StreamId stream{1, tidemark::RegionId{1}};
  // Behind a sound header, so that the entries are reached.
  const std::string segment = tidemark::encode_segment_header(stream, Offset{0}) +
                              std::string(reinterpret_cast<const char*>(data), size);
  for (const std::string_view bytes :
       {std::string_view(segment), std::string_view(segment).substr(tidemark::kSegmentHeaderBytes)}) {
    const auto scan = tidemark::scan_segment(stream, Offset{0}, bytes);
    TM_ASSERT(scan.sound_bytes <= bytes.size());
    TM_ASSERT((scan.tail == tidemark::SegmentScan::Tail::Clean) == scan.problem.empty());
    size_t at = tidemark::kSegmentHeaderBytes;
    for (uint64_t offset = 0; offset < scan.end.value; ++offset) {
      const auto entry = tidemark::decode_entry(bytes.substr(at));
      TM_ASSERT(entry.has_value());
      TM_ASSERT(entry->offset.value == offset);
      at += entry->size();
    }
    TM_ASSERT(scan.sound_bytes == 0 || at == scan.sound_bytes);
  }
  return 0;
}
