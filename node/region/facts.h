// What a region is told from outside: the region map, the catalog, the ring, the time.
#pragma once

#include <memory>
#include <optional>

#include "base/types.h"
#include "proto/catalog.pb.h"
#include "proto/facts.pb.h"

namespace tidemark {

// What the map says about one region.
struct RegionFacts {
  MapVersion map_version;
  pb::RegionEntry entry;
  std::optional<pb::RegionChange> change;  // Of which the region is a parent.
  Generation child_generation;             // With `change`: one more than that of any parent.
};

// None: the map has no such region.
std::optional<RegionFacts> facts_of(const pb::RegionMap& map, RegionId region);

// The newest that a region was told.
struct RegionInputs {
  std::optional<RegionFacts> facts;
  std::shared_ptr<const pb::Catalog> catalog;
  RingVersion ring;
  bool held_back = false;
  Micros now;
  int64_t time_of_day_micros = 0;  // Stamps records; nothing is decided by it.
};

}  // namespace tidemark
