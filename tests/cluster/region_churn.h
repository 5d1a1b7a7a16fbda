// Random wishes of an operator: moves, splits and merges of regions.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "tests/cluster/admin.h"

namespace tidemark::crash {

using Words = std::vector<std::string>;  // Of `tidemark admin`.

// Empty: it can't be done now.
Words random_move(const ClusterShown& now, Random& random);
Words random_split(const ClusterShown& now, Random& random);
Words random_merge(const ClusterShown& now, Random& random);

// One of them, so that there are neither very few nor very many regions. Does not wait for its end.
Words random_region_operation(const ClusterShown& now, Random& random);

}  // namespace tidemark::crash
