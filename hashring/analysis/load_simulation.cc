#include "hashring/analysis/load_simulation.h"

#include <algorithm>
#include <numeric>

#include "hashring/mix.h"
#include "hashring/random_slicing.h"

namespace tidemark::hashring {

namespace {

constexpr uint32_t kRoundsPerShift = 10;
constexpr uint64_t kHottest = 1'000'000;
constexpr uint64_t kFloor = 100;

std::vector<uint64_t> load_per_shard(Workload workload, uint32_t shards, uint32_t round) {
  std::vector<uint64_t> load(shards, 0);
  if (workload == Workload::SingleQuery) {
    load[unit_of(draw(1, 0), {shards})] = kHottest;
    return load;
  }
  const uint64_t era = workload == Workload::Shifting ? round / kRoundsPerShift : 0;
  std::vector<uint32_t> by_popularity(shards);
  std::iota(by_popularity.begin(), by_popularity.end(), 0u);
  std::sort(by_popularity.begin(), by_popularity.end(),
            [&](uint32_t a, uint32_t b) { return draw(era, a) < draw(era, b); });
  for (uint32_t rank = 0; rank < shards; ++rank) load[by_popularity[rank]] = kFloor + kHottest / (rank + 1);
  return load;
}

std::vector<SliceLoad> measured(const std::vector<ShardRange>& slices,
                                const std::vector<uint64_t>& per_shard) {
  std::vector<SliceLoad> load;
  for (const ShardRange& slice : slices) {
    load.push_back({slice, std::accumulate(per_shard.begin() + slice.first, per_shard.begin() + slice.end,
                                           uint64_t{0})});
  }
  return load;
}

std::vector<ShardRange> equal_slices(uint32_t shards, uint32_t count) {
  std::vector<ShardRange> slices;
  for (uint64_t i = 0; i < count; ++i) {
    const auto first = static_cast<uint32_t>(i * shards / count),
               end = static_cast<uint32_t>((i + 1) * shards / count);
    if (first < end) slices.push_back({first, end});
  }
  return slices;
}

}  // namespace

std::vector<LoadRound> simulate_load(const LoadSimulation& simulation) {
  Members members;
  for (uint32_t i = 0; i < simulation.members; ++i)
    members.push_back({MemberId{i}, "n" + std::to_string(i), 1});
  const Assignment start =
      to_assignment(*reslice(SliceRing::unowned({simulation.shards}), members, GapCollection::Coalescing));
  Assignment present = start;
  std::vector<ShardRange> slices =
      equal_slices(simulation.shards, simulation.members * simulation.slices_per_member);

  std::vector<LoadRound> rounds;
  for (uint32_t round = 0; round < simulation.rounds; ++round) {
    const std::vector<uint64_t> per_shard = load_per_shard(simulation.workload, simulation.shards, round);
    const std::vector<SliceLoad> exact =
        measured(equal_slices(simulation.shards, simulation.shards), per_shard);
    WeightedMovePlan next = *weighted_move(simulation.policy, members, present, measured(slices, per_shard));
    const double total =
        static_cast<double>(std::accumulate(per_shard.begin(), per_shard.end(), uint64_t{0}));
    const double hottest = static_cast<double>(*std::max_element(per_shard.begin(), per_shard.end()));
    rounds.push_back({round, imbalance(members, start, exact), imbalance(members, present, exact),
                      imbalance(members, next.assignment, exact),
                      100.0 * static_cast<double>(next.moved_shards + next.merged_shards) / simulation.shards,
                      std::max(1.0, hottest * simulation.members / total), next.slices.size()});
    present = std::move(next.assignment);
    slices = std::move(next.slices);
  }
  return rounds;
}

}  // namespace tidemark::hashring
