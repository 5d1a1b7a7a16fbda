// How stale a view is said to be, from what regions report.
#include "coordinator/freshness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process/prometheus_metrics.h"
#include "coordinator/admin.h"
#include "coordinator/coordinator_metrics.h"
#include "tests/coordinator/fake_cluster.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// base -> join sides (auxiliary, of `joined`) -> joined -> counts; other -> elsewhere.
enum : uint32_t { kBase = 1, kSide, kJoined, kCounts, kOther, kElsewhere };

void add_table(pb::Catalog& catalog, uint32_t id, const std::string& name, pb::TableKind kind,
               const std::vector<uint32_t>& sources, uint32_t view = 0) {
  pb::TableDefinition& table = *catalog.add_tables();
  table.set_id(id);
  table.set_name(name);
  table.set_kind(kind);
  table.set_view(view);
  table.set_created(1);
  if (kind == pb::VIEW) table.set_begun(2);
  if (kind == pb::VIEW) table.set_filled(3);
  for (uint32_t source : sources) table.add_sources(source);
}

struct TwoRegions {
  ClusterFacts facts;
  Observed observed;
  CoordinatorSettings settings;

  TwoRegions() {
    add_table(facts.catalog, kBase, "base", pb::MANAGED, {});
    add_table(facts.catalog, kSide, "", pb::AUXILIARY, {kBase}, kJoined);
    add_table(facts.catalog, kJoined, "joined", pb::VIEW, {kSide});
    add_table(facts.catalog, kCounts, "counts", pb::VIEW, {kJoined});
    add_table(facts.catalog, kOther, "other", pb::MANAGED, {});
    add_table(facts.catalog, kElsewhere, "elsewhere", pb::VIEW, {kOther});
    for (uint32_t i : {1u, 2u}) {
      std::string node = "n" + std::to_string(i);
      observed.nodes[node].set_name(node);
      pb::RegionEntry& entry = *facts.map.add_regions();
      entry.set_region(i);
      entry.set_owner(node);
      entry.mutable_shards()->set_begin(i == 1 ? 0 : 6);
      entry.mutable_shards()->set_end(i == 1 ? 6 : 8);
      pb::RegionStatus& status = report(i);
      status.set_region(i);
      status.set_owner(true);
      status.set_node(node);
    }
  }
  pb::RegionStatus& report(uint32_t region) {
    return observed.statuses[region]["n" + std::to_string(region)];
  }
  void lag(uint32_t region, uint32_t table, uint64_t records, int64_t micros, uint32_t lane) {
    pb::TableLag& lag = *report(region).add_table_lags();
    lag.set_table(table);
    lag.set_records(records);
    lag.set_micros(micros);
    report(region).set_lag_lane(lane);
  }
  void backfill(uint32_t region, uint32_t done, uint64_t rows, int64_t left) {
    facts.catalog.mutable_tables(kCounts - 1)->set_filled(0);
    report(region).add_backfilling(kCounts);
    pb::BackfillProgress& progress = *report(region).add_backfills();
    progress.set_view(kCounts);
    progress.set_done_per_million(done);
    progress.set_rows_per_second(rows);
    progress.set_micros_left(left);
  }
  pb::ViewFreshness view(const std::string& name) const {
    pb::FreshnessReply reply = freshness_of(Situation(facts, observed, settings));
    for (const auto& view : reply.views())
      if (view.name() == name) return view;
    ADD_FAILURE() << name << " is not told of";
    return {};
  }
};

TEST(FeedGraph, GoesThroughViewsAndTheirAuxiliaryTables) {
  FeedGraph graph(TwoRegions().facts.catalog);
  EXPECT_THAT(graph.tables_that_feed(kJoined), ElementsAre(kBase, kSide));
  EXPECT_THAT(graph.tables_that_feed(kCounts), ElementsAre(kBase, kSide, kJoined));
  EXPECT_THAT(graph.tables_that_feed(kElsewhere), ElementsAre(kOther));
}

