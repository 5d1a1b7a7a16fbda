// Steps counted to compute a change of members: a join, after a history that left slices to choose from.
// `per_nlogn` must not grow: n is members plus slices.
#include <benchmark/benchmark.h>

#include <cmath>

#include "hashring/random_slicing.h"

namespace tidemark::hashring {
namespace {

Members members(uint32_t first, uint32_t count) {
  Members members;
  for (uint32_t i = first; i < first + count; ++i)
    members.push_back({MemberId{i}, "n" + std::to_string(i), 1});
  return members;
}

void join(benchmark::State& state, GapCollection collection) {
  const auto count = static_cast<uint32_t>(state.range(0));
  SliceRing ring = SliceRing::unowned(kHashSpace);
  for (const uint32_t first : {0u, 1u, 2u})
    ring = *reslice(ring, members(first, count + first % 2), collection);
  const Members next = members(2, count + 1);
  Work work;
  for (auto _ : state) {
    work = {};
    benchmark::DoNotOptimize(reslice(ring, next, collection, &work));
  }
  const double n = static_cast<double>(count) + static_cast<double>(ring.slice_count());
  state.counters["slices"] = static_cast<double>(ring.slice_count());
  state.counters["steps"] = static_cast<double>(work.steps);
  state.counters["per_nlogn"] = static_cast<double>(work.steps) / (n * std::log2(n));
}
BENCHMARK_CAPTURE(join, greedy, GapCollection::Greedy)->RangeMultiplier(10)->Range(10, 10'000);
BENCHMARK_CAPTURE(join, cut_shift, GapCollection::CutShiftSorted)->RangeMultiplier(10)->Range(10, 10'000);
BENCHMARK_CAPTURE(join, coalescing, GapCollection::Coalescing)->RangeMultiplier(10)->Range(10, 10'000);

}  // namespace
}  // namespace tidemark::hashring

BENCHMARK_MAIN();
