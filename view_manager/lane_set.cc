#include "view_manager/lane_set.h"

#include <algorithm>

namespace tidemark {

void LaneSet::add(ShardRange lanes) {
  if (lanes.empty()) return;
  std::vector<ShardRange> out;
  for (const ShardRange& range : ranges_) {
    if (range.end < lanes.begin || lanes.end < range.begin) {
      out.push_back(range);
    } else {
      lanes = {std::min(range.begin, lanes.begin), std::max(range.end, lanes.end)};
    }
  }
  out.insert(std::lower_bound(out.begin(), out.end(), lanes), lanes);
  ranges_ = std::move(out);
}

void LaneSet::remove(ShardRange lanes) {
  std::vector<ShardRange> out;
  for (const ShardRange& range : ranges_) {
    ShardRange left{range.begin, std::min(range.end, lanes.begin)};
    ShardRange right{std::max(range.begin, lanes.end), range.end};
    if (lanes.empty() || !range.overlaps(lanes)) {
      out.push_back(range);
      continue;
    }
    if (!left.empty()) out.push_back(left);
    if (!right.empty()) out.push_back(right);
  }
  ranges_ = std::move(out);
}

bool LaneSet::contains(ShardId lane) const {
  return overlaps({lane, ShardId{lane.value + 1}});
}

bool LaneSet::overlaps(ShardRange lanes) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const ShardRange& range) { return range.overlaps(lanes); });
}

}  // namespace tidemark
