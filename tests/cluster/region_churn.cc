#include "tests/cluster/region_churn.h"

#include <algorithm>

namespace tidemark::crash {
namespace {

constexpr size_t kRegionsMin = 3;
constexpr size_t kRegionsMax = 7;

template <typename T>
const T& any(const std::vector<T>& all, Random& random) {
  return all[random.below(all.size())];
}

}  // namespace

Words random_move(const ClusterShown& now, Random& random) {
  const auto regions = now.live_regions();
  std::vector<std::string> targets;
  for (const MemberShown& node : now.nodes)
    if (node.alive && !node.leaving) targets.push_back(node.name);
  if (regions.empty() || targets.size() < 2) return {};
  const RegionShown& region = any(regions, random);
  std::erase(targets, region.owner);
  return {"move-region", std::to_string(region.id), any(targets, random)};
}

Words random_split(const ClusterShown& now, Random& random) {
  auto regions = now.live_regions();
  std::erase_if(regions, [](const RegionShown& one) { return one.end_shard - one.first_shard < 2; });
  if (regions.empty()) return {};
  return {"split-region", std::to_string(any(regions, random).id)};
}

Words random_merge(const ClusterShown& now, Random& random) {
  auto regions = now.live_regions();
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a.first_shard < b.first_shard; });
  if (regions.size() < 2) return {};
  const size_t first = random.below(regions.size() - 1);
  return {"merge-regions", std::to_string(regions[first].id), std::to_string(regions[first + 1].id)};
}

Words random_region_operation(const ClusterShown& now, Random& random) {
  const size_t regions = now.live_regions().size();
  uint64_t choice = random.below(3);
  if (choice == 1 && regions >= kRegionsMax) choice = 2;
  if (choice == 2 && regions <= kRegionsMin) choice = 1;
  Words words = choice == 0   ? random_move(now, random)
                : choice == 1 ? random_split(now, random)
                              : random_merge(now, random);
  if (!words.empty()) words.insert(words.begin(), "--no-wait");
  return words;
}

}  // namespace tidemark::crash
