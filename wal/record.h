// What lies in a WAL stream: one record per group commit. docs/formats.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

enum class RecordKind : uint8_t {
  Fence = 1,  // Begins an incarnation of the owner, named by the fence's offset.
  Body = 2,   // A group commit: changes or control; its payload is a proto RecordBody.
  Seal = 3,   // Ends the stream for good: its children go on. Its payload is a proto Seal.
};
const char* to_string(RecordKind kind);

// The part of a record by which every reader decides whether it counts.
struct RecordHeader {
  RecordKind kind = RecordKind::Body;
  StreamId stream{};
  Offset incarnation{};      // Body, Seal: the offset of the fence it was written under.
  Offset expects{};          // Body, Seal: the offset that it was written for.
  MapVersion map_version{};  // Fence: the region map that named its writer the owner.
  uint64_t nonce = 0;        // Fence: by which its writer finds it again.
  auto operator<=>(const RecordHeader&) const = default;
};

struct WalRecord {
  RecordHeader header;
  std::string payload;
};

constexpr size_t kRecordHeaderBytes = 68;
constexpr size_t kRecordPayloadBytesMax = size_t{16} << 20;

// Checksummed; the payload is compressed by LZ4 when that makes it smaller.
// REQUIRES: the payload is within kRecordPayloadBytesMax; fields that the kind does not use are zero.
std::string encode_record(const RecordHeader& header, std::string_view payload);

// Total: any bytes give a record or an error. `payload_bytes_max` bounds what is allocated.
Result<WalRecord> decode_record(std::string_view bytes, size_t payload_bytes_max = kRecordPayloadBytesMax);
Result<RecordHeader> decode_record_header(std::string_view bytes);  // Verifies the checksum too.

}  // namespace tidemark
