// `tidemark verify` against a real PostgreSQL: planted differences are found, printed, and decide how it
// ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/verify_command.h"
#include "tests/verify/bed.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int exit;
  std::string out;
  std::string err;
};

class VerifyCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { bed = std::make_unique<verify::testing::Bed>(); }
  static void TearDownTestSuite() { bed.reset(); }
  void SetUp() override {
    bed->run("create table sales (id int primary key, shop text, amount numeric(20,4))");
    bed->run(
        "insert into sales values (1, 'a', 1.5), (2, 'a', 2.25), (3, 'b', 10000000000.0001), (4, null, 4)");
    bed->run(
        "create materialized view totals as select shop, count(*) as n, sum(amount) as total from sales "
        "group by shop");
    bed->run("create materialized view shops as select shop from sales");
  }
  void TearDown() override { bed->run("drop schema public cascade; create schema public"); }

  static Ran run(std::vector<std::string> words, const std::string& address = bed->address()) {
    words.insert(words.begin(), {"verify", "--connect", address});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = verify_command(static_cast<int>(argv.size()), argv.data());
    return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
  }

  static std::unique_ptr<verify::testing::Bed> bed;
};
std::unique_ptr<verify::testing::Bed> VerifyCommandTest::bed;

TEST_F(VerifyCommandTest, ViewsThatAgreeAreCounted) {
  const Ran ran = run({});
  EXPECT_EQ(ran.exit, kDone);
  EXPECT_EQ(ran.out,
            "view shops: 4 rows agree\nview totals: 3 rows agree\n2 of 2 views agree, 0 do not, 0 can't be "
            "checked\n");
}

TEST_F(VerifyCommandTest, ARowThatIsMissingIsPrinted) {
  bed->run("insert into sales values (5, 'c', 7)");
  const Ran ran = run({"totals"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_THAT(ran.out,
              HasSubstr("view totals: 1 row differs\n  missing: shop = \"c\", n = \"1\", total = \"7\"\n"));
}

TEST_F(VerifyCommandTest, ARowTooManyIsPrinted) {
  bed->run("delete from sales where id = 4");
  const Ran ran = run({"totals"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_THAT(ran.out, HasSubstr("  too many: shop = null, n = \"1\", total = \"4\"\n"));
}

TEST_F(VerifyCommandTest, ADoubledRowIsCounted) {
  bed->run("delete from sales where id = 2");
  const Ran ran = run({"shops"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_THAT(ran.out, HasSubstr("  expected 1, found 2: shop = \"a\"\n"));
}

TEST_F(VerifyCommandTest, TheLastDigitOfALongNumberCounts) {
  bed->run("update sales set amount = amount + 0.0001 where id = 3");
  const Ran ran = run({"totals"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_THAT(ran.out, HasSubstr("missing: shop = \"b\", n = \"1\", total = \"10000000000.0002\"\n"));
  EXPECT_THAT(ran.out, HasSubstr("too many: shop = \"b\", n = \"1\", total = \"10000000000.0001\"\n"));
}

TEST_F(VerifyCommandTest, MoreRowsThanAskedForAreOnlyCounted) {
  bed->run("delete from sales");
  EXPECT_THAT(run({"totals", "--rows", "1"}).out, HasSubstr("and 2 more\n"));
}

TEST_F(VerifyCommandTest, WhatCanNotBeCheckedIsNamed) {
  bed->run("create materialized view odd as select string_agg(shop, ',') as s from sales");
  const Ran all = run({});
  EXPECT_EQ(all.exit, kDone);
  EXPECT_THAT(all.out, HasSubstr("view odd: can't be checked: "));
  EXPECT_THAT(all.out, HasSubstr("2 of 3 views agree, 0 do not, 1 can't be checked\n"));
  EXPECT_EQ(run({"odd"}).exit, kFailed) << "it was asked for by name";
}

TEST_F(VerifyCommandTest, PrintsOneObjectForPrograms) {
  bed->run("insert into sales values (5, E'c\"\\n', 7)");
  const Ran ran = run({"--json", "totals"});
  EXPECT_EQ(ran.exit, kFailed);
  EXPECT_EQ(ran.out,
            "{\"held_ms\": 0, \"views\": [\n {\"view\": \"totals\", \"verdict\": \"differs\", \"reason\": "
            "null, \"rounds\": 3, "
            "\"rows\": 3, \"differing\": 1, \"moving\": 0, \"differences\": [{\"expected\": 1, \"found\": 0, "
            "\"row\": "
            "{\"shop\": \"c\\\"\\u000a\", \"n\": \"1\", \"total\": \"7\"}}]}]}\n");
}

TEST_F(VerifyCommandTest, WrongUsageNoServerAndNoSuchViewAreTold) {
  EXPECT_EQ(run({"--nonsense"}).exit, kWrongUsage);
  const Ran unknown = run({"nowhere"});
  EXPECT_EQ(unknown.exit, kFailed);
  EXPECT_THAT(unknown.err, HasSubstr("there is no view \"nowhere\""));
  const Ran nobody = run({}, "127.0.0.1:1");
  EXPECT_EQ(nobody.exit, kFailed);
  EXPECT_THAT(nobody.err, HasSubstr("127.0.0.1"));
  EXPECT_THAT(run({"--directory", "/nowhere/at/all"}).err, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace tidemark
