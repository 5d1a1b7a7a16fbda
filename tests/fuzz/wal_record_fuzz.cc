// Decoding is total: any bytes give a record or an error. What decodes comes back when it is encoded again.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <string>

#include "base/assert.h"
#include "wal/record.h"

namespace {

constexpr size_t kChecksumBytes = 8;
constexpr size_t kPayloadBytesMax = size_t{1} << 20;

void check(std::string_view bytes) {
  const auto header = tidemark::decode_record_header(bytes);
  const auto record = tidemark::decode_record(bytes, kPayloadBytesMax);
  if (!record.ok()) return;
  TM_ASSERT(header.ok());
  TM_ASSERT(*header == record->header);
  const auto again = tidemark::decode_record(tidemark::encode_record(record->header, record->payload));
  TM_ASSERT(again.ok());
  TM_ASSERT(again->header == record->header);
  TM_ASSERT(again->payload == record->payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  if (size < kChecksumBytes) return 0;
  // With the checksum put right, so that what lies behind it is reached.
  const uint64_t sum = XXH3_64bits(bytes.data() + kChecksumBytes, bytes.size() - kChecksumBytes);
  std::memcpy(bytes.data(), &sum, sizeof sum);
  check(bytes);
  return 0;
}
