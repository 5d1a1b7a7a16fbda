#include <algorithm>

#include "hashring/baselines/baselines.h"
#include "hashring/mix.h"

namespace tidemark::hashring {

namespace {

constexpr uint64_t kPointsMax = 1u << 24;

struct Point {
  uint64_t hash;
  MemberId owner;
  auto operator<=>(const Point&) const = default;
};

}  // namespace

Result<Assignment> karger(const Members& members, uint32_t shards, uint32_t tokens) {
  u128 wanted = 0;
  for (const Member& member : members) wanted += u128{member.weight} * tokens;
  if (wanted == 0 || wanted > kPointsMax) {
    return Error{Refusal::OutOfRange, "weights times tokens must be from 1 to 2^24 points"};
  }
  std::vector<Point> points;
  points.reserve(static_cast<size_t>(wanted));
  for (const Member& member : members) {
    const uint64_t seed = hash_name(member.name);
    for (uint64_t i = 0; i < member.weight * tokens; ++i) points.push_back({draw(seed, i), member.id});
  }
  std::sort(points.begin(), points.end());

  std::vector<MemberId> owners(shards);
  size_t next = 0;
  for (uint32_t shard = 0; shard < shards; ++shard) {
    while (next < points.size() && unit_of(points[next].hash, {shards}) < shard) ++next;
    owners[shard] = points[next % points.size()].owner;
  }
  return Assignment(std::move(owners));
}

}  // namespace tidemark::hashring
