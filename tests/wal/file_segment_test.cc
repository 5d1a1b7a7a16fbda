// What is torn and what is damaged, byte by byte.
#include "wal/file_segment.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Tail = SegmentScan::Tail;
constexpr StreamId kStream{3, RegionId{4}};

// A segment of groups of entries, each group synced before the next is written.
std::string segment(const std::vector<int>& groups, Offset first = Offset{10}) {
  std::string bytes = encode_segment_header(kStream, first);
  for (const int size : groups) {
    const uint64_t synced = bytes.size();
    for (int i = 0; i < size; ++i, ++first.value) {
      const std::string body = "entry " + std::to_string(first.value);
      bytes += encode_entry_header(first, synced, body) + body;
    }
  }
  return bytes;
}
constexpr size_t kEntry = kEntryHeaderBytes + 8;  // "entry 10" to "entry 99".

SegmentScan scan(std::string_view bytes) {
  return scan_segment(kStream, Offset{10}, bytes);
}

TEST(FileSegment, ASoundSegmentIsReadToItsEnd) {
  const auto found = scan(segment({1, 2, 3}));
  EXPECT_EQ(found.tail, Tail::Clean);
  EXPECT_EQ(found.end, Offset{16});
  EXPECT_EQ(found.synced, kSegmentHeaderBytes + 3 * kEntry);
}

TEST(FileSegment, EveryCutIsATornTailThatKeepsTheEntriesBefore) {
  const std::string whole = segment({1, 2, 3});
  for (size_t size = kSegmentHeaderBytes; size < whole.size(); ++size) {
    const auto found = scan(std::string_view(whole).substr(0, size));
    const size_t entries = (size - kSegmentHeaderBytes) / kEntry;
    EXPECT_EQ(found.end.value, 10 + entries) << size;
    EXPECT_EQ(found.tail, (size - kSegmentHeaderBytes) % kEntry == 0 ? Tail::Clean : Tail::Torn) << size;
  }
}

TEST(FileSegment, AChangedByteBeforeTheLastGroupIsDamageAndInItATornTail) {
  const std::string whole = segment({1, 2, 3});
  const size_t last_group = kSegmentHeaderBytes + 3 * kEntry;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    const auto found = scan(changed);
    EXPECT_EQ(found.tail, at < last_group ? Tail::Damaged : Tail::Torn) << at;
    const size_t entry_at =
        at < kSegmentHeaderBytes ? 0 : kSegmentHeaderBytes + (at - kSegmentHeaderBytes) / kEntry * kEntry;
    EXPECT_EQ(found.sound_bytes, entry_at) << at;
  }
}

// A disk may write the pages of one group in any order.
TEST(FileSegment, AHoleInTheLastGroupIsTorn) {
  std::string bytes = segment({2, 4});
  const size_t hole = kSegmentHeaderBytes + 3 * kEntry;
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(hole), kEntry, '\0');
  const auto found = scan(bytes);
  EXPECT_EQ(found.tail, Tail::Torn);
  EXPECT_EQ(found.end, Offset{13});
}

TEST(FileSegment, ZeroesAtTheEndAreTorn) {
  const auto found = scan(segment({2}) + std::string(5000, '\0'));
  EXPECT_EQ(found.tail, Tail::Torn);
  EXPECT_EQ(found.end, Offset{12});
}

TEST(FileSegment, AnotherStreamsSegmentIsRefused) {
  const auto found = scan_segment({3, RegionId{5}}, Offset{10}, segment({1}));
  EXPECT_EQ(found.tail, Tail::Damaged);
  EXPECT_NE(found.problem.find("belongs to stream 0000000000000003-4"), std::string::npos);
}

TEST(FileSegment, AnEntryInAnothersPlaceIsDamage) {
  std::string bytes = segment({1});
  bytes += encode_entry_header(Offset{12}, kSegmentHeaderBytes, "x") + "x";
  EXPECT_EQ(scan(bytes).tail, Tail::Damaged);
}

TEST(FileSegment, NamesComeBackAndNothingElseDoes) {
  EXPECT_EQ(segment_file_name(Offset{42}), "00000000000000000042.log");
  EXPECT_EQ(parse_segment_file_name("00000000000000000042.log"), Offset{42});
  for (const char* bad : {"", "42.log", "00000000000000000042", "00000000000000000042.log.new", "LOCK"}) {
    EXPECT_FALSE(parse_segment_file_name(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace tidemark
