// How evenly replicas lie on members, measured as in "Adopting Random Slicing for Riak Core", section 6.3:
// the mean over members of the distance between a member's share of all copies and the fair share.
#pragma once

#include "hashring/preference_list.h"

namespace tidemark::hashring {

struct ReplicaSpread {
  double divergence;         // 0 is perfect.
  double queries_per_list;   // Lookups made for one list, on average.
  double largest_over_mean;  // The member with most copies.
};

// Over `keys` random keys with `replicas` copies each. REQUIRES: replicas <= ring.owner_count().
ReplicaSpread replica_spread(const SliceRing& ring, ReplicaPlacement placement, size_t replicas,
                             uint64_t keys);

}  // namespace tidemark::hashring
