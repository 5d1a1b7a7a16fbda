// A backfill that an operator slows, pauses and resumes, on real processes that are killed meanwhile.
#include "tests/cluster/crash_test.h"
#include "tests/cluster/embedded_process.h"

namespace tidemark::crash {
namespace {

constexpr int kRows = 2'000;

std::string rows_of_table() {
  std::string out;
  for (int i = 0; i < kRows; ++i)
    out += (i > 0 ? ", (" : "(") + std::to_string(i) + ", " + std::to_string(i % 10) + ", 1)";
  return out;
}

class PausedBackfill : public testing::Test {
 protected:
  PausedBackfill() {
    up_.process().start();
    load_.create();
    load_.start();
    wait_for_writes(load_, 20);
    client_.ask_until_done("create table if not exists old (id bigint primary key, g bigint, v bigint)");
    client_.ask_until_done("insert into old values " + rows_of_table() + " on conflict (id) do nothing");
  }

  // state|how much of it is done, once the coordinator knows.
  std::string state() {
    const SqlAnswer answer = client_.ask_until_done("select state from tidemark.views where name = 'sums'");
    return answer.rows.size() == 1 ? answer.rows[0][0] : "not there";
  }
  double percent() {
    const SqlAnswer answer =
        client_.ask_until_done("select backfill_percent from tidemark.views where name = 'sums'");
    const bool known = answer.rows.size() == 1 && answer.rows[0][0] != "\\N";
    return known ? std::stod(answer.rows[0][0]) : -1;
  }
  // Rows on both sides of where the pages are.
  void write_everywhere(int round) {
    for (int id = round; id < kRows; id += 50) {
      const std::string key = std::to_string(id);
      client_.ask_until_done(id % 3 == 0 ? "delete from old where id = " + key
                                         : "update old set v = " + std::to_string(round) +
                                               ", g = g + 1 where id = " + key);
    }
  }
  void ask(const std::vector<std::string>& words) {
    const AdminSaid said = up_.admin(words);
    EXPECT_TRUE(said.ok()) << said.text;
  }
  void move_all_regions() {
    for (const RegionShown& region : up_.status().live_regions())
      ask({"move-region", std::to_string(region.id), region.owner == "node1" ? "node2" : "node1"});
  }

  EmbeddedProcess up_{{.nodes = 2, .regions = 3}};
  Load load_{up_.gateways(), LoadOptions{.workload = {.writers = 1}}};
  SqlClient client_{up_.gateways(), 1};
};

TEST_F(PausedBackfill, StaysPausedThroughAKillMovesAndASplitAndGoesOnWhenItIsResumed) {
  client_.ask_until_done(
      "create materialized view if not exists sums with (backfill_rows_per_second = 100) as "
      "select g, count(*) as n, sum(v) as s from old group by g");
  servers::wait_until("some pages are written", [&] { return percent() > 0; });
  ask({"backfill", "sums", "pause"});
  EXPECT_EQ(state(), "paused");
  write_everywhere(1);

  up_.process().kill();
  up_.process().start();
  EXPECT_EQ(state(), "paused");
  write_everywhere(2);
  move_all_regions();
  ask({"split-region", std::to_string(up_.status().live_regions().front().id)});
  wait_for_writes(load_, 50);
  EXPECT_EQ(state(), "paused");
  servers::wait_until("every region has told how far it is", [&] { return percent() >= 0; });
  EXPECT_LT(percent(), 100);

  client_.ask_until_done("alter materialized view sums set (backfill_rows_per_second = 500)");
  write_everywhere(3);
  ask({"backfill", "sums", "resume"});
  servers::wait_until("it is filled", [&] { return state() == "ready"; });
  EXPECT_EQ(await_view(client_, {"sums", "select g, count(*), sum(v) from old group by g"},
                       std::chrono::seconds(60)),
            Findings());
  expect_nothing_wrong(load_, "a paused backfill");
}

}  // namespace
}  // namespace tidemark::crash
