// A set of lanes as sorted, disjoint, non-touching ranges: few, since slices of the ring are contiguous.
#pragma once

#include <vector>

#include "base/types.h"

namespace tidemark {

class LaneSet {
 public:
  void add(ShardRange lanes);
  void remove(ShardRange lanes);

  bool empty() const { return ranges_.empty(); }
  bool contains(ShardId lane) const;
  bool overlaps(ShardRange lanes) const;
  const std::vector<ShardRange>& ranges() const { return ranges_; }

 private:
  std::vector<ShardRange> ranges_;
};

}  // namespace tidemark
