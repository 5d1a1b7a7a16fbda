// Views of the supported language, kept up to date by plans and operators, against their queries.
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/row_limits.h"
#include "tests/view_manager/flow_world.h"

namespace tidemark {
namespace {

class ViewsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.create_table("orders", {{"id", "bigint"},
                                   {"customer", "integer"},
                                   {"amount", "numeric(12,2)"},
                                   {"kind", "text"},
                                   {"parent", "bigint"}});
    world_.create_table("customers", {{"id", "integer"}, {"name", "text"}, {"city", "text"}});
  }

  void view(const std::string& sql) {
    std::string refused = world_.create_view("create materialized view " + sql);
    ASSERT_EQ(refused, "") << sql;
  }

  // Random writes to both tables, with NULLs, and every view checked after each.
  void churn(uint64_t seed, int steps = 250) {
    Random random(seed);
    auto or_null = [&](std::string text, double chance) { return random.chance(chance) ? "NULL" : text; };
    for (int i = 0; i < steps; ++i) {
      if (random.chance(0.3)) {
        std::string id = std::to_string(random.between(1, 6));
        if (random.chance(0.3)) {
          world_.erase("customers", id);
        } else {
          world_.upsert("customers", {id, "name" + std::to_string(random.between(1, 4)),
                                      or_null("city" + std::to_string(random.between(1, 3)), 0.2)});
        }
      } else {
        std::string id = std::to_string(random.between(1, 12));
        if (random.chance(0.25)) {
          world_.erase("orders", id);
        } else {
          world_.upsert("orders", {id, or_null(std::to_string(random.between(1, 6)), 0.15),
                                   or_null(std::to_string(random.between(-5, 5)) + "." +
                                               std::to_string(random.between(10, 99)),
                                           0.15),
                                   or_null("k" + std::to_string(random.between(1, 3)), 0.1),
                                   or_null(std::to_string(random.between(1, 12)), 0.4)});
        }
      }
      std::string difference = world_.check();
      ASSERT_EQ(difference, "") << "step " << i;
    }
  }

  FlowWorld world_;
};

TEST_F(ViewsTest, SelectProjectComputed) {
  view("v as select id, amount * 2 as twice, upper(kind) as k from orders where amount > 0");
  view("w as select kind, id from orders where kind = 'k1' or customer is null");
  churn(1);
}

TEST_F(ViewsTest, ReadsByAnotherKey) {
  view("v with (distribute_by = 'customer') as select customer, id, amount from orders");
  const pb::TableDefinition* table = world_.find("v");
  ASSERT_EQ(table->distribution_size(), 1);
  EXPECT_EQ(table->columns(static_cast<int>(table->distribution(0))).name(), "customer");
  view("w with (distribute_by = 'n') as select customer, count(*) as n from orders group by customer");
  churn(2);
}

TEST_F(ViewsTest, CountSumAverageWithFilter) {
  view(
      "v as select customer, count(*) as n, count(amount) as c, sum(amount) as s, avg(amount) as a, "
      "sum(id) as ids, avg(id) as mean, count(*) filter (where kind = 'k1') as k1, "
      "sum(amount) filter (where amount > 0) as gains, bool_and(amount > 0) as all_gain, "
      "bool_or(amount > 0) as some_gain from orders group by customer");
  view("w as select kind, sum(amount) from orders where customer > 2 group by kind");
  churn(3);
}

TEST_F(ViewsTest, MinMaxCountDistinctSeveralAtOnce) {
  view(
      "v as select customer, min(amount) as lo, max(amount) as hi, count(distinct kind) as kinds, "
      "max(kind) as k, min(kind) filter (where amount > 0) as g, count(*) as n from orders group by "
      "customer");
  churn(4);
}

TEST_F(ViewsTest, HavingHidesRowsThatComeBack) {
  view(
      "v as select customer, sum(amount) as s from orders group by customer having count(*) > 1 and "
      "sum(amount) > 0");
  view("w as select count(*) as visible from v");
  churn(5);
}

