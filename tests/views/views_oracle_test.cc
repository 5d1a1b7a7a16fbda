// Random views through random histories: at each moment what PostgreSQL says. TIDEMARK_VIEW_CASES sets how
// many histories, TIDEMARK_VIEW_SEED the first seed; a failure names its seed and prints the shortest script
// found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/views/cluster_views.h"
#include "tests/views/flow_views.h"
#include "tests/views/random_views.h"
#include "tests/views/script_run.h"

namespace tidemark::views {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What a campaign came to: views that are refused more often than not would prove little.
struct Tally {
  int compared = 0, rows = 0, views = 0, refused = 0;
  std::map<std::string, int> reasons;

  void add(const RunResult& result, const Script& script) {
    compared += result.compared;
    rows += result.rows;
    views += static_cast<int>(std::count_if(
        script.begin(), script.end(), [](const Step& step) { return step.kind == StepKind::CreateView; }));
    for (const auto& [reason, count] : result.refused) {
      reasons[reason] += count;
      refused += count;
    }
  }
  void print() const {
    std::cout << views << " views, " << refused << " refused, compared " << compared << " times, " << rows
              << " rows\n";
    for (const auto& [reason, count] : reasons) std::cout << "  " << count << " x " << reason << "\n";
  }
};

using MakeForSeed = std::function<std::unique_ptr<MaintainedViews>(uint64_t seed)>;

void run_cases(const RandomScriptOptions& options, uint64_t cases, const MakeForSeed& make_for) {
  sql::testing::Oracle oracle;
  Tally tally;
  const uint64_t first = from_environment("TIDEMARK_VIEW_SEED", 1);
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    const Script script = random_script(seed, options);
    const MakeViews make = [&] { return make_for(seed); };
    const RunResult result = run_script(script, *make(), oracle);
    tally.add(result, script);
    if (result.difference.empty()) continue;
    const Script shortest = shrink(script, make, oracle);
    FAIL() << "TIDEMARK_VIEW_SEED=" << seed << " TIDEMARK_VIEW_CASES=1\n"
           << describe(shortest) << run_script(shortest, *make(), oracle).difference;
  }
  tally.print();
  EXPECT_GT(tally.rows, tally.compared);
  EXPECT_LT(tally.refused * 5, tally.views);
}

TEST(ViewsOracle, ViewsAreWhatPostgresSays) {
  run_cases({}, from_environment("TIDEMARK_VIEW_CASES", 60),
            [](uint64_t) { return std::make_unique<FlowViews>(); });
}

// Zeros at the end of numerics are not compared but as text.
TEST(ViewsOracle, TheFirstRowsKeepTheScaleOfNumerics) {
  auto upsert = [](const std::string& id, const std::string& grp, const std::string& amount) {
    return Step{StepKind::Upsert, "t", {}, 1, {}, {}, {id, grp, amount, amount}};
  };
  auto view = [](const std::string& name, const std::string& query) {
    return Step{StepKind::CreateView, name, {}, 1, query, {}, {}};
  };
  const Script script = {
      {StepKind::CreateTable,
       "t",
       {{"id", "integer"}, {"grp", "integer"}, {"amount", "numeric"}, {"measured", "double precision"}},
       1,
       {},
       {},
       {}},
      upsert("1", "1", "1.50"),
      upsert("2", "1", "1.5"),
      upsert("3", "2", "120"),
      view("largest", "select id, amount, measured from t order by amount desc, id limit 3"),
      view("latest", "select distinct on (grp) grp, amount from t order by grp, id desc"),
      view("largest_shown", "select id, amount::text as shown, measured::text as about from largest"),
      view("latest_shown", "select grp, amount::text as shown from latest"),
      {},
      upsert("4", "1", "120.000"),
      upsert("5", "2", "-0.0"),
      upsert("6", "3", "NaN"),
      {},
      {StepKind::Delete, "t", {}, 1, {}, {}, {"6"}},
      upsert("3", "2", "1.5000"),
      {},
  };
  sql::testing::Oracle oracle;
  FlowViews views;
  const RunResult result = run_script(script, views, oracle);
  EXPECT_EQ(result.difference, "");
  EXPECT_TRUE(result.refused.empty());
  EXPECT_EQ(result.compared, 16);  // Four views, after each batch and in the end.
}

TEST(ViewsOracle, KeysAndExtremesKeepTheScaleOfDeclaredNumerics) {
  auto upsert = [](const std::string& id, const std::string& price) {
    return Step{StepKind::Upsert, "t", {}, 1, {}, {}, {id, price, price}};
  };
  auto view = [](const std::string& name, const std::string& query) {
    return Step{StepKind::CreateView, name, {}, 1, query, {}, {}};
  };
  const Script script = {
      {StepKind::CreateTable,
       "t",
       {{"id", "integer"}, {"price", "numeric(10,2)"}, {"rough", "numeric(5,-1)"}},
       1,
       {},
       {},
       {}},
      upsert("1", "1.50"),
      upsert("2", "1.5"),
      upsert("3", "120"),
      upsert("4", "0"),
      view("by_price", "select price, rough, count(*) as n from t group by price, rough"),
      view("extremes", "select id % 2 as odd, min(price) as low, max(price) as high from t group by id % 2"),
      view("prices", "select distinct price from t"),
      view("by_price_shown", "select price::text as shown, rough::text as about, n from by_price"),
      view("extremes_shown", "select odd, low::text as low, high::text as high from extremes"),
      view("prices_shown", "select price::text as shown from prices"),
      {},
      upsert("5", "NaN"),
      upsert("2", "-1200.1"),
      {},
  };
  sql::testing::Oracle oracle;
  FlowViews views;
  const RunResult result = run_script(script, views, oracle);
  EXPECT_EQ(result.difference, "");
  EXPECT_TRUE(result.refused.empty());
  EXPECT_EQ(result.compared, 18);  // Six views, after each batch and in the end.
}

TEST(ViewsOracle, AClustersViewsAreWhatPostgresSaysWhileViewManagersComeAndGo) {
  RandomScriptOptions options;
  options.batches = 10;
  options.writes_per_batch_max = 12;
  options.drops = false;
  options.view_managers = true;
  run_cases(options, from_environment("TIDEMARK_VIEW_CLUSTER_CASES", 30),
            [](uint64_t seed) { return std::make_unique<ClusterViews>(seed); });
}

}  // namespace
}  // namespace tidemark::views
