// One row with very many partners: no record, message or buffer may grow with their number.
// TIDEMARK_HOT_KEY_ROWS sets how many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/views/cluster_views.h"

namespace tidemark::views {
namespace {

int64_t row_count() {
  const char* text = std::getenv("TIDEMARK_HOT_KEY_ROWS");
  return text != nullptr ? std::atoll(text) : 100'000;
}

Step table(const std::string& name) {
  Step step;
  step.kind = StepKind::CreateTable;
  step.name = name;
  step.columns = {{"id", "bigint"}, {"grp", "bigint"}, {"val", "bigint"}};
  return step;
}

Step view(const std::string& name, const std::string& query) {
  Step step;
  step.kind = StepKind::CreateView;
  step.name = name;
  step.query = query;
  return step;
}

Step upsert(const std::string& name, int64_t id, int64_t val) {
  Step step;
  step.kind = StepKind::Upsert;
  step.name = name;
  step.values = {std::to_string(id), "7", std::to_string(val)};
  return step;
}

class HotKeyTest : public ::testing::Test {
 protected:
  // Far less than what all the pairs need.
  static SimClusterOptions small_buffers() {
    SimClusterOptions options;
    options.view_manager.input_bytes_max = size_t{512} << 10;
    options.view_manager.effects_bytes_max = size_t{512} << 10;
    return options;
  }

  HotKeyTest() : options_(small_buffers()), views_(options_) {
    views_.create_table(table("a"));
    views_.create_table(table("b"));
    EXPECT_EQ(
        views_.create_view(view("sums",
                                "select a.id, count(*) as n, sum(b.val) as s from a join b on a.grp = b.grp "
                                "group by a.id")),
        "");
    EXPECT_EQ(views_.create_view(view("labels", "select b.id, a.val from b left join a on a.grp = b.grp")),
              "");
    EXPECT_EQ(views_.create_view(view("label_counts", "select val, count(*) as n from labels group by val")),
              "");
  }

  void fill(int64_t rows) {
    constexpr int64_t kBatch = 2'000;
    for (int64_t begin = 0; begin < rows; begin += kBatch) {
      std::vector<Step> batch;
      for (int64_t id = begin; id < std::min(begin + kBatch, rows); ++id) batch.push_back(upsert("b", id, 2));
      views_.write(batch);
    }
  }

  // Runs until the view is as wanted, and watches the memory of the view managers all the while.
  void expect(const std::string& name, const Lines& wanted) {
    SimCluster& cluster = views_.cluster();
    for (int round = 0; round < 3'000; ++round) {
      if (round % 50 == 0 && views_.read_now(name) == wanted) return;
      cluster.run_until([&] { return watch(); }, Micros{20'000});
    }
    EXPECT_EQ(views_.read_now(name), wanted) << name;
  }

  // Gives false, for run_until().
  bool watch() {
    for (int i = 0; i < views_.cluster().view_manager_count(); ++i) {
      const ViewManager* role = views_.cluster().view_manager_role(i);
      if (role == nullptr || role->core() == nullptr) continue;
      const ViewManagerCore& core = *role->core();
      effects_most_ = std::max(effects_most_, core.effects_bytes());
      const size_t queues = core.queue_count() * options_.view_manager.queue_bytes_min;
      input_most_ = std::max(input_most_, core.input_bytes() - std::min(core.input_bytes(), queues));
    }
    return false;
  }

  SimClusterOptions options_;
  ClusterViews views_;
  size_t effects_most_ = 0, input_most_ = 0;
};

TEST_F(HotKeyTest, ARowWithVeryManyPartnersFitsSmallBuffers) {
  const int64_t rows = row_count();
  const std::string n = std::to_string(rows), sum = std::to_string(2 * rows);
  fill(rows);
  expect("label_counts", {"NULL|" + n});
  views_.write(std::vector<Step>{upsert("a", 1, 5)});  // Each row gets its first partner.
  expect("sums", {"1|" + n + "|" + sum});
  expect("label_counts", {"5|" + n});
  views_.write(std::vector<Step>{upsert("a", 1, 6)});
  expect("label_counts", {"6|" + n});
  Step gone = upsert("a", 1, 6);
  gone.kind = StepKind::Delete;
  gone.values.resize(1);
  views_.write(std::vector<Step>{gone});
  expect("sums", {});
  expect("label_counts", {"NULL|" + n});

  const RegionOptions& region = options_.node.region;
  EXPECT_LE(views_.cluster().world().logs.counters().largest_append_bytes, region.record_bytes_max + 4096);
  // The effects of one record may pass the limit: those of one page of partners.
  EXPECT_LE(effects_most_, options_.view_manager.effects_bytes_max + region.record_bytes_max);
  EXPECT_LE(input_most_, options_.view_manager.input_bytes_max + region.record_bytes_max);
  EXPECT_GT(effects_most_, 0u);
}

}  // namespace
}  // namespace tidemark::views