TEST_F(ViewsTest, AGlobalAggregateOverNothingIsOneRow) {
  view("v as select count(*) as n, sum(amount) as s, max(kind) as m from orders");
  EXPECT_EQ(world_.read("v"), std::vector<std::string>{"0|NULL|NULL"});
  view("w as select n, count(*) as times from v group by n");
  EXPECT_EQ(world_.read("w"), std::vector<std::string>{"0|1"});
  churn(6);
}

TEST_F(ViewsTest, DistinctRows) {
  view("v as select distinct customer, kind from orders");
  churn(7);
}

TEST_F(ViewsTest, InnerJoinWithResidualCondition) {
  view(
      "v as select o.id, c.name, o.amount from orders o join customers c on o.customer = c.id "
      "and (o.kind = 'k1' or c.city = 'city1') where o.amount > -3");
  view(
      "w as select o.id as oid, c.id as cid from orders o, customers c where o.customer = c.id and o.id > "
      "c.id");
  churn(8);
}

TEST_F(ViewsTest, LeftJoin) {
  view("v as select o.id, c.name, o.amount from orders o left join customers c on o.customer = c.id");
  view(
      "w as select o.id, c.city from orders o left join customers c on o.customer = c.id and c.city = "
      "'city1' "
      "and o.kind = 'k1'");
  view("x as select o.id from orders o left join customers c on o.customer = c.id where c.id is null");
  churn(9);
}

TEST_F(ViewsTest, LeftJoinWithAConditionOverBothSides) {
  view(
      "v as select o.id, c.name, o.amount from orders o left join customers c on o.customer = c.id and "
      "o.id > c.id + 3");
  view(
      "w as select o.kind, count(*) as n, count(c.id) as found from orders o left join customers c on "
      "o.customer = c.id and o.kind <> c.city and c.name <> 'name1' and o.amount > 0 group by o.kind");
  // What identifies a left row may be NULL.
  view(
      "x as select t.kind, c.name from (select kind, max(customer) as m from orders group by kind) t "
      "left join customers c on t.m = c.id and coalesce(t.kind, 'k1') <> c.name");
  churn(19);
}

// A partner whose key is NULL, or that has none, is not to be taken for no partner when it goes.
TEST_F(ViewsTest, LeftJoinWithAPartnerThatNothingIdentifies) {
  view("v as select c.id, t.n from customers c left join (select count(*) as n from orders) t on c.id = t.n");
  view(
      "w as select c.id, t.kind from customers c left join (select kind, max(customer) as m from orders "
      "group "
      "by kind) t on c.id = t.m");
  churn(20);
}

TEST_F(ViewsTest, SelfJoin) {
  view("v as select a.id as child, b.id as parent, b.kind from orders a join orders b on a.parent = b.id");
  churn(10);
}

TEST_F(ViewsTest, AggregateOverJoinAndJoinOfAggregate) {
  view(
      "v as select c.city, count(*) as n, sum(o.amount) as s, max(o.amount) as m from orders o "
      "join customers c on o.customer = c.id group by c.city");
  view(
      "w as select c.name, t.n from customers c join (select customer, count(*) as n from orders group by "
      "customer) t "
      "on t.customer = c.id");
  view(
      "x as select c.city, count(o.id) as n from customers c left join orders o on o.customer = c.id group "
      "by c.city");
  churn(11);
}

TEST_F(ViewsTest, ThreeWayJoin) {
  view(
      "v as select a.id, b.id as parent, c.name from orders a join orders b on a.parent = b.id "
      "join customers c on b.customer = c.id");
  churn(12);
}

TEST_F(ViewsTest, JoinsWithManyMatchesComeInPages) {
  world_.store().matches_max = 2;
  view("v as select o.id, c.name from orders o join customers c on o.customer = c.id");
  view("w as select o.id, c.name from orders o left join customers c on o.customer = c.id");
  churn(13);
}

TEST_F(ViewsTest, TopAndLatestPerGroup) {
  view(
      "v as select distinct on (customer) customer, id, amount from orders order by customer, amount desc, "
      "id");
  view("w as select id, amount from orders order by amount desc, id limit 3");
  view(
      "x as select customer, id, amount from (select customer, id, amount, row_number() over "
      "(partition by customer order by amount desc, id) as rn from orders) t where rn <= 2");
  churn(14);
}

