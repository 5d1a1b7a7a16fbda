// One call of SelectExecution::next() goes over a bounded number of rows, whatever the query.
#include <gtest/gtest.h>

#include "sql/bind/statement.h"
#include "sql/execute/memory_source.h"
#include "sql/execute/select_execution.h"
#include "sql/parse/parser.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql {
namespace {

struct Ran {
  std::vector<int64_t> values;  // Of the first column.
  int64_t turns = 0;
};

Ran run(const std::string& sql) {
  testing::TestCatalog catalog;
  MemorySource source;
  const auto parsed = parse_statements(sql);
  TM_ASSERT(parsed.ok(), parsed.error().message);
  ParamTypes params;
  const auto bound = bind_statement((*parsed)[0], sql, catalog, params);
  TM_ASSERT(bound.ok(), bound.error().message);
  const auto execution = SelectExecution::start(*std::get<SelectStatement>(bound->body).query, source, {});
  TM_ASSERT(execution.ok(), execution.error().message);
  Ran out;
  for (Batch batch;;) {
    ++out.turns;
    const auto pull = (*execution)->next(batch);
    TM_ASSERT(pull.ok(), pull.error().message);
    if (*pull == Pull::End) return out;
    for (size_t i = 0; i < batch.row_count(); ++i) out.values.push_back(batch.row(i)[0].as_int());
  }
}

// At least as many turns as so many rows take: a turn may go over a batch more than it should.
int64_t turns_for(int64_t rows) {
  return rows / (SelectExecution::kTurnRows + static_cast<int64_t>(Batch::kRowsMax));
}

TEST(Turn, OfASubqueryPerRowEnds) {
  const Ran ran =
      run("select count(*) from generate_series(1, 1000) a"
          " where (select count(*) from generate_series(1, 1000) b where b > a) > 499");
  EXPECT_EQ(ran.values, std::vector<int64_t>{500});
  EXPECT_GE(ran.turns, turns_for(1000 * 1000));
}

TEST(Turn, OfASubqueryInASubqueryEnds) {
  const Ran ran =
      run("select count(*) from generate_series(1, 50) a"
          " where (select count(*) from generate_series(1, 50) b"
          " where (select count(*) from generate_series(1, 500) c where c > a + b) > 420) > 0");
  EXPECT_EQ(ran.values, std::vector<int64_t>{50});
  EXPECT_GE(ran.turns, turns_for(50 * 50 * 500));
}

TEST(Turn, OfAJoinWithFewMatchesEnds) {
  const Ran ran =
      run("select a from generate_series(1, 1000) a join generate_series(1, 1000) b on a + b = 2000 or a * b "
          "< 0");
  EXPECT_EQ(ran.values, std::vector<int64_t>{1000});
  EXPECT_GE(ran.turns, turns_for(1000 * 1000));
}

TEST(Turn, OfLongValuesEnds) {
  const Ran ran =
      run("select count(*) from generate_series(1, 400) a where length(repeat('x', 1000000 + a)) > 1000100");
  EXPECT_EQ(ran.values, std::vector<int64_t>{300});
  EXPECT_GE(ran.turns, turns_for(400 * 1'000'000 / 1024));
}

TEST(Turn, OfASeriesOfWhichNothingPassesEnds) {
  const Ran ran = run("select a from generate_series(1, 1000000) a where a < 0 union all select 7");
  EXPECT_EQ(ran.values, std::vector<int64_t>{7});
  EXPECT_GE(ran.turns, turns_for(1'000'000));
}

// Batches are sorted as they come and merged as they are given.
TEST(Sort, OfManyBatchesKeepsEqualRowsInTheirOrder) {
  const Ran ran = run("select a from generate_series(1, 5000) a order by a % 7 desc");
  std::vector<int64_t> wanted;
  for (int64_t rest = 6; rest >= 0; --rest) {
    for (int64_t a = 1; a <= 5000; ++a) {
      if (a % 7 == rest) wanted.push_back(a);
    }
  }
  EXPECT_EQ(ran.values, wanted);
}

TEST(Sort, GivesTheFirstOfEachGroupOverManyBatches) {
  const Ran ran =
      run("select a from (select a, row_number() over (partition by a % 3 order by a desc) as place"
          " from generate_series(1, 5000) a) ranked where place <= 2 order by a");
  EXPECT_EQ(ran.values, (std::vector<int64_t>{4995, 4996, 4997, 4998, 4999, 5000}));
}

}  // namespace
}  // namespace tidemark::sql
