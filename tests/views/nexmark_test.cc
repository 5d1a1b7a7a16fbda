// Nexmark's queries as views, against PostgreSQL: while the site lives, and when rows change and go.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/nexmark/nexmark.h"
#include "tests/views/cluster_views.h"
#include "tests/views/flow_views.h"
#include "tests/views/script_run.h"

namespace tidemark::views {
namespace {

constexpr int kQueries = 16;

// "-- what it is\ncreate materialized view q0 as\nselect ..."
Step view_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string sql = text.str(), begin = "create materialized view ", as = " as\n";
  const size_t name = sql.find(begin) + begin.size(), end = sql.find(as, name);
  Step step;
  step.kind = StepKind::CreateView;
  step.name = sql.substr(name, end - name);
  step.query = sql.substr(end + as.size());
  return step;
}

std::vector<Step> all_views() {
  std::vector<Step> out;
  for (const auto& file : std::filesystem::directory_iterator(NEXMARK_VIEWS))
    out.push_back(view_of(file.path()));
  std::sort(out.begin(), out.end(), [](const Step& a, const Step& b) { return a.name < b.name; });
  return out;
}

Step upsert(const nexmark::Event& event) {
  Step step;
  step.kind = StepKind::Upsert;
  step.name = nexmark::tables()[static_cast<size_t>(event.table)].sql_name;
  step.values = event.values;
  return step;
}

// Events come; now and then rows that are there change or go. Half of the views find rows there already.
Script site(uint64_t seed, int batches, int events_per_batch) {
  Script script;
  for (const nexmark::Table& table : nexmark::tables()) {
    Step& step = script.emplace_back();
    step.kind = StepKind::CreateTable;
    step.name = table.sql_name;
    for (const nexmark::Column& column : table.columns) step.columns.push_back({column.name, column.type});
  }
  for (const nexmark::Event& event : nexmark::side_input()) script.push_back(upsert(event));
  const std::vector<Step> views = all_views();
  Random random(seed);
  nexmark::Generator generator(seed);
  std::vector<Step> there;
  for (int batch = 0; batch < batches; ++batch) {
    for (size_t i = 0; i < views.size(); ++i) {
      if (static_cast<int>(i % 2) * 2 == batch) script.push_back(views[i]);
    }
    for (int i = 0; i < events_per_batch; ++i) {
      there.push_back(upsert(generator.next()));
      script.push_back(there.back());
      Step old = there[random.below(there.size())];
      if (random.chance(0.25)) {
        const std::string key = old.values.front();
        if (old.name == "bid") script.push_back(upsert(generator.bid(key)));
        if (old.name == "auction") script.push_back(upsert(generator.auction(key)));
      } else if (random.chance(0.1)) {
        old.kind = StepKind::Delete;
        old.values.resize(1);
        script.push_back(old);
      }
    }
    script.emplace_back().kind = StepKind::Check;
  }
  return script;
}

void expect_same(const Script& script, const MakeViews& make) {
  sql::testing::Oracle oracle;
  const RunResult result = run_script(script, *make(), oracle);
  EXPECT_EQ(result.difference, "");
  EXPECT_TRUE(result.refused.empty()) << result.refused.begin()->first;
  EXPECT_GT(result.compared, kQueries);
}

TEST(Nexmark, AllQueriesThatNeedNoWindowAreHere) {
  EXPECT_EQ(all_views().size(), static_cast<size_t>(kQueries));
}

TEST(Nexmark, EveryQuerySelectsSomething) {
  FlowViews views;
  sql::testing::Oracle oracle;
  run_script(site(1, 4, 400), views, oracle);
  for (const Step& view : all_views()) EXPECT_FALSE(views.read(view.name, {}).empty()) << view.name;
}

TEST(Nexmark, ViewsAreWhatPostgresSays) {
  expect_same(site(2, 12, 50), [] { return std::make_unique<FlowViews>(); });
}

TEST(Nexmark, AClustersViewsAreWhatPostgresSays) {
  expect_same(site(3, 5, 40), [] { return std::make_unique<ClusterViews>(3); });
}

}  // namespace
}  // namespace tidemark::views