TEST_F(ViewsTest, TheFirstRowsKeepTheZerosOfTheirNumbers) {
  world_.create_table("facts", {{"id", "bigint"}, {"kind", "text"}, {"fact", "jsonb"}});
  view("v as select distinct on (kind) kind, fact from facts order by kind, id");
  view("w as select id, fact from facts order by id limit 2");
  view(
      "x as select fact from (select fact, row_number() over (partition by kind order by fact desc) as n "
      "from facts) t where n <= 1");
  world_.upsert("facts", {"1", "a", R"({"n": 1.50, "of": [2.0, 2]})"});
  world_.upsert("facts", {"2", "b", "1.00"});
  EXPECT_EQ(world_.check(), "");
  world_.upsert("facts", {"2", "b", "1.0"});
  EXPECT_EQ(world_.read("w"), (std::vector<std::string>{R"(1|{"n": 1.50, "of": [2.0, 2]})", "2|1.0"}));
  world_.upsert("facts", {"1", "a", "NULL"});
  EXPECT_EQ(world_.check(), "");
}

TEST_F(ViewsTest, UnionAll) {
  view("v as select id, kind as label from orders where amount > 0 union all select id, name from customers");
  view(
      "w as select label, count(*) as n from (select kind as label from orders union all select city from "
      "customers) "
      "t group by label");
  view("x as select kind from orders union select city from customers");
  churn(15);
}

TEST_F(ViewsTest, WordsOfATextAreFoundByTheWord) {
  world_.create_table("notes", {{"id", "bigint"}, {"body", "text"}, {"author", "integer"}});
  view("v as select word, id from notes, string_to_table(lower(body), ' ') as word");
  const pb::TableDefinition* table = world_.find("v");
  ASSERT_EQ(table->distribution_size(), 1);
  EXPECT_EQ(table->columns(static_cast<int>(table->distribution(0))).name(), "word");
  view(
      "w as select word, count(*) as n, count(distinct id) as notes from notes, "
      "unnest(string_to_array(lower(body), ' ')) as word where word <> '' group by word");
  view(
      "x as select c.name, t.word from customers c join (select author, w from notes cross join lateral "
      "regexp_split_to_table(body, '[^a-zA-Z]+') as s(w) where w = 'tide' or author > 3) t(author, word) on "
      "c.id = t.author");
  view("y as select distinct word from notes, string_to_table(body, ' ') as word where word = 'tide'");
  Random random(21);
  const std::vector<std::string> words = {"tide", "Tide", "mark", "the", "", "a,b", "of"};
  for (int i = 0; i < 200; ++i) {
    const std::string id = std::to_string(random.between(1, 8));
    if (random.chance(0.2)) {
      world_.erase("notes", id);
    } else {
      std::string body;
      for (int64_t n = random.between(0, 6); n > 0; --n) body += words[random.below(words.size())] + " ";
      world_.upsert("notes", {id, random.chance(0.1) ? "NULL" : body, std::to_string(random.between(1, 6))});
    }
    if (i % 10 == 0) world_.upsert("customers", {std::to_string(1 + i / 10 % 6), "name", "city"});
    ASSERT_EQ(world_.check(), "") << i;
  }
}

TEST_F(ViewsTest, ViewsOverViewsOverViews) {
  view("v as select customer, count(*) as n, sum(amount) as s from orders group by customer");
  view("w as select n, count(*) as customers, max(s) as most from v group by n");
  view("x as select w.n, w.customers, c.name from w join customers c on c.id = w.n");
  view("y as select sum(customers) as total from x");
  churn(16);
}

TEST_F(ViewsTest, AViewOverRowsThatAreThereIsFilledByPages) {
  view("before as select customer, count(*) as n from orders group by customer");
  churn(17, 60);
  view("v as select customer, sum(amount) as s, min(amount) as m from orders group by customer");
  view("w as select o.id, c.name from orders o left join customers c on o.customer = c.id");
  view("x as select n, count(*) as times from before group by n");
  view("y as select count(*) as n from orders");
  EXPECT_EQ(world_.check(), "");
  churn(18, 60);
}

