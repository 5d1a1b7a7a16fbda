// The worked example of "The Rings of Power 2": m=8, Q=8, T=2, five nodes.
#include <gtest/gtest.h>

#include <array>
#include <iomanip>
#include <sstream>

#include "hashring/preference_list.h"
#include "hashring/token_ring.h"
#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

const std::array<const char*, 5> kNodes = {"113.181.90.103", "102.190.90.78", "140.93.207.103",
                                           "92.106.122.149", "18.54.73.101"};
constexpr const char* kA = "113.181.90.103";
constexpr const char* kB = "102.190.90.78";
constexpr const char* kC = "140.93.207.103";
constexpr const char* kD = "92.106.122.149";
constexpr const char* kE = "18.54.73.101";

Member node(size_t i) {
  return {MemberId{static_cast<uint32_t>(i)}, kNodes[i], 1};
}

// A cell as the paper prints it: rank (-1 if the shard has no explicit owner), hash, node.
std::string cell(const TokenRing& ring, Shard shard) {
  std::ostringstream out;
  const MemberId owner = ring.assignment().owner(shard);
  if (owner == kNoMember) return "-1 0";
  const auto& claim = ring.claim(shard);
  out << (claim ? static_cast<int>(claim->rank) : -1) << ' ' << std::hex << std::setw(2) << std::setfill('0')
      << (claim ? claim->hash : 0) << " [" << kNodes[owner.value] << ']';
  return out.str();
}

std::string at(const char* claim, const char* name) {
  return std::string(claim) + " [" + name + "]";
}

std::vector<std::string> cells(const TokenRing& ring) {
  std::vector<std::string> column;
  for (uint32_t shard = 0; shard < 8; ++shard) column.push_back(cell(ring, {shard}));
  return column;
}

TEST(TokenRing, ReproducesTheWorkedExampleCellByCell) {
  TokenRing ring = *TokenRing::empty({.bits = 8, .shards = 8, .tokens = 2});
  const uint64_t addresses[] = {0x1f, 0x3f, 0x5f, 0x7f, 0x9f, 0xbf, 0xdf, 0xff};
  for (uint32_t shard = 0; shard < 8; ++shard) EXPECT_EQ(ring.last_address({shard}), addresses[shard]);
  EXPECT_EQ(cells(ring), std::vector<std::string>(8, "-1 0"));

  const std::vector<std::vector<std::string>> columns = {
      {at("-1 00", kA), at("-1 00", kA), at("-1 00", kA), at("-1 00", kA), at("-1 00", kA), at("2 bc", kA),
       at("0 d5", kA), at("1 ef", kA)},
      {at("-1 00", kA), at("-1 00", kA), at("2 41", kB), at("-1 00", kB), at("-1 00", kB), at("0 b5", kB),
       at("0 d5", kA), at("1 ef", kA)},
      {at("-1 00", kC), at("1 25", kC), at("2 42", kC), at("-1 00", kC), at("-1 00", kC), at("0 b5", kB),
       at("0 d5", kA), at("0 ff", kC)},
      {at("-1 00", kC), at("1 25", kC), at("2 42", kC), at("2 70", kD), at("0 9f", kD), at("0 b5", kB),
       at("0 d5", kA), at("0 ff", kC)},
      {at("-1 00", kC), at("1 2a", kE), at("2 42", kC), at("2 70", kD), at("0 9f", kD), at("0 b5", kB),
       at("0 d5", kA), at("0 ff", kC)},
  };
  for (size_t i = 0; i < kNodes.size(); ++i) {
    ring = *ring.join(node(i));
    EXPECT_EQ(cells(ring), columns[i]) << "after the node at t" << i + 1;
  }
}

// Read off the last column: the owner of the hit shard, then the next distinct owners clockwise.
TEST(TokenRing, ReplicasAndHandoffsFollowClockwise) {
  TokenRing ring = *TokenRing::empty({.bits = 8, .shards = 8, .tokens = 2});
  for (size_t i = 0; i < kNodes.size(); ++i) ring = *ring.join(node(i));
  const SliceRing slices = to_slices(ring.assignment());
  const uint64_t shard = 0x42 >> 5;  // A key that hashes to 0x42 lies in shard 2.
  EXPECT_EQ(*replica_list(slices, ReplicaPlacement::Clockwise, shard, 3),
            (std::vector<MemberId>{node(2).id, node(3).id, node(1).id}));
  EXPECT_EQ(*handoff_list(slices, ReplicaPlacement::Clockwise, shard, 3, 3),
            (std::vector<MemberId>{node(0).id, node(4).id}));
}

TEST(TokenRing, RefusesShapesItCanNotCompute) {
  EXPECT_EQ(TokenRing::empty({.bits = 7, .shards = 8}).error().code, Refusal::OutOfRange);
  EXPECT_EQ(TokenRing::empty({.bits = 65, .shards = 8}).error().code, Refusal::OutOfRange);
  EXPECT_EQ(TokenRing::empty({.bits = 8, .shards = 257}).error().code, Refusal::OutOfRange);
  EXPECT_EQ(TokenRing::empty({.bits = 8, .shards = 0}).error().code, Refusal::OutOfRange);
  const TokenRing ring = *TokenRing::empty({.bits = 8, .shards = 8, .tokens = 2});
  EXPECT_EQ(ring.join(Member{MemberId{0}, "a", UINT64_MAX}).error().code, Refusal::OutOfRange);
  EXPECT_EQ(ring.join(*TokenRing::empty({.bits = 8, .shards = 4, .tokens = 2})).error().code,
            Refusal::RingsDiffer);
}

}  // namespace
}  // namespace tidemark::hashring
