// The swarm: as many random clusters as TIDEMARK_SWARM_SEEDS says, each run twice, every property checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/simulate_campaign.h"
#include "cli/simulate_trace.h"
#include "tests/simulation/evaluator.h"
#include "tests/simulation/scenario.h"

namespace tidemark {
namespace {

constexpr uint64_t kSeedsOfMedian = 20;

uint64_t seeds() {
  const char* text = std::getenv("TIDEMARK_SWARM_SEEDS");
  return text ? std::strtoull(text, nullptr, 10) : kSeedsOfMedian;
}

TEST(Swarm, EveryPropertyHoldsAndEachSeedEndsTheSameTwice) {
  CampaignOptions options;
  options.last_seed = seeds();
  FailureTraces traces(options, ".");
  run_campaign(options, [&](const SeedResult& result) {
    if (result.ok()) return;
    std::string what = result.died.empty() ? "" : "the process died: " + result.died + "\n";
    for (const sim::Finding& finding : result.report.findings)
      what += finding.property + ": " + finding.what + "\n";
    ADD_FAILURE() << what << traces.write(result.seed) << "  replay: tidemark simulate --seeds "
                  << result.seed << " --trace " << trace_path(options, ".", result.seed);
  });
}

TEST(Swarm, TheMedianSeedHasWorkFaultsAndChanges) {
  if (seeds() < kSeedsOfMedian)
    GTEST_SKIP() << "NOT RUN: so few seeds as TIDEMARK_SWARM_SEEDS says have no median";
  std::vector<uint64_t> operations, faults, regions, managers;
  CampaignOptions options;
  options.last_seed = kSeedsOfMedian;
  options.twice = false;
  run_campaign(options, [&](const SeedResult& result) {
    operations.push_back(result.report.work.contains("operations") ? result.report.work.at("operations") : 0);
    faults.push_back(result.report.fault_count());
    regions.push_back(result.report.region_changes());
    managers.push_back(result.report.view_manager_changes());
  });
  auto median = [](std::vector<uint64_t>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  EXPECT_GE(median(operations), 2000u);
  EXPECT_GE(median(faults), 20u);
  EXPECT_GE(median(regions), 2u);
  EXPECT_GE(median(managers), 2u);
}

TEST(Scenario, SettingsTellWhatASeedDidNotDraw) {
  sim::Scenario scenario = sim::draw_scenario(7);
  EXPECT_TRUE(sim::settings_of(scenario).empty());
  ASSERT_TRUE(sim::apply_setting(scenario, "operations=17").ok());
  EXPECT_EQ(sim::settings_of(scenario), std::vector<std::string>{"operations=17"});
  EXPECT_FALSE(sim::apply_setting(scenario, "operation=17").ok());
  EXPECT_FALSE(sim::apply_setting(scenario, "operations=many").ok());
}

TEST(Evaluator, ComputesEachKindOfView) {
  using sim::ViewKind;
  // id, grp, val, stamp.
  const sim::Database tables = {{"a", {{1, 1, 10, 1}, {2, 1, 20, 2}, {3, 2, 20, 3}}}, {"b", {{7, 1, 5, 4}}}};
  auto rows = [&](ViewKind kind, const sim::Database& from) {
    const std::string source = kind == ViewKind::Histogram || kind == ViewKind::PairSums ? "below" : "a";
    sim::Rows out = sim::evaluate({kind, "v", source, "b", 15}, from);
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(rows(ViewKind::Large, tables), (sim::Rows{{2, 40}, {3, 40}}));
  EXPECT_EQ(rows(ViewKind::Counts, tables), (sim::Rows{{1, 2, 30}, {2, 1, 20}}));
  EXPECT_EQ(rows(ViewKind::Total, tables), (sim::Rows{{3, 50}}));
  EXPECT_EQ(rows(ViewKind::Extremes, tables), (sim::Rows{{1, 10, 20, 2}, {2, 20, 20, 1}}));
  EXPECT_EQ(rows(ViewKind::Latest, tables), (sim::Rows{{1, 2, 20, 2}, {2, 3, 20, 3}}));
  EXPECT_EQ(rows(ViewKind::Either, tables), (sim::Rows{{1, 10}, {2, 20}, {3, 20}, {7, 5}}));
  EXPECT_EQ(rows(ViewKind::Pairs, tables), (sim::Rows{{1, 7, 15}, {2, 7, 25}}));
  EXPECT_EQ(rows(ViewKind::LeftPairs, tables),
            (sim::Rows{{1, 7, 10, 5}, {2, 7, 20, 5}, {3, std::nullopt, 20, std::nullopt}}));
  EXPECT_EQ(rows(ViewKind::Histogram, {{"below", rows(ViewKind::Counts, tables)}}),
            (sim::Rows{{1, 1}, {2, 1}}));
  EXPECT_EQ(rows(ViewKind::PairSums, {{"below", rows(ViewKind::Pairs, tables)}}),
            (sim::Rows{{1, 1, 15}, {2, 1, 25}}));
}

}  // namespace
}  // namespace tidemark