// A region may get both sides of a join before its own stream has begin(view): it is their only chance to
// meet.
TEST_F(ViewsTest, OnlyBaseRowsWaitForTheBeginOfAView) {
  view("v as select o.id, c.name from orders o join customers c on o.customer = c.id");
  const pb::TableDefinition& definition = *world_.find("v");
  ASSERT_LT(definition.created(), definition.begun());
  const TableId orders{world_.find("orders")->id()};
  auto effects_at = [&](uint64_t version, const Change& change) {
    EffectEntry entry;
    StepCounters steps(ShardCount{16});
    steps.begin_record();
    EffectWriter writer(entry, ShardCount{16}, steps);
    writer.enter_lane(ShardId{0}, 0);
    EXPECT_TRUE(world_.programs().effects_of(change, {CatalogVersion{version}, TableId{0}}, writer));
    return entry.effects().size();
  };
  world_.upsert("customers", {"2", "name", "city"});
  world_.upsert("orders", {"1", "2", "1.00", "a", "NULL"});
  auto [left, right] = std::pair(TableId{definition.id() + 1}, TableId{definition.id() + 2});
  ASSERT_EQ(world_.store().definition(left).partner(), right.value);
  const auto& [left_key, left_row] = *world_.store().rows(left).begin();
  const auto& [right_key, right_row] = *world_.store().rows(right).begin();
  std::string matches;
  append_match(matches, {right_key, right_row});
  Change side;
  side.table = left;
  side.key = left_key;
  side.after = left_row;
  side.has_matches = true;
  side.matches = matches;
  EXPECT_EQ(effects_at(definition.created(), side), 1u);
  const auto& [base_key, base_row] = *world_.store().rows(orders).begin();
  Change base;
  base.table = orders;
  base.key = base_key;
  base.after = base_row;
  EXPECT_EQ(effects_at(definition.created(), base), 0u);
  EXPECT_EQ(effects_at(definition.begun(), base), 1u);
}

TEST_F(ViewsTest, AnExpressionThatFailsIsInTheErrorSetUntilItsRowIsGone) {
  view("v as select id, 10 / customer as share from orders");
  view("w as select kind, sum(10 / customer) as s from orders group by kind");
  world_.upsert("orders", {"1", "2", "1.00", "a", "NULL"});
  world_.upsert("orders", {"2", "0", "1.00", "a", "NULL"});
  EXPECT_EQ(world_.read("v"), std::vector<std::string>{"1|5"});
  EXPECT_EQ(world_.read("w"), std::vector<std::string>{"a|5"});
  EXPECT_EQ(world_.errors("v"), std::vector<std::string>{"22012|division by zero"});
  EXPECT_EQ(world_.errors("w"), std::vector<std::string>{"22012|division by zero"});
  world_.upsert("orders", {"2", "5", "1.00", "a", "NULL"});
  EXPECT_EQ(world_.read("w"), std::vector<std::string>{"a|7"});
  EXPECT_TRUE(world_.errors("v").empty());
  EXPECT_TRUE(world_.errors("w").empty());
  world_.upsert("orders", {"1", "0", "1.00", "a", "NULL"});
  EXPECT_EQ(world_.errors("v").size(), 1u);
  world_.erase("orders", "1");
  EXPECT_TRUE(world_.errors("v").empty());
  EXPECT_EQ(world_.read("v"), std::vector<std::string>{"2|2"});
}

