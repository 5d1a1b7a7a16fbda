// Rows in motion: rounds, the hold of writes, and what is said when it can not be told.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "tests/verify/bed.h"

namespace tidemark::verify {
namespace {

// Holding writes, for a server that has none of it: writers ask may_write().
constexpr const char* kHold = R"(
create unlogged table held (until timestamptz);
create function tidemark_hold_writes(bound interval) returns void language sql as
  'delete from held; insert into held values (clock_timestamp() + bound)';
create function tidemark_release_writes() returns void language sql as 'delete from held';
create function may_write() returns boolean language sql volatile as
  'select not exists (select 1 from held where until > clock_timestamp())';
)";

constexpr const char* kTables = R"(
create table hits (id bigint primary key, page int, amount numeric(10,2));
insert into hits select i, i % 5, i * 0.01 from generate_series(1, 100) i;
create materialized view per_page as select page, count(*) as n, sum(amount) as total from hits group by page;
create materialized view large as select id, amount from hits where amount > 0.50;
)";

// Writes while it may; the views catch up only while it may not.
class Writer {
 public:
  explicit Writer(std::unique_ptr<testing::Bed> bed) : bed_(std::move(bed)) {
    thread_ = std::thread([this] { run(); });
    while (written_ == 0) std::this_thread::yield();
  }
  ~Writer() {
    stopped_ = true;
    thread_.join();
  }

 private:
  void run() {
    for (int64_t i = 1000; !stopped_; ++i) {
      if (bed_->ask("select may_write()")[0][0] == "t") {
        bed_->run("insert into hits values (" + std::to_string(i) + ", " + std::to_string(i % 5) + ", 7)");
        ++written_;
      } else {
        bed_->run("refresh materialized view per_page");
        bed_->run("refresh materialized view large");
      }
    }
  }

  std::unique_ptr<testing::Bed> bed_;
  std::atomic<bool> stopped_{false};
  std::atomic<int64_t> written_{0};
  std::thread thread_;
};

TEST(RoundsTest, WritesAreHeldForWhatIsStillInMotion) {
  testing::Bed bed;
  bed.run(kHold);
  bed.run(kTables);
  const Writer writer(bed.another());
  const VerifyReport report = bed.verify({.hold = std::chrono::seconds(30)});
  for (const ViewReport& view : report.views) {
    EXPECT_EQ(view.verdict, Verdict::Agrees) << view.view << ": " << view.reason << " " << view.moving;
    EXPECT_GT(view.rounds, 3);
  }
  EXPECT_GT(report.held.count(), 0);
  EXPECT_TRUE(bed.ask("select * from held").empty()) << "writes were not released";
}

TEST(RoundsTest, ARowThatIsWrongAmongRowsInMotionIsFound) {
  testing::Bed bed;
  bed.run(kHold);
  bed.run(kTables);
  // Nobody refreshes this view.
  bed.run("create materialized view wrong as select id, page from hits");
  bed.run("insert into hits values (0, 0, 0)");
  const Writer writer(bed.another());
  const VerifyReport report = bed.verify({.views = {"wrong"}, .hold = std::chrono::seconds(30)});
  EXPECT_EQ(report.views[0].verdict, Verdict::Differs);
  ASSERT_GE(report.views[0].differing, 1);
  EXPECT_EQ(decoded(report.views[0].differences[0].row)[0], "0");
  EXPECT_GT(report.held.count(), 0);
}

TEST(RoundsTest, WithoutAHoldWhatMovesIsAFailureNotSkipped) {
  testing::Bed bed;
  bed.run("create table base (id bigint primary key)");
  bed.run("insert into base values (1), (2)");
  bed.run("create materialized view stale as select id from base");
  bed.run("delete from base where id = 1");
  std::atomic<bool> stopped{false};
  auto other = bed.another();
  std::atomic<int64_t> last{2};
  std::thread mover([&] {
    while (!stopped) {
      const std::string now = std::to_string(last), next = std::to_string(last + 1);
      other->run("update base set id = " + next + " where id = " + now);
      ++last;
    }
  });
  while (last < 10) std::this_thread::yield();
  const VerifyReport report = bed.verify();
  stopped = true;
  mover.join();
  ASSERT_EQ(report.views.size(), 1u);
  const ViewReport& view = report.views[0];
  EXPECT_EQ(view.verdict, Verdict::Moving);
  EXPECT_FALSE(report.agrees());
  EXPECT_EQ(view.rounds, 3);
  EXPECT_EQ(view.differing, 2);  // 1 and 2 are there, and should not be.
  EXPECT_GE(view.moving, 1);
  EXPECT_NE(view.reason.find("hold"), std::string::npos);
  EXPECT_EQ(report.held.count(), 0);
}

TEST(RoundsTest, AViewThatIsBehindIsWaitedForAndNotCalledWrong) {
  testing::Bed bed;
  bed.run(kTables);
  bed.run("create schema tidemark; create table tidemark.views (name text, lag_records bigint)");
  bed.run("insert into tidemark.views values ('large', 0), ('per_page', 3)");
  bed.run("create materialized view public.above as select n from per_page");
  bed.run("insert into hits values (1001, 1, 7)");
  const VerifyReport report =
      bed.verify({.views = {"above", "large"}, .patience = std::chrono::milliseconds(300)});
  EXPECT_EQ(report.views[0].verdict, Verdict::Moving);
  EXPECT_NE(report.views[0].reason.find("3 changes behind"), std::string::npos) << report.views[0].reason;
  EXPECT_EQ(report.views[1].verdict, Verdict::Differs);
  EXPECT_FALSE(report.agrees());
  // It catches up while it is waited for.
  auto other = bed.another();
  std::thread catching_up([&] {
    other->run("begin; refresh materialized view large; refresh materialized view per_page");
    other->run("refresh materialized view public.above; update tidemark.views set lag_records = 0; commit");
  });
  EXPECT_TRUE(bed.verify({.patience = std::chrono::seconds(60)}).agrees());
  catching_up.join();
}

int64_t resident_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

TEST(RoundsTest, MemoryIsBoundedHoweverLargeTheTable) {
  testing::Bed bed;
  bed.run("create table large (id bigint primary key, g int, filler text)");
  bed.run(
      "insert into large select i, i % 30000, repeat(md5(i::text), 10) from generate_series(1, 120000) i");
  bed.run("create materialized view copy as select id, filler from large");
  bed.run(
      "create materialized view groups as select g, count(*) as n, max(filler) as m from large group by g");
  const int64_t before = resident_peak_bytes();
  const VerifyReport report = bed.verify({.cache_bytes = 4 << 20});
  for (const ViewReport& view : report.views) EXPECT_EQ(view.verdict, Verdict::Agrees) << view.reason;
  EXPECT_EQ(report.views[0].rows, 120000);
  // The rows are 40 MB.
  EXPECT_LT(resident_peak_bytes() - before, 20 << 20);
}

}  // namespace
}  // namespace tidemark::verify
