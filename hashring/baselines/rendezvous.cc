#include <bit>

#include "hashring/baselines/baselines.h"
#include "hashring/mix.h"

namespace tidemark::hashring {

// Bit by bit: squaring a number in [1, 2) doubles its logarithm, whose next bit is whether it reached 2.
uint64_t negative_log2(uint64_t x) {
  const auto zeros = static_cast<uint64_t>(std::countl_zero(x));
  uint64_t mantissa = x << zeros;  // In [1, 2), with 63 fraction bits.
  uint64_t fraction = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const u128 square = u128{mantissa} * mantissa;
    const bool reached_two = (square >> 127) != 0;
    if (reached_two) fraction |= uint64_t{1} << bit;
    mantissa = static_cast<uint64_t>(square >> (reached_two ? 64 : 63));
  }
  return ((zeros + 1) << 32) - fraction;
}

Result<Assignment> rendezvous(const Members& members, uint32_t shards) {
  struct Bid {
    uint64_t seed;
    uint64_t weight;
    MemberId id;
  };
  std::vector<Bid> bids;
  for (const Member& member : members) bids.push_back({hash_name(member.name), member.weight, member.id});

  std::vector<MemberId> owners(shards);
  for (uint32_t shard = 0; shard < shards; ++shard) {
    size_t best = bids.size();  // None yet.
    uint64_t best_number = 0;
    u128 best_log = 0;
    for (size_t i = 0; i < bids.size(); ++i) {
      const Bid& bid = bids[i];
      const bool has_best = best < bids.size();
      const uint64_t number = draw(bid.seed, shard) | 1;
      // Logarithms are dear, and of equal weights only a higher number can win.
      if (has_best && bid.weight == bids[best].weight && number <= best_number) continue;
      const u128 log = negative_log2(number);
      // log / weight < best_log / the best one's weight, without dividing.
      if (has_best && log * bids[best].weight >= best_log * bid.weight) continue;
      best = i;
      best_number = number;
      best_log = log;
    }
    owners[shard] = bids[best].id;
  }
  return Assignment(std::move(owners));
}

}  // namespace tidemark::hashring
