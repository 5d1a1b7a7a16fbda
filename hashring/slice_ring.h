// A ring cut into slices, each owned by one member. Immutable; a lookup is a binary search in one array of
// 64-bit numbers.
#pragma once

#include <span>

#include "hashring/types.h"

namespace tidemark::hashring {

struct Slice {
  uint64_t begin;
  u128 length;
  MemberId owner;
  auto operator<=>(const Slice&) const = default;
};

class SliceRing {
 public:
  // One slice that nobody owns: where every history begins.
  static SliceRing unowned(RingSize size);

  // Joins neighbours of the same owner and drops empty slices.
  // REQUIRES: the slices lie end to end from unit 0 to the ring's end.
  SliceRing(RingSize size, std::span<const Slice> slices);

  RingSize size() const { return size_; }
  size_t slice_count() const { return begins_.size(); }
  // How many different members own a slice.
  size_t owner_count() const { return owner_count_; }

  Slice slice(size_t index) const;
  std::vector<Slice> slices() const;
  size_t index_of(uint64_t unit) const;
  MemberId owner_of(uint64_t unit) const { return owners_[index_of(unit)]; }

  bool operator==(const SliceRing&) const = default;

 private:
  RingSize size_;
  std::vector<uint64_t> begins_;
  std::vector<MemberId> owners_;
  size_t owner_count_ = 0;
};

// Units owned by each of `members`, in their order.
std::vector<u128> units_owned(const SliceRing& ring, const Members& members);

}  // namespace tidemark::hashring
