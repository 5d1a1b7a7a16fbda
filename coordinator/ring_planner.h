// From the present ring and the wanted members to the next ring, by a strategy of hashring/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "proto/facts.pb.h"

namespace tidemark {

struct RingMember {
  std::string name;
  uint32_t weight = 1;
};
struct MeasuredLoad {
  ShardRange shards;
  uint64_t changes_per_second = 0;
};

// The ring of version present.version() + 1. REQUIRES: names are unique.
Result<pb::Ring> plan_ring(const std::string& placement, ShardCount shards, const pb::Ring& present,
                           const std::vector<RingMember>& members);

// The same members, with hot shards moved within a budget of churn. The load covers all shards, in order.
Result<pb::Ring> plan_balanced_ring(ShardCount shards, const pb::Ring& present,
                                    const std::vector<RingMember>& members,
                                    const std::vector<MeasuredLoad>& load);

// Shards whose view manager differs.
struct RingMove {
  ShardRange shards;
  std::string from;  // Empty: nobody's before.
  std::string to;
};
std::vector<RingMove> ring_moves(const pb::Ring& before, const pb::Ring& after);
uint32_t shards_of(const pb::Ring& ring, const std::string& member);
bool is_placement(const std::string& name);

}  // namespace tidemark
