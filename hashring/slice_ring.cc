#include "hashring/slice_ring.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tidemark::hashring {

SliceRing SliceRing::unowned(RingSize size) {
  const Slice whole{0, size.units, kNoMember};
  return SliceRing(size, std::span(&whole, 1));
}

SliceRing::SliceRing(RingSize size, std::span<const Slice> slices) : size_(size) {
  std::unordered_set<uint32_t> owners;
  for (const Slice& slice : slices) {
    if (slice.length == 0) continue;
    if (!owners_.empty() && owners_.back() == slice.owner) continue;
    begins_.push_back(slice.begin);
    owners_.push_back(slice.owner);
    if (slice.owner != kNoMember) owners.insert(slice.owner.value);
  }
  owner_count_ = owners.size();
}

Slice SliceRing::slice(size_t index) const {
  const u128 end = index + 1 < begins_.size() ? begins_[index + 1] : size_.units;
  return {begins_[index], end - begins_[index], owners_[index]};
}

std::vector<Slice> SliceRing::slices() const {
  std::vector<Slice> slices;
  slices.reserve(begins_.size());
  for (size_t i = 0; i < begins_.size(); ++i) slices.push_back(slice(i));
  return slices;
}

// Halves the range without a branch that depends on the data: random keys would mispredict every second one.
size_t SliceRing::index_of(uint64_t unit) const {
  const uint64_t* base = begins_.data();
  for (size_t left = begins_.size(); left > 1;) {
    const size_t half = left / 2;
    base += base[half] <= unit ? half : 0;
    left -= half;
  }
  return static_cast<size_t>(base - begins_.data());
}

std::vector<u128> units_owned(const SliceRing& ring, const Members& members) {
  std::unordered_map<uint32_t, u128> owned;
  for (size_t i = 0; i < ring.slice_count(); ++i) {
    const Slice slice = ring.slice(i);
    owned[slice.owner.value] += slice.length;
  }
  std::vector<u128> units;
  units.reserve(members.size());
  for (const Member& member : members) units.push_back(owned[member.id.value]);
  return units;
}

}  // namespace tidemark::hashring