TEST(Freshness, AViewIsAsStaleAsTheFurthestBehindThatFeedsIt) {
  TwoRegions cluster;
  EXPECT_EQ(describe_freshness(cluster.view("counts")), "ready, reflects every write");
  cluster.lag(1, kBase, 3, 5'000, 4);
  cluster.lag(2, kJoined, 2, 9'000, 7);

  pb::ViewFreshness counts = cluster.view("counts");
  EXPECT_EQ(counts.lag_records(), 3u);
  EXPECT_EQ(counts.lag_micros(), 9'000);
  EXPECT_EQ(counts.lag_region(), 2u);
  EXPECT_EQ(counts.lag_lane(), 7u);
  EXPECT_EQ(describe_freshness(counts), "ready, 3 records and 9.0 ms behind (lane 7 of region 2)");
  EXPECT_EQ(cluster.view("joined").lag_micros(), 5'000) << "its own changes make it no staler";
  EXPECT_EQ(cluster.view("elsewhere").lag_records(), 0u) << "nothing of that feeds it";
}

TEST(Freshness, WhatNobodyAliveReportsIsNotTakenForFresh) {
  TwoRegions cluster;
  cluster.observed.nodes.erase("n2");
  EXPECT_EQ(cluster.view("counts").regions_unreported(), 1u);
  EXPECT_THAT(describe_freshness(cluster.view("counts")), HasSubstr("1 regions not reported"));
}

TEST(Freshness, ABackfillIsTheSumOfItsRegions) {
  TwoRegions cluster;
  cluster.backfill(1, 500'000, 1'000, 20'000'000);
  pb::ViewFreshness counts = cluster.view("counts");
  EXPECT_EQ(counts.state(), pb::ViewFreshness::BACKFILLING);
  EXPECT_EQ(counts.backfill().done_per_million(), 625'000u) << "half of six shards, and all of two";
  EXPECT_EQ(describe_freshness(counts), "backfilling: 62.5%, 1000 rows/s, 20.0 s left");

  cluster.backfill(2, 100'000, 500, -1);
  EXPECT_EQ(cluster.view("counts").backfill().rows_per_second(), 1'500u);
  EXPECT_LT(cluster.view("counts").backfill().micros_left(), 0) << "one of them does not know";
  EXPECT_EQ(cluster.view("joined").state(), pb::ViewFreshness::READY);
}

TEST(Freshness, ABackfillTellsItsLimitOrThatItIsPaused) {
  TwoRegions cluster;
  cluster.backfill(1, 500'000, 1'000, 20'000'000);
  pb::TableDefinition& view = *cluster.facts.catalog.mutable_tables(kCounts - 1);
  view.set_backfill_rows_per_second(1'200);
  EXPECT_EQ(describe_freshness(cluster.view("counts")),
            "backfilling: 62.5%, 1000 rows/s, at most 1200 rows/s, 20.0 s left");
  Situation slow(cluster.facts, cluster.observed, cluster.settings);
  EXPECT_THAT(status_json(slow), HasSubstr("\"rows_per_second_max\":1200"));

  view.set_backfill_rows_per_second(0);
  EXPECT_EQ(describe_freshness(cluster.view("counts")), "backfilling: 62.5%, paused");
  EXPECT_LT(cluster.view("counts").backfill().micros_left(), 0) << "whatever regions said before";
  Situation paused(cluster.facts, cluster.observed, cluster.settings);
  EXPECT_THAT(status_json(paused), HasSubstr("{\"name\":\"counts\",\"state\":\"paused\""));
}

TEST(Freshness, StatusShowsItForPeopleAndForPrograms) {
  TwoRegions cluster;
  cluster.lag(2, kJoined, 2, 9'000, 7);
  Situation now(cluster.facts, cluster.observed, cluster.settings);
  EXPECT_THAT(status_text(now), HasSubstr("counts                  ready, 2 records and 9.0 ms behind"));
  EXPECT_THAT(status_json(now),
              HasSubstr("{\"name\":\"counts\",\"state\":\"ready\",\"lag_records\":2,\"lag_micros\":9000,"
                        "\"lag_region\":2,\"lag_lane\":7,\"regions_unreported\":0}"));
  cluster.backfill(1, 500'000, 1'000, 20'000'000);
  EXPECT_THAT(status_json(now),
              HasSubstr("\"backfill\":{\"done_per_million\":625000,\"rows_per_second\":1000,"
                        "\"micros_left\":20000000}"));
}

// Any node may be asked: whoever is not the coordinator passes the question on, and the answer back.
TEST(Freshness, IsAskedOfAnyNode) {
  FakeCluster cluster;
  cluster.start({"n1", "n2", "n3"}, {"v1", "v2"});
  pb::CatalogRequest ddl;
  pb::TableDefinition& view = *ddl.add_create();
  view.set_id(1);
  view.set_name("seen");
  view.set_kind(pb::VIEW);
  ASSERT_TRUE(cluster.change_catalog(ddl).ok());
  auto expect_answer = [&] {
    pb::Message question;
    question.mutable_freshness();
    auto answer = cluster.request(question);
    ASSERT_TRUE(answer && answer->has_views_freshness());
    EXPECT_EQ(answer->views_freshness().failed(), "");
    ASSERT_EQ(answer->views_freshness().views_size(), 1);
    EXPECT_EQ(answer->views_freshness().views(0).name(), "seen");
  };
  expect_answer();
  // The first is asked first. It comes back after another was elected, and has to pass the question on.
  std::string first = cluster.coordinators.begin()->first;
  cluster.kill(first);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.elected() != nullptr; }));
  FakeCoordinator& back = cluster.add_coordinator(first);
  ASSERT_TRUE(cluster.run_until_quiet());
  ASSERT_FALSE(back.role().is_elected());
  expect_answer();
}

TEST(CoordinatorMetrics, TellOfViewsOnlyWhileElectedAndWhileTheyAreThere) {
  TwoRegions cluster;
  cluster.lag(2, kJoined, 2, 250'000, 7);
  PrometheusMetrics served;
  CoordinatorMetrics metrics(served);
  metrics.on_step(StepKind::FillViews);
  CoordinatorRole::Figures figures{
      3, freshness_of(Situation(cluster.facts, cluster.observed, cluster.settings))};
  metrics.sample(true, figures);
  EXPECT_THAT(served.text(), HasSubstr("tidemark_coordinator_elected 1"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_coordinator_operations_running 3"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_coordinator_steps_total{kind=\"fill-views\"} 1"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_seconds{view=\"counts\"} 0.25"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_records{view=\"elsewhere\"} 0"));

  metrics.sample(true, std::nullopt);
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_records{view=\"counts\"} 2")) << "as it was";
  cluster.facts.catalog.mutable_tables(kCounts - 1)->set_dropped(9);
  figures.freshness = freshness_of(Situation(cluster.facts, cluster.observed, cluster.settings));
  metrics.sample(true, figures);
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_records{view=\"counts\"} Nan"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_records{view=\"elsewhere\"} 0"));
  metrics.sample(false, std::nullopt);
  EXPECT_THAT(served.text(), HasSubstr("tidemark_view_lag_records{view=\"elsewhere\"} Nan"));
  EXPECT_THAT(served.text(), HasSubstr("tidemark_coordinator_elected 0"));
}

}  // namespace
}  // namespace tidemark
