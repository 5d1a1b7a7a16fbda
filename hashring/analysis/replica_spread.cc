#include "hashring/analysis/replica_spread.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hashring/mix.h"

namespace tidemark::hashring {

ReplicaSpread replica_spread(const SliceRing& ring, ReplicaPlacement placement, size_t replicas,
                             uint64_t keys) {
  std::map<MemberId, uint64_t> copies;
  uint64_t queries = 0;
  for (uint64_t key = 0; key < keys; ++key) {
    PreferenceList list(ring, placement, unit_of(draw(0, key), ring.size()));
    for (size_t i = 0; i < replicas; ++i) ++copies[*list.next()];
    queries += list.queries();
  }
  const double fair = 1 / static_cast<double>(ring.owner_count());
  const auto total = static_cast<double>(keys * replicas);
  // Members without any copy diverge by the whole fair share.
  double divergence = fair * static_cast<double>(ring.owner_count() - copies.size());
  double largest = 0;
  for (const auto& [member, count] : copies) {
    const double share = static_cast<double>(count) / total;
    divergence += std::abs(share - fair);
    largest = std::max(largest, share);
  }
  return {divergence * fair, static_cast<double>(queries) / static_cast<double>(keys), largest / fair};
}

}  // namespace tidemark::hashring
