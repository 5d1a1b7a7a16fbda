#include <gtest/gtest.h>

#include <cmath>

#include "hashring/baselines/baselines.h"
#include "hashring/sha1.h"

namespace tidemark::hashring {
namespace {

std::string hex(const Sha1Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

TEST(Sha1, AgreesWithThePublishedExamples) {  // FIPS 180-2, appendix A.
  EXPECT_EQ(hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex(sha1(std::string(1'000'000, 'a'))), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, TopBitsAreTheFirstEightBytes) {
  EXPECT_EQ(top_bits(sha1("abc")), 0xa9993e364706816au);
}

TEST(NegativeLog2, IsWithinItsPrecision) {
  EXPECT_EQ(negative_log2(uint64_t{1} << 63), uint64_t{1} << 32);
  EXPECT_EQ(negative_log2(1), uint64_t{64} << 32);
  for (uint64_t x = 3; x < UINT64_MAX / 7; x = x * 7 + 1) {
    EXPECT_NEAR(std::ldexp(static_cast<double>(negative_log2(x)), -32),
                64 - std::log2(static_cast<double>(x)), 1e-8);
  }
}

// As published with the algorithm: key 0 stays in bucket 0 of one; and the values that implementations check.
TEST(JumpBucket, AgreesWithKnownValues) {
  EXPECT_EQ(jump_bucket(0, 1), 0u);
  EXPECT_EQ(jump_bucket(10863919174838991, 11), 6u);
  EXPECT_EQ(jump_bucket(2016238256797177309, 11), 3u);
  EXPECT_EQ(jump_bucket(1673758223894951030, 11), 5u);
  EXPECT_EQ(jump_bucket(2, 100001), 80343u);
  EXPECT_EQ(jump_bucket(2201, 100001), 22152u);
  EXPECT_EQ(jump_bucket(2202, 100001), 15018u);
}

}  // namespace
}  // namespace tidemark::hashring
