// What the region map says about one region.
#pragma once

#include <optional>

#include "base/types.h"
#include "proto/facts.pb.h"

namespace tidemark {

struct RegionFacts {
  MapVersion map_version;
  pb::RegionEntry entry;
  std::optional<pb::RegionChange> change;  // Of which the region is a parent.
  Generation child_generation;             // With `change`: one more than that of any parent.
};

// None: the map has no such region.
std::optional<RegionFacts> facts_of(const pb::RegionMap& map, RegionId region);

}  // namespace tidemark
