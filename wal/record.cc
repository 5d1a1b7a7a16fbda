#include "wal/record.h"

#include <lz4.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>

namespace tidemark {
namespace {

// The layout, little-endian; docs/formats.md says the same for people. The checksum covers all after it.
constexpr size_t kChecksumAt = 0;
constexpr size_t kMagicAt = 8;
constexpr size_t kVersionAt = 12;
constexpr size_t kKindAt = 13;
constexpr size_t kFlagsAt = 14;
constexpr size_t kReservedAt = 15;
constexpr size_t kClusterAt = 16;
constexpr size_t kRegionAt = 24;
constexpr size_t kIncarnationAt = 32;
constexpr size_t kExpectsAt = 40;
constexpr size_t kMapVersionAt = 48;
constexpr size_t kNonceAt = 56;
constexpr size_t kPayloadSizeAt = 64;

constexpr std::string_view kMagic = "TMWR";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kFlagLz4 = 1;
constexpr size_t kCompressBytesMin = 128;  // Below it, a saving is not worth a call.

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

uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data() + kMagicAt, bytes.size() - kMagicAt);
}

// Appends the payload to `out`, compressed if that is smaller; says whether it was.
bool append_payload(std::string& out, std::string_view payload) {
  const size_t start = out.size();
  out.resize(start + payload.size());
  if (payload.size() >= kCompressBytesMin) {
    const int packed =
        LZ4_compress_default(payload.data(), out.data() + start, static_cast<int>(payload.size()),
                             static_cast<int>(payload.size()) - 1);
    if (packed > 0) {
      out.resize(start + static_cast<size_t>(packed));
      return true;
    }
  }
  if (!payload.empty()) std::memcpy(out.data() + start, payload.data(), payload.size());
  return false;
}

Error damaged(const std::string& what) {
  return Error{"not a WAL record: " + what};
}

// Every field that the kind does not use is zero, so that a record has one encoding.
Status check_fields(const RecordHeader& header) {
  const bool is_fence = header.kind == RecordKind::Fence;
  if (is_fence && (header.incarnation.value != 0 || header.expects.value != 0)) {
    return damaged("a fence with an incarnation or an expected offset");
  }
  if (!is_fence && (header.map_version.value != 0 || header.nonce != 0)) {
    return damaged("a map version or nonce outside a fence");
  }
  return {};
}

Result<std::string> unpack_payload(std::string_view packed, size_t size, bool is_lz4) {
  if (!is_lz4) {
    if (packed.size() != size) {
      return damaged("its payload has " + std::to_string(packed.size()) + " bytes, not " +
                     std::to_string(size));
    }
    return std::string(packed);
  }
  std::string payload(size, '\0');
  const int got = LZ4_decompress_safe(packed.data(), payload.data(), static_cast<int>(packed.size()),
                                      static_cast<int>(size));
  if (got < 0 || static_cast<size_t>(got) != size) return damaged("its LZ4 payload does not unpack");
  return payload;
}

}  // namespace

std::string encode_record(const RecordHeader& header, std::string_view payload) {
  TM_ASSERT(payload.size() <= kRecordPayloadBytesMax, payload.size());
  TM_ASSERT(check_fields(header).ok());
  std::string out;
  out.reserve(kRecordHeaderBytes + payload.size());
  out.resize(kRecordHeaderBytes, '\0');
  std::memcpy(out.data() + kMagicAt, kMagic.data(), kMagic.size());
  store(out, kVersionAt, kVersion);
  store(out, kKindAt, static_cast<uint8_t>(header.kind));
  store(out, kClusterAt, header.stream.cluster);
  store(out, kRegionAt, header.stream.region.value);
  store(out, kIncarnationAt, header.incarnation.value);
  store(out, kExpectsAt, header.expects.value);
  store(out, kMapVersionAt, header.map_version.value);
  store(out, kNonceAt, header.nonce);
  store(out, kPayloadSizeAt, static_cast<uint32_t>(payload.size()));
  if (append_payload(out, payload)) store(out, kFlagsAt, kFlagLz4);
  store(out, kChecksumAt, checksum(out));
  return out;
}

Result<RecordHeader> decode_record_header(std::string_view bytes) {
  if (bytes.size() < kRecordHeaderBytes) {
    return damaged("only " + std::to_string(bytes.size()) + " bytes");
  }
  if (bytes.substr(kMagicAt, kMagic.size()) != kMagic) return damaged("it does not begin as one");
  if (load<uint64_t>(bytes, kChecksumAt) != checksum(bytes)) return damaged("its checksum does not match");
  const uint8_t version = load<uint8_t>(bytes, kVersionAt);
  if (version != kVersion) {
    return Error{"a WAL record of format version " + std::to_string(version) +
                 "; this program reads version " + std::to_string(kVersion)};
  }
  const uint8_t kind = load<uint8_t>(bytes, kKindAt);
  if (kind < static_cast<uint8_t>(RecordKind::Fence) || kind > static_cast<uint8_t>(RecordKind::Seal)) {
    return damaged("unknown kind " + std::to_string(kind));
  }
  if ((load<uint8_t>(bytes, kFlagsAt) & ~kFlagLz4) != 0 || load<uint8_t>(bytes, kReservedAt) != 0) {
    return damaged("unknown flags");
  }
  RecordHeader header;
  header.kind = static_cast<RecordKind>(kind);
  header.stream = {load<uint64_t>(bytes, kClusterAt), RegionId{load<uint64_t>(bytes, kRegionAt)}};
  header.incarnation = Offset{load<uint64_t>(bytes, kIncarnationAt)};
  header.expects = Offset{load<uint64_t>(bytes, kExpectsAt)};
  header.map_version = MapVersion{load<uint64_t>(bytes, kMapVersionAt)};
  header.nonce = load<uint64_t>(bytes, kNonceAt);
  TM_TRY(check_fields(header));
  return header;
}

Result<WalRecord> decode_record(std::string_view bytes, size_t payload_bytes_max) {
  auto header = decode_record_header(bytes);
  if (!header.ok()) return header.error();
  const size_t size = load<uint32_t>(bytes, kPayloadSizeAt);
  if (size > payload_bytes_max) {
    return damaged("its payload of " + std::to_string(size) + " bytes is above " +
                   std::to_string(payload_bytes_max));
  }
  const bool is_lz4 = load<uint8_t>(bytes, kFlagsAt) == kFlagLz4;
  auto payload = unpack_payload(bytes.substr(kRecordHeaderBytes), size, is_lz4);
  if (!payload.ok()) return payload.error();
  return WalRecord{*header, std::move(*payload)};
}

const char* to_string(RecordKind kind) {
  switch (kind) {
    case RecordKind::Fence: return "fence";
    case RecordKind::Body: return "body";
    case RecordKind::Seal: return "seal";
  }
  TM_UNREACHABLE();
}

}  // namespace tidemark
