#include "wal/record.h"

#include <gtest/gtest.h>

#include <random>

#include "wal/stream_name.h"

namespace tidemark {
namespace {

constexpr StreamId kStream{42, RegionId{7}};

RecordHeader body_header() {
  return {.kind = RecordKind::Body, .stream = kStream, .incarnation = Offset{3}, .expects = Offset{9}};
}
RecordHeader fence_header() {
  return {.kind = RecordKind::Fence, .stream = kStream, .map_version = MapVersion{5}, .nonce = 77};
}

std::string random_bytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(WalRecord, ComesBackAsItWasWritten) {
  for (const RecordHeader& header : {body_header(), fence_header()}) {
    for (const std::string& payload :
         {std::string(), std::string("x"), std::string(100'000, 'a'), random_bytes(127, 1),
          random_bytes(1000, 2), random_bytes(900'000, 3)}) {
      const auto record = decode_record(encode_record(header, payload));
      ASSERT_TRUE(record.ok()) << record.error().message;
      EXPECT_EQ(record->header, header);
      EXPECT_EQ(record->payload, payload);
    }
  }
}

TEST(WalRecord, IsCompressedOnlyWhereThatIsSmaller) {
  EXPECT_LT(encode_record(body_header(), std::string(100'000, 'a')).size(), 1000u);
  EXPECT_EQ(encode_record(body_header(), random_bytes(10'000, 4)).size(), kRecordHeaderBytes + 10'000);
}

TEST(WalRecord, EveryCutAndEveryFlippedBitIsAnError) {
  const std::string whole = encode_record(body_header(), "some payload " + std::string(200, 'z'));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_record(std::string_view(whole).substr(0, size)).ok()) << size;
  }
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bad = whole;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_record(bad).ok()) << bit;
    EXPECT_FALSE(decode_record_header(bad).ok()) << bit;
  }
  EXPECT_FALSE(decode_record(whole + "x").ok());
}

TEST(WalRecord, APayloadAboveTheBoundIsRefusedBeforeItIsUnpacked) {
  const std::string bytes = encode_record(body_header(), std::string(10'000, 'a'));
  EXPECT_TRUE(decode_record(bytes, 10'000).ok());
  EXPECT_FALSE(decode_record(bytes, 9'999).ok());
}

// Written once by this code; a change of the format must change the version and keep reading this.
TEST(WalRecord, BytesOfVersionOneStayAsTheyAre) {
  const std::string bytes = encode_record(body_header(), "hi");
  std::string hex;
  for (unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  EXPECT_EQ(hex,
            "3a3b5efcc0bd10e6"
            "544d575201020000"
            "2a000000000000000700000000000000"
            "03000000000000000900000000000000"
            "00000000000000000000000000000000"
            "020000006869");
}

TEST(StreamName, ComesBackAndNothingElseDoes) {
  for (const StreamId stream : {kStream, StreamId{0, RegionId{0}}, StreamId{~0ull, RegionId{~0ull}}}) {
    const auto parsed = parse_stream_name(stream_name(stream));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, stream);
  }
  EXPECT_EQ(stream_name(kStream), "000000000000002a-7");
  for (const char* bad : {"", "7", "2a-7", "000000000000002a-", "000000000000002A-7", "000000000000002a-07",
                          "000000000000002a-7x", "000000000000002a-99999999999999999999"}) {
    EXPECT_FALSE(parse_stream_name(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tidemark
