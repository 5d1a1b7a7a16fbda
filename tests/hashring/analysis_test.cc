// The papers' figures, at sizes that take a moment. TIDEMARK_FULL=1 runs the papers' own sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "hashring/analysis/comparison.h"
#include "hashring/analysis/load_simulation.h"
#include "hashring/analysis/replica_spread.h"
#include "hashring/analysis/slice_history.h"
#include "hashring/analysis/statistics.h"
#include "hashring/analysis/token_ring_analysis.h"
#include "tests/hashring/members.h"

namespace tidemark::hashring {
namespace {

uint32_t full_or(uint32_t full, uint32_t quick) {
  return std::getenv("TIDEMARK_FULL") != nullptr ? full : quick;
}

TEST(RingsOfPower, FourTokensPerShardAllocateNinetyEightPercentExplicitly) {
  const Allocation few = explicit_allocation(4096, 64, 256, 1), many = explicit_allocation(4096, 512, 32, 2);
  EXPECT_NEAR(few.explicit_share, 0.98, 0.01);
  EXPECT_NEAR(many.explicit_share, few.explicit_share, 0.01);  // "has the same allocation probability".
  for (const uint32_t nodes : {16u, 64u, 128u}) {
    const Allocation row = explicit_allocation(4096, nodes, 64, nodes);
    EXPECT_NEAR(row.explicit_share, 1 - std::exp(-row.tokens_per_shard), 0.03);
  }
}

TEST(RingsOfPower, HandoffFallsBelowATenthBeyondEightNodes) {
  const uint32_t draws = full_or(200, 20);
  EXPECT_GT(handoff_share(4096, 7, 64, draws), 0.10);
  EXPECT_LT(handoff_share(4096, 10, 64, draws), 0.10);
  EXPECT_NEAR(handoff_share(4096, 16, 64, draws), 1 / 17.0, 0.01);
}

TEST(RingsOfPower, LoadSpreadHasThePrintedMeanAndSigma) {
  const auto spreads = load_spread(4096, 16, 64, 3, full_or(2000, 100));
  ASSERT_EQ(spreads.size(), 4u);
  for (const auto& place : spreads) {
    std::vector<double> sigmas;
    for (const Spread& spread : place) {
      EXPECT_NEAR(spread.mean, 6.25, 1e-9);
      sigmas.push_back(spread.sigma);
    }
    EXPECT_NEAR(mean(sigmas), 0.79, 0.12);
    // The printed 0.79 is an ordinary draw.
    EXPECT_GT(share_below(sigmas, 0.79), 0.05);
    EXPECT_LT(share_below(sigmas, 0.79), 0.95);
  }
}

size_t slices_after(History history, GapCollection collection, uint32_t changes, uint64_t seed) {
  size_t slices = 0;
  run_history(history, collection, kHashSpace, 16, changes, seed, [&](const HistoryStep& step) {
    EXPECT_NEAR(step.moved, step.minimum, 1e-12);
    slices = step.slices;
  });
  return slices;
}

TEST(SliceHistory, CoalescingLeavesFewestSlicesAndNoneMovesMoreThanTheMinimum) {
  const uint32_t changes = full_or(1000, 100), seeds = full_or(20, 4);
  for (const History history : {History::Churning, History::Reweighting}) {
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const size_t greedy = slices_after(history, GapCollection::Greedy, changes, seed);
      const size_t cut_shift = slices_after(history, GapCollection::CutShiftSorted, changes, seed);
      const size_t coalescing = slices_after(history, GapCollection::Coalescing, changes, seed);
      EXPECT_LT(cut_shift, greedy) << "seed " << seed;
      EXPECT_LT(coalescing, cut_shift) << "seed " << seed;
    }
  }
  EXPECT_EQ(slices_after(History::Replacing, GapCollection::Coalescing, 50, 0), 16u);
}

// Section 7.1: too many gaps, and minuscule sections.
TEST(SliceHistory, CoalescingAbsorbsSlivers) {
  const auto slivers = [](GapCollection collection) {
    SliceRing ring = SliceRing::unowned(kHashSpace);
    for (const Members& members : members_of(History::Churning, 16, 200, 7)) {
      ring = *reslice(ring, members, collection);
    }
    const u128 tiny = kHashSpace.units / 16 / 1000;
    size_t count = 0;
    for (const Slice& slice : ring.slices()) count += slice.length < tiny;
    return count;
  };
  EXPECT_LT(slivers(GapCollection::Coalescing), slivers(GapCollection::Greedy) / 4);
}

// The thesis does not say how its ring of seven came about; 3, 4, 7 is the order of its dynamic runs. Its
// figure for rotation on four nodes (0.024) does not come out: here it is 0.042.
TEST(ReplicaSpread, RandomIsFairestAndTheOthersAreNearTheThesisForSevenNodes) {
  SliceRing ring = SliceRing::unowned(kHashSpace);
  for (const uint32_t count : {3u, 4u, 7u})
    ring = *reslice(ring, equal_members(count), GapCollection::Greedy);
  const uint64_t keys = full_or(100'000, 20'000);
  const auto divergence = [&](ReplicaPlacement placement) {
    return replica_spread(ring, placement, 3, keys).divergence;
  };
  EXPECT_LT(divergence(ReplicaPlacement::Random), 0.002);             // Table B.1: 0.0016 and 0.0005.
  EXPECT_NEAR(divergence(ReplicaPlacement::Rotation), 0.018, 0.003);  // 0.0163 and 0.0192.
  EXPECT_NEAR(divergence(ReplicaPlacement::Jumping), 0.0205, 0.005);  // 0.0205 (and 0.0469).
}

TEST(LoadSimulation, SkewIsBalancedDownToTheHottestShardWithinTheBudget) {
  for (const Workload workload : {Workload::ProductionLike, Workload::Shifting}) {
    for (const LoadRound& round : simulate_load({.workload = workload, .shards = full_or(16384, 4096)})) {
      EXPECT_LE(round.moved_percent, 10.0);
      EXPECT_LE(round.after, round.before + 1e-9);
      if (round.round % 10 >= 5) {
        EXPECT_LT(round.after, round.best_possible * 1.02) << "round " << round.round;
      }
      EXPECT_GT(round.unbalanced, round.after);
    }
  }
}

// As the thesis found: "This did not happen."
TEST(LoadSimulation, ASingleHotKeyCanNotBeBalanced) {
  const auto rounds = simulate_load({.workload = Workload::SingleQuery, .members = 3, .rounds = 10});
  EXPECT_DOUBLE_EQ(rounds.back().after, 3);
  EXPECT_EQ(rounds.back().moved_percent, 0);
}

TEST(Comparison, OnlySlicingMovesTheMinimumAndIsExactlyFairInFewSlices) {
  const Contest contest{.shards = 1024, .members = 8, .changes = full_or(200, 40)};
  for (const StrategyKind kind : all_strategies()) {
    SCOPED_TRACE(name_of(kind));
    const Standing standing = compare(kind, contest);
    ASSERT_TRUE(standing.join.has_value());
    EXPECT_EQ(standing.history.has_value(), kind != StrategyKind::Jump);
    EXPECT_EQ(standing.takes_weights, kind != StrategyKind::Jump && kind != StrategyKind::RiakClaim);
    if (kind != StrategyKind::Coalescing) continue;
    EXPECT_LE(standing.history->share, standing.history->minimum * 1.001);
    EXPECT_LE(standing.peak_over_mean, 1.001);
  }
}

TEST(Statistics, AreTheTextbookOnes) {
  EXPECT_DOUBLE_EQ(mean(std::vector<double>{1, 2, 3, 6}), 3);
  EXPECT_DOUBLE_EQ(sigma(std::vector<double>{2, 4, 4, 4, 5, 5, 7, 9}), 2);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(share_below(std::vector<double>{1, 2, 3, 4}, 3), 0.5);
}

// Computing a change must not cost more than n log n, from 10 members to 10,000.
TEST(Work, GrowsNoFasterThanNLogN) {
  for (const GapCollection collection :
       {GapCollection::Greedy, GapCollection::CutShiftSorted, GapCollection::Coalescing}) {
    for (const uint32_t count : {10u, 100u, 1'000u, 10'000u}) {
      SliceRing ring = *reslice(SliceRing::unowned(kHashSpace), equal_members(count), collection);
      Members next = equal_members(count + 1);
      next.erase(next.begin() + count / 2);
      next.front().weight = 3;
      ring = *reslice(ring, next, collection);  // So that there are slices to choose from.
      Work work;
      ASSERT_TRUE(reslice(ring, equal_members(count + 2), collection, &work).ok());
      const double n = static_cast<double>(count) + static_cast<double>(ring.slice_count());
      EXPECT_LT(static_cast<double>(work.steps), 8 * n * std::log2(n)) << count << " members";
    }
  }
}

}  // namespace
}  // namespace tidemark::hashring
