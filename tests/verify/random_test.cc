// Random expressions over random rows: what is recomputed is what PostgreSQL's view holds, or it is said why
// not.
#include <gtest/gtest.h>

#include <cstdlib>

#include "sql/types/text_format.h"
#include "tests/sql/oracle.h"
#include "tests/sql/random_expressions.h"
#include "tests/verify/bed.h"

namespace tidemark::verify {
namespace {

using sql::testing::column_kinds;
using sql::testing::quote;
using sql::testing::random_columns;
using sql::testing::RandomExpressions;
using sql::testing::RandomValues;

uint64_t seed() {
  const char* given = std::getenv("VERIFY_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 7;
}

void make_table(testing::Bed& bed, RandomValues& random, int rows) {
  std::string columns = "id int primary key";
  for (const auto& column : random_columns()) {
    columns += ", " + column.name + " " + std::string(sql::type_name(column.kind));
  }
  bed.run("create table t (" + columns + ")");
  for (int row = 0; row < rows; ++row) {
    std::string values = std::to_string(row);
    sql::Arena arena;
    for (const auto& column : random_columns()) {
      const bool null = random.chance(15);
      values += ", " + (null ? "null" : quote(sql::to_text(random.value(column.kind, arena))));
    }
    bed.run("insert into t values (" + values + ")");
  }
}

// Views that PostgreSQL can make: an expression that fails there makes none.
std::map<std::string, std::string> make_views(testing::Bed& bed, RandomValues& random, int count) {
  RandomExpressions expressions(random);
  bed.run(R"(create procedure try_view(name text, query text) language plpgsql as $$
    begin execute format('create materialized view %I as %s', name, query); exception when others then null; end $$)");
  std::map<std::string, std::string> out;
  for (int i = 0; i < count; ++i) {
    const std::string one = sql::testing::with_literals(expressions.of(random.pick(column_kinds()), 2),
                                                        [](const auto& text) { return text; });
    const std::string name = "v" + std::to_string(i), query = "select id, " + one + " as x from t";
    bed.run("call try_view(" + quote(name) + ", " + quote(query) + ")");
    out[name] = query;
  }
  return out;
}

TEST(RandomTest, ExpressionsGivePostgresValues) {
  testing::Bed bed;
  RandomValues random(seed());
  make_table(bed, random, 4);
  const auto queries = make_views(bed, random, 600);
  std::map<std::string, int> reasons;
  int agree = 0, unchecked = 0;
  for (const ViewReport& view : bed.verify().views) {
    agree += view.verdict == Verdict::Agrees ? 1 : 0;
    unchecked += view.verdict == Verdict::Unchecked ? 1 : 0;
    if (view.verdict == Verdict::Unchecked) ++reasons[view.reason];
    std::string rows;
    for (const Difference& difference : view.differences) {
      rows += "\n  expected " + std::to_string(difference.expected) + ", found " +
              std::to_string(difference.found) + ":";
      for (const auto& field : decoded(difference.row)) rows += " [" + field.value_or("NULL") + "]";
    }
    EXPECT_TRUE(view.verdict == Verdict::Agrees || view.verdict == Verdict::Unchecked)
        << queries.at(view.view) << rows << "\nVERIFY_SEED=" << seed() << " replays it";
  }
  for (const auto& [reason, count] : reasons) std::printf("%4d not checked: %s\n", count, reason.c_str());
  std::printf("%d agree, %d not checked\n", agree, unchecked);
  EXPECT_GT(agree, 100);
  EXPECT_GT(agree, 3 * unchecked);
}

}  // namespace
}  // namespace tidemark::verify
