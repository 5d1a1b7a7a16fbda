// What a lookup costs, as a ratio to the plainest thing that could do it, measured in turns in the same run.
// Goals: shard to member within 2x of an array read, slices within 3x of a plain binary search.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "hashring/assignment.h"
#include "hashring/mix.h"
#include "hashring/random_slicing.h"

namespace tidemark::hashring {
namespace {

constexpr uint32_t kShards = 16384;
constexpr size_t kKeys = 8192;

Members members(uint32_t count) {
  Members members;
  for (uint32_t i = 0; i < count; ++i) members.push_back({MemberId{i}, "n" + std::to_string(i), 1});
  return members;
}

std::vector<uint64_t> hashes() {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < kKeys; ++i) hashes.push_back(draw(1, i));
  return hashes;
}

template <typename Lookup>
double seconds(const std::vector<uint64_t>& hashes, Lookup lookup) {
  const auto start = std::chrono::steady_clock::now();
  uint32_t sum = 0;
  for (const uint64_t hash : hashes) sum += lookup(hash);
  benchmark::DoNotOptimize(sum);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Both, in turns; reports each and the ratio.
template <typename Plain, typename Ours>
void compare(benchmark::State& state, Plain plain, Ours ours) {
  const std::vector<uint64_t> keys = hashes();
  double plain_seconds = 0, our_seconds = 0;
  for (auto _ : state) {
    plain_seconds += seconds(keys, plain);
    our_seconds += seconds(keys, ours);
  }
  const double lookups = static_cast<double>(state.iterations()) * kKeys;
  state.counters["plain_ns"] = plain_seconds * 1e9 / lookups;
  state.counters["ours_ns"] = our_seconds * 1e9 / lookups;
  state.counters["ratio"] = our_seconds / plain_seconds;
}

void shard_to_member(benchmark::State& state) {
  const Assignment ring =
      to_assignment(*reslice(SliceRing::unowned({kShards}), members(64), GapCollection::Coalescing));
  std::vector<uint32_t> array;
  for (const MemberId owner : ring.owners()) array.push_back(owner.value);
  compare(
      state, [&](uint64_t hash) { return array[hash >> 50]; },
      [&](uint64_t hash) { return ring.owner({static_cast<uint32_t>(hash >> 50)}).value; });
}
BENCHMARK(shard_to_member);

// With the hash's shard computed for any number of shards, against a shift for a power of two.
void hash_to_member(benchmark::State& state) {
  const Assignment ring =
      to_assignment(*reslice(SliceRing::unowned({kShards}), members(64), GapCollection::Coalescing));
  std::vector<uint32_t> array;
  for (const MemberId owner : ring.owners()) array.push_back(owner.value);
  compare(
      state, [&](uint64_t hash) { return array[hash >> 50]; },
      [&](uint64_t hash) { return ring.owner(ring.shard_of(hash)).value; });
}
BENCHMARK(hash_to_member);

// As many slices as members: the argument.
void hash_to_slice(benchmark::State& state) {
  const SliceRing ring = *reslice(SliceRing::unowned(kHashSpace),
                                  members(static_cast<uint32_t>(state.range(0))), GapCollection::Coalescing);
  std::vector<uint64_t> begins;
  std::vector<uint32_t> owners;
  for (const Slice& slice : ring.slices()) {
    begins.push_back(slice.begin);
    owners.push_back(slice.owner.value);
  }
  compare(
      state,
      [&](uint64_t hash) {
        return owners[static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), hash) -
                                          begins.begin()) -
                      1];
      },
      [&](uint64_t hash) { return ring.owner_of(hash).value; });
}
BENCHMARK(hash_to_slice)->RangeMultiplier(8)->Range(16, 65536);

}  // namespace
}  // namespace tidemark::hashring

BENCHMARK_MAIN();
