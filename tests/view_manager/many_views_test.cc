// Thousands of views: a change costs what the views that it concerns cost, and a new view costs nothing for
// the others. Work is counted, in flows that are run and in allocations; nothing is timed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/view_manager/flow_world.h"

namespace {

uint64_t allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace tidemark {
namespace {

constexpr int kViews = 5'000;

class ManyViewsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.create_table("orders", {{"id", "bigint"}, {"kind", "text"}, {"amount", "bigint"}});
    world_.create_table("customers", {{"id", "bigint"}, {"city", "text"}});
  }

  void view(const std::string& sql) {
    ASSERT_EQ(world_.create_view("create materialized view " + sql), "") << sql;
  }

  // A third of them are sums, a third joins' kind of work over another table, a third plain.
  void add_views(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(views_++), name = "v" + n;
      switch (i % 3) {
        case 0: view(name + " as select id, amount from orders where kind = 'k" + n + "'"); break;
        case 1:
          view(name +
               " as select kind, sum(amount) as s, max(amount) as m from orders where amount > 0 and 'k" + n +
               "' = kind group by kind");
          break;
        default: view(name + " as select city, count(*) as n from customers group by city"); break;
      }
    }
  }

  struct Work {
    uint64_t flows = 0, allocations = 0;
  };
  // Of one change of "orders" alone, without what its effects bring.
  Work work_of(const std::string& kind_before, const std::string& kind_after) {
    const TableId table{world_.find("orders")->id()};
    const sql::TableCodec& codec = world_.store().codec(table);
    sql::EncodedRow before, after;
    for (auto [kind, row] : {std::pair{&kind_before, &before}, {&kind_after, &after}}) {
      const sql::Value values[] = {sql::Value::bigint(1), sql::Value::text(*kind), sql::Value::bigint(5)};
      codec.encode(values, *row);
    }
    Change change;
    change.table = table;
    change.hash = before.hash;
    change.key = before.key;
    change.before = before.row;
    change.after = after.row;
    const RecordContext context{CatalogVersion{world_.catalog().version()}, TableId{0}};
    EffectEntry entry;
    Work out;
    for (int round = 0; round < 2; ++round) {  // The first one finds its buffers empty.
      entry.reset(Generation{1}, Offset{0});
      StepCounters steps(ShardCount{16});
      steps.begin_record();
      EffectWriter writer(entry, ShardCount{16}, steps);
      writer.enter_lane(ShardId{0}, 0);
      const uint64_t flows = world_.programs().flows_run(), allocated = allocations;
      EXPECT_TRUE(world_.programs().effects_of(change, context, writer));
      out = {world_.programs().flows_run() - flows, allocations - allocated};
    }
    return out;
  }

  FlowWorld world_;
  int views_ = 0;
};

TEST_F(ManyViewsTest, AChangeCostsWhatTheViewsThatItConcernsCost) {
  add_views(9);
  const Work alone = work_of("k0", "k1");
  EXPECT_EQ(alone.flows, 2u);
  add_views(kViews - 9);
  const Work among_many = work_of("k0", "k1");
  EXPECT_EQ(among_many.flows, 2u);
  EXPECT_LE(among_many.allocations, alone.allocations);
  EXPECT_EQ(work_of("k0", "k0").flows, 1u);
  EXPECT_EQ(work_of("none", "nobody").flows, 0u);
  EXPECT_EQ(work_of("none", "nobody").allocations, 0u);
}

TEST_F(ManyViewsTest, ADroppedViewIsRunNoMore) {
  add_views(30);
  EXPECT_EQ(work_of("k0", "k1").flows, 2u);
  world_.drop_view("v1");
  EXPECT_EQ(work_of("k0", "k1").flows, 1u);
}

// A catalog of many views, one more in each version, as a process that is there all the time sees it.
class CatalogGrowthTest : public ManyViewsTest {
 protected:
  // Allocations by which `programs` learns of one more view.
  uint64_t cost_of_one_more(ViewPrograms& programs) {
    add_views(1);
    std::vector<std::string> failures;
    const uint64_t before = allocations;
    programs.update(world_.catalog(), failures);
    EXPECT_TRUE(failures.empty());
    return allocations - before;
  }
};

TEST_F(CatalogGrowthTest, OneMoreViewCostsNothingForTheOthers) {
  ViewPrograms programs;
  cost_of_one_more(programs);
  const uint64_t alone = cost_of_one_more(programs);
  add_views(1'000);
  cost_of_one_more(programs);
  EXPECT_LE(cost_of_one_more(programs), alone + 8);  // A vector or a hash table may grow.
}

TEST_F(CatalogGrowthTest, AWholeCatalogIsReadInLinearTime) {
  auto cost = [this] {
    std::vector<std::string> failures;
    ViewPrograms programs;
    const uint64_t before = allocations;
    programs.update(world_.catalog(), failures);
    return allocations - before;
  };
  add_views(300);
  const uint64_t of_300 = cost();
  add_views(600);
  EXPECT_LT(cost(), of_300 * 7 / 2);
}

}  // namespace
}  // namespace tidemark
