// What random slicing is measured against. Each is pure and refuses bad members like the others; plan()
// checks them before.
#pragma once

#include "hashring/assignment.h"

namespace tidemark::hashring {

// Equal partitions claimed as in Riak: a joining member takes shards from those above their share, at least
// `distance` apart from its own; if the result can not keep all owners apart although there are members
// enough, everything is dealt out anew. WeightsUnsupported.
Result<Assignment> riak_claim(const Members& members, const Assignment& present, uint32_t distance);

// Whether any `distance` consecutive shards belong to different members.
bool keeps_distance(const Assignment& assignment, uint32_t distance);

// Karger et al.: each member has weight * tokens random points; a shard goes to the next point.
Result<Assignment> karger(const Members& members, uint32_t shards, uint32_t tokens);

// Weighted rendezvous: a shard goes to the member with the least -log(random)/weight, computed in integers.
Result<Assignment> rendezvous(const Members& members, uint32_t shards);

// -log2(x / 2^64), as a fixed-point number with 32 fraction bits. REQUIRES: x > 0.
uint64_t negative_log2(uint64_t x);

// Lamping and Veach's jump consistent hash over the members in order of id. WeightsUnsupported;
// RemovalUnsupported unless those who leave have the highest ids of all present owners and those who join
// higher ones.
Result<Assignment> jump(const Members& members, const Assignment& present);

// The bucket, 0 to buckets - 1, of a key. REQUIRES: buckets > 0.
uint32_t jump_bucket(uint64_t key, uint32_t buckets);

}  // namespace tidemark::hashring
