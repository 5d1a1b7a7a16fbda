// The three analyses of "The Rings of Power 2": explicit allocation, hand-off when a node joins, and the
// spread of load over nodes and replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "hashring/types.h"

namespace tidemark::hashring {

// Nodes with random addresses: draw `number` names a different set each time.
Members random_nodes(uint32_t count, uint64_t number);

struct Allocation {
  uint32_t nodes, tokens;
  double tokens_per_shard;  // N * T / Q.
  double explicit_share;    // Of the shards, hit by some token.
};
Allocation explicit_allocation(uint32_t shards, uint32_t nodes, uint32_t tokens, uint64_t seed);

// Share of the shards that change owner when one node joins `nodes`, the mean over `draws`.
double handoff_share(uint32_t shards, uint32_t nodes, uint32_t tokens, uint32_t draws);

// One ring's spread: percent of the shards per node.
struct Spread {
  double q1, mean, sigma, q3;
};
// [0]: the primary; [k]: the k-th replica. One entry of each vector per draw.
std::vector<std::vector<Spread>> load_spread(uint32_t shards, uint32_t nodes, uint32_t tokens,
                                             uint32_t replicas, uint32_t draws);

}  // namespace tidemark::hashring