// Its condition leaves the row out of the side of the join: nobody else would report it.
TEST_F(ViewsTest, ALeftRowThatFailsAndCanHaveNoPartnerIsInTheErrorSet) {
  const std::string orders =
      "(select id, customer, kind, 10 / amount as share, 10 / customer as c from orders)";
  view("v as select o.id, o.share, c.name from " + orders +
       " o left join customers c on o.customer = c.id and o.kind = 'k1'");
  view("w as select o.id, c.name from " + orders +
       " o left join customers c on o.c = c.id and o.kind = 'k1'");
  world_.upsert("customers", {"2", "name", "city"});
  world_.upsert("orders", {"1", "2", "2.00", "k1", "NULL"});
  EXPECT_EQ(world_.check(), "");
  for (const std::string kind : {"k2", "NULL"}) {
    world_.upsert("orders", {"1", "0", "0.00", kind, "NULL"});
    EXPECT_TRUE(world_.read("v").empty()) << kind;
    EXPECT_EQ(world_.errors("v"), std::vector<std::string>{"22012|division by zero"}) << kind;
    // What fails is not needed to know that there is no partner.
    EXPECT_EQ(world_.read("w"), std::vector<std::string>{"1|NULL"}) << kind;
    EXPECT_TRUE(world_.errors("w").empty()) << kind;
  }
  world_.upsert("orders", {"1", "2", "1.00", "k2", "NULL"});
  EXPECT_TRUE(world_.errors("v").empty());
  EXPECT_TRUE(world_.errors("w").empty());
  EXPECT_EQ(world_.check(), "");
}

TEST_F(ViewsTest, APatternThatIsNoneIsAnErrorOfItsRow) {
  view("v as select id from customers where name like city");
  world_.upsert("customers", {"1", "abcd", "abc\\"});
  world_.upsert("customers", {"2", "abc", "a%"});
  EXPECT_EQ(world_.read("v"), std::vector<std::string>{"2"});
  EXPECT_EQ(world_.errors("v"),
            std::vector<std::string>{"22025|LIKE pattern must not end with escape character"});
  world_.upsert("customers", {"1", "abcd", "abc"});
  EXPECT_TRUE(world_.errors("v").empty());
  EXPECT_EQ(world_.check(), "");
}

