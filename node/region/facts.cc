#include "node/region/facts.h"

#include <algorithm>

#include "base/mutation.h"

namespace tidemark {

namespace {

bool is_parent(const pb::RegionChange& change, RegionId region) {
  return std::find(change.parents().begin(), change.parents().end(), region.value) != change.parents().end();
}

Generation child_generation(const pb::RegionMap& map, const pb::RegionChange& change) {
  uint32_t highest = 0;
  for (const pb::RegionEntry& entry : map.regions()) {
    if (TM_MUTATION("generation of one parent on merge") && entry.region() != change.parents(0)) continue;
    if (is_parent(change, RegionId{entry.region()})) highest = std::max(highest, entry.generation());
  }
  return Generation{highest + 1};
}

}  // namespace

std::optional<RegionFacts> facts_of(const pb::RegionMap& map, RegionId region) {
  auto entry = std::find_if(map.regions().begin(), map.regions().end(),
                            [&](const pb::RegionEntry& e) { return e.region() == region.value; });
  if (entry == map.regions().end()) return std::nullopt;
  RegionFacts out{MapVersion{map.version()}, *entry, std::nullopt, Generation{}};
  for (const pb::RegionChange& change : map.changes()) {
    if (!is_parent(change, region)) continue;
    out.change = change;
    out.child_generation = child_generation(map, change);
  }
  return out;
}

}  // namespace tidemark
