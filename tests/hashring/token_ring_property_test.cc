#include "hashring/token_ring.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hashring/sha1.h"
#include "tests/hashring/histories.h"

namespace tidemark::hashring {
namespace {

TokenRingShape any_shape() {
  return {.bits = *rc::gen::element(8u, 9u, 16u, 33u, 64u),
          .shards = *rc::gen::inRange(8u, 65u),
          .tokens = *rc::gen::inRange(0u, 9u)};
}

Members light_members() {
  Members members = any_members(8, Weights::Equal);
  for (Member& member : members) member.weight = *rc::gen::inRange<uint64_t>(1, 4);
  return members;
}

TokenRing ring_of(const TokenRingShape& shape, const Members& members) {
  return *TokenRing::of(shape, members);
}

RC_GTEST_PROP(TokenRingJoin, IsAssociativeCommutativeAndIdempotent, ()) {
  const TokenRingShape shape = any_shape();
  const TokenRing a = ring_of(shape, light_members()), b = ring_of(shape, light_members()),
                  c = ring_of(shape, light_members());
  RC_ASSERT(*a.join(*b.join(c)) == *a.join(b)->join(c));
  RC_ASSERT(*a.join(b) == *b.join(a));
  RC_ASSERT(*a.join(a) == a);
  RC_ASSERT(*a.join(*TokenRing::empty(shape)) == a);
}

RC_GTEST_PROP(TokenRingJoin, IsIndependentOfTheOrderOfArrival, ()) {
  const TokenRingShape shape = any_shape();
  const Members members = light_members();

  TokenRing ring = *TokenRing::empty(shape);
  Members left = members;
  while (!left.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<size_t>(0, left.size()));
    ring = *ring.join(left[static_cast<size_t>(at)]);
    left.erase(left.begin() + at);
  }
  RC_ASSERT(ring == ring_of(shape, members));
  RC_ASSERT(ring.assignment() == ring_of(shape, members).assignment());
}

// All tokens of all members in one list; per shard the first by (rank, hash downwards, id).
RC_GTEST_PROP(TokenRing, AgreesWithItsNaiveTwin, ()) {
  const TokenRingShape shape = any_shape();
  const Members members = light_members();
  std::map<uint64_t, std::vector<std::tuple<uint32_t, uint64_t, uint32_t>>> hits;
  for (const Member& member : members) {
    std::string bytes = member.name;
    for (uint32_t rank = 0; rank <= shape.tokens * member.weight; ++rank) {
      const Sha1Digest digest = sha1(bytes);
      bytes = member.name + std::string(digest.begin(), digest.end());
      const uint64_t hash = top_bits(digest) >> (64 - shape.bits);
      const uint64_t width = shape.bits < 64 ? (uint64_t{1} << shape.bits) : 0;
      // Scan for the shard, by the definition: the first whose last address is not below the hash.
      const TokenRing ring = *TokenRing::empty(shape);
      uint32_t shard = 0;
      while (ring.last_address({shard}) < hash) ++shard;
      RC_ASSERT(width == 0 || hash < width);
      hits[shard].emplace_back(rank, ~hash, member.id.value);
    }
  }
  const TokenRing ring = ring_of(shape, members);
  const Assignment assignment = ring.assignment();
  RC_ASSERT(ring.claimed_count() == hits.size());
  for (uint32_t shard = 0; shard < shape.shards; ++shard) {
    auto nearest = hits.upper_bound(shard);
    nearest = std::prev(nearest == hits.begin() ? hits.end() : nearest);
    const auto& candidates = nearest->second;
    const auto best = *std::min_element(candidates.begin(), candidates.end());
    RC_ASSERT(assignment.owner({shard}).value == std::get<2>(best));
  }
}

}  // namespace
}  // namespace tidemark::hashring