TEST_F(ViewsTest, CopiesOfATextThatNoMemoryHoldsAreAnErrorOfTheirRow) {
  std::string columns = "id";
  for (int i = 0; i < 1000; ++i) columns += ", length(lower(name)) as l" + std::to_string(i);
  view("v as select " + columns + " from customers");
  world_.upsert("customers", {"1", std::string(100'000, 'x'), "NULL"});
  EXPECT_TRUE(world_.read("v").empty());
  ASSERT_EQ(world_.errors("v").size(), 1u);
  EXPECT_TRUE(world_.errors("v")[0].starts_with("53200|")) << world_.errors("v")[0];
}

// Every read of a view with an error set asks for it, in all regions.
TEST_F(ViewsTest, AViewWhoseExpressionsCanNotFailHasNoErrorSet) {
  view("v as select id, length(lower(name)) as n from customers where length(city) > 1");
  for (const pb::TableDefinition& table : world_.catalog().tables()) EXPECT_NE(table.kind(), pb::AUXILIARY);
}

// numeric ends at 131,072 digits before the point: a sum that met the end could not be taken back.
TEST_F(ViewsTest, ANumberWhoseSumsCouldOverflowIsAnErrorOfItsRow) {
  world_.create_table("numbers", {{"id", "bigint"}, {"kind", "text"}, {"x", "numeric"}});
  view("v as select kind, sum(x) as s, avg(x) as a from numbers group by kind");
  world_.upsert("numbers", {"1", "a", "9e131071"});
  world_.upsert("numbers", {"2", "a", "1.5"});
  world_.upsert("numbers", {"1", "a", "-9e131071"});
  world_.upsert("numbers", {"3", "a", "-9e131071"});
  EXPECT_EQ(world_.read("v"), std::vector<std::string>{"a|1.5|1.5"});
  EXPECT_EQ(world_.errors("v").size(), 2u);
  world_.upsert("numbers", {"1", "a", "2.5"});
  world_.erase("numbers", "3");
  EXPECT_TRUE(world_.errors("v").empty());
  EXPECT_EQ(world_.check(), "");
}

TEST_F(ViewsTest, SumsOfTheLongestNumbersAreExact) {
  world_.create_table("numbers", {{"id", "bigint"}, {"kind", "text"}, {"x", "numeric"}});
  view("v as select kind, sum(x) as s from numbers group by kind");
  const std::vector<std::string> longest{"9e131040", "-9e131040", "7e-16383", "-3.25"};
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(random.between(1, 12));
    if (random.chance(0.2)) {
      world_.erase("numbers", id);
    } else {
      world_.upsert("numbers", {id, "a", longest[static_cast<size_t>(random.between(0, 3))]});
    }
    ASSERT_EQ(world_.check(), "") << "step " << i;
  }
  EXPECT_TRUE(world_.errors("v").empty());
}

// However long the numbers are: a row of sums that no record holds would stop its lane.
TEST_F(ViewsTest, ARowOfManySumsIsNoLongerThanARowMayBe) {
  world_.create_table("numbers", {{"id", "bigint"}, {"x", "numeric"}});
  std::string sums = "count(*) as n";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    sums += ", sum(x * 1" + std::string(static_cast<size_t>(i), '0') + ") filter (where id % 40 = " + n +
            ") as s" + n;
  }
  view("v as select " + sums + " from numbers");
  for (int digits : {2000, 3500, 7000, 130000}) {
    for (int i = 0; i < 40; ++i) {
      world_.upsert("numbers", {std::to_string(i), "9e" + std::to_string(digits)});
      world_.upsert("numbers", {std::to_string(i + 40), "9e-" + std::to_string(std::min(digits, 16000))});
    }
    const TableId table{world_.find("v")->id()};
    for (const auto& [key, row] : world_.store().rows(table)) {
      EXPECT_LE(key.size() + row.size(), kRowBytesMax) << digits;
    }
  }
  EXPECT_FALSE(world_.errors("v").empty());
}

// Else its effect would fit no record, and its lane would stand still.
TEST_F(ViewsTest, ARowThatIsTooLargeIsInTheErrorSetUntilItIsGone) {
  view("computed as select id, repeat(kind, 8) as k from orders");
  view("twice as select id, kind as a, kind as b from orders");
  view("joined as select o.id, o.kind, c.name from orders o join customers c on c.id = o.customer");
  view("united as select id, kind || kind as k from orders union all select id, kind as k from orders");
  view("grouped as select kind || kind as k, count(*) as n from orders group by kind || kind");
  view("extremes as select customer, min(kind) as a, max(kind || '') as b from orders group by customer");
  const std::vector<std::string> views = {"computed", "twice", "joined", "united", "grouped", "extremes"};
  const std::vector<std::string> too_large = {
      "54000|a row of a materialized view is larger than 140000 bytes"};
  const std::string large(100'000, 'x');
  world_.upsert("customers", {"1", large, "c"});
  world_.upsert("orders", {"1", "1", "1.00", large, "NULL"});
  for (const std::string& name : views) {
    SCOPED_TRACE(name);
    EXPECT_EQ(world_.errors(name), too_large);
    EXPECT_EQ(world_.read(name).size(), name == "united" ? 1u : 0u);
  }
  for (const std::string& kind : {std::string("small"), large, std::string("other")}) {
    world_.upsert("orders", {"1", "1", "1.00", kind, "NULL"});
    for (const std::string& name : views) {
      SCOPED_TRACE(name);
      EXPECT_EQ(world_.errors(name).empty(), kind != large);
      EXPECT_EQ(world_.read(name).empty(), kind == large && name != "united");
    }
  }
  world_.upsert("orders", {"1", "1", "1.00", large, "NULL"});
  world_.upsert("customers", {"1", "name", "c"});
  EXPECT_TRUE(world_.errors("joined").empty());
  world_.erase("orders", "1");
  for (const std::string& name : views) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(world_.errors(name).empty());
    EXPECT_TRUE(world_.read(name).empty());
  }
}

// A column beside the words is copied for each of them: a record of such rows would make gigabytes.
TEST_F(ViewsTest, ARowWhoseWordsMakeTooMuchIsInTheErrorSetUntilItIsGone) {
  world_.create_table("notes", {{"id", "bigint"}, {"body", "text"}, {"title", "text"}, {"x", "numeric"}});
  view("indexed as select word, id from notes, string_to_table(body, ' ') as word");
  view("beside as select word, title from notes, string_to_table(body, ' ') as word");
  view("summed as select word, sum(x) as s from notes, string_to_table(body, ' ') as word group by word");
  view(
      "united as select word, title from notes, string_to_table(body, ' ') as word union all select title, "
      "'' from notes");
  view("shares as select id, 10 / length(word) as n, title from notes, string_to_table(body, ' ') as word");
  const std::vector<std::string> views = {"beside", "summed", "united", "shares"};
  const std::vector<std::string> too_much = {
      "54000|a row with each of its words takes more than 8388608 bytes"};
  std::string body = "some";
  for (int i = 0; i < 2000; ++i) body += " word" + std::to_string(i % 1900);
  const std::string title(10'000, 't'), x = "1" + std::string(30'000, '0') + ".5";
  const std::vector<std::vector<std::string>> rows = {
      {"1", body, title, x},          {"1", body, "short", "1"}, {"1", body + " more", title, x},
      {"1", "a  word", "short", "1"}, {"1", body, title, x},     {"1", "a word", title, x}};
  for (const std::vector<std::string>& row : rows) {
    world_.upsert("notes", row);
    const bool is_too_much = row[1].size() > 100 && row[2] == title;
    const bool has_empty_word = row[1] == "a  word";
    EXPECT_TRUE(world_.errors("indexed").empty());
    for (const std::string& name : views) {
      SCOPED_TRACE(name + " of " + row[1].substr(0, 10) + ", " + row[2].substr(0, 10));
      if (is_too_much) {
        EXPECT_EQ(world_.errors(name), too_much);
        EXPECT_EQ(world_.read(name).size(), name == "united" ? 1u : 0u);
      } else if (has_empty_word && name == "shares") {
        EXPECT_EQ(world_.errors(name), std::vector<std::string>{"22012|division by zero"});
      } else {
        EXPECT_TRUE(world_.errors(name).empty());
        EXPECT_EQ(world_.read(name), world_.evaluate(name));
      }
    }
  }
  world_.upsert("notes", rows[0]);
  world_.erase("notes", "1");
  for (const std::string& name : views) {
    EXPECT_TRUE(world_.errors(name).empty()) << name;
    EXPECT_TRUE(world_.read(name).empty()) << name;
  }
}

TEST_F(ViewsTest, DroppedViewsGetNothing) {
  view("v as select customer, count(*) as n from orders group by customer");
  world_.upsert("orders", {"1", "2", "1.00", "a", "NULL"});
  const uint64_t effects = world_.effects();
  EXPECT_GT(effects, 0u);
  world_.drop_view("v");
  world_.upsert("orders", {"2", "2", "1.00", "a", "NULL"});
  EXPECT_EQ(world_.effects(), effects);
}

TEST_F(ViewsTest, ViewsToldApartByAConstantAreFoundNotTried) {
  for (int i = 0; i < 300; ++i) {
    view("v" + std::to_string(i) + " as select id, amount from orders where kind = 'k" + std::to_string(i) +
         "'");
  }
  world_.upsert("orders", {"1", "2", "1.00", "k7", "NULL"});
  EXPECT_EQ(world_.effects(), 1u);
  world_.upsert("orders", {"1", "2", "1.00", "k8", "NULL"});
  EXPECT_EQ(world_.effects(), 3u);
  EXPECT_EQ(world_.check(), "");
}

TEST_F(ViewsTest, WhatCanNotBeKeptIsRefused) {
  auto refused = [&](const std::string& sql) {
    return world_.create_view("create materialized view v as " + sql);
  };
  EXPECT_NE(refused("select sum(amount::double precision) from orders"), "");
  EXPECT_NE(refused("select id, now() as t from orders"), "");
  EXPECT_NE(refused("select o.id from orders o, customers c where o.id > c.id"), "");
  EXPECT_NE(refused("select id from orders limit 3"), "");
  EXPECT_NE(refused("select id, row_number() over (order by id) from orders"), "");
  EXPECT_NE(refused("select sum(distinct amount) from orders"), "");
}

}  // namespace
}  // namespace tidemark
