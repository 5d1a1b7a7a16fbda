// Each construct of the language: what PostgreSQL's view holds is what is recomputed in SQLite.
#include <gtest/gtest.h>

#include "tests/verify/bed.h"
#include "verify/translate.h"

namespace tidemark::verify {
namespace {

constexpr const char* kTables = R"(
create table orders (
  id bigint primary key, customer int, amount numeric(12,2), rate numeric, weight float8, small smallint,
  note text, tag varchar(8), at timestamp, tz timestamptz, day date, ok boolean, raw bytea, u uuid, doc jsonb);
insert into orders select
  i, nullif(i % 7, 0), (i * 37 % 1000) / 7.0, case i % 5 when 0 then 1.0 when 1 then 1.00 when 2 then null
    when 3 then i / 3.0 else -i * 1e10 end,
  case i % 6 when 0 then 'NaN' when 1 then 'Infinity' when 2 then -0.0 when 3 then null else i / 3.0 end,
  i % 300, case i % 4 when 0 then null when 1 then 'Ünï' || i when 2 then '' else 'a%b_' || i || 'Z' end,
  left(md5(i::text), 5),
  case i % 9 when 0 then null when 1 then 'infinity' when 2 then timestamp '0044-03-15 12:00:00 BC'
    else timestamp '2024-02-27 23:59:59.5' + i * interval '7 hours 1 second' end,
  timestamptz '1999-12-31 22:00:00.123456+02' + i * interval '13 days',
  case i % 11 when 0 then null when 1 then '-infinity' else date '2023-12-25' + i * 5 end,
  case i % 3 when 0 then null when 1 then true else false end,
  case i % 5 when 0 then null else decode(md5(i::text), 'hex') end,
  md5((i % 20)::text)::uuid,
  case i % 5 when 0 then null when 1 then '[1, 2.50, {"a": null}]' when 2 then '"text"'
    else jsonb_build_object('n', i * 1.50, 'long name', 'x' || i, 'b', i % 2 = 0, 'deep', '{"list": [1, 2, 3]}'::jsonb) end
from generate_series(1, 200) i;
create table customers (id int primary key, name text not null, region text, credit numeric);
insert into customers select i, 'c' || i, case when i < 4 then 'north' else 'south' end, i * 10.5
from generate_series(1, 9) i;
create table pairs (a int, b text, c numeric, primary key (b, a));
insert into pairs select i % 10, 'k' || i % 13, i % 4 from generate_series(1, 100) i on conflict do nothing;
create table nothing (id int primary key, x numeric, t text);
)";

const std::vector<const char*> kQueries = {
    // select, project, computed columns
    "select * from orders",
    "select id, amount * 3 as a, amount / 7 as b, amount % 0.7 as c, -amount as d, id + small as e, id / 3 "
    "as f from orders",
    "select id, customer + 1 as c, small * 2 as s, small / 7::smallint as t, id % 7 as m from orders where "
    "customer > 2",
    "select id, rate from orders where rate > 1 and rate <> 1.5 or rate is null",
    "select id from orders where rate = 1",
    "select id, weight, weight + 1 as a, weight * -2 as b, weight::text as t from orders",
    "select id from orders where weight > 10",
    "select id, weight::numeric as n, amount::float8 as f, amount::int as i, amount::text as t, "
    "id::numeric(10,1) as x, "
    "amount::numeric(6,1) as y, small::text as s from orders where weight < 100",
    "select id, ok, ok is true as a, ok is not false as b, ok is unknown as c, not ok as d, ok::text as t, "
    "ok::int as i from orders",
    "select id, ok and customer > 3 as a, ok or customer > 3 as b from orders",
    "select id, customer is distinct from 3 as a, customer is not distinct from null as b, rate is distinct "
    "from 1.00 as c from orders",
    "select id, customer in (1, 2, 3) as a, customer not in (1, 2) as b, note in ('', 'x') as c, rate in (1, "
    "2) as d from orders",
    "select id, customer = any (array[1, 2]) as a, tag <> all (array['x', 'y']) as b from orders",
    "select id from orders where amount between 10 and 50 or id not between 10 and 190",
    "select id from orders where id between symmetric 50 and 40",
    "select id, case customer when 1 then 'one' when 2 then 'two' else note end as a, "
    "case when amount > 50 then 1 when amount > 20 then 2.5 end as b from orders",
    "select id, coalesce(rate, amount, 0) as a, nullif(customer, 3) as b, greatest(amount, 20, null) as c, "
    "least(day, date '2024-01-01') as d, greatest(small, id) as e from orders",
    // text
    "select id, upper(note) as a, lower(note) as b, length(note) as c, note || '-' || id as d, initcap(note) "
    "as e, "
    "reverse(note) as f, octet_length(note) as g from orders",
    "select id, left(note, 3) as a, right(note, -1) as b, substring(note from 2 for 3) as c, substr(note, 2) "
    "as d, "
    "position('b' in note) as e, strpos(note, 'n') as f, replace(note, '%', '//') as g, repeat(tag, 2) as h "
    "from orders",
    "select id, trim(both 'aZ' from note) as a, ltrim(note, 'Ü') as b, rtrim('  x  ') as c, lpad(tag, 9, "
    "'*') as d, "
    "rpad(note, 4) as e, split_part(note, '_', 2) as f, translate(note, 'aÜ', 'A') as g, ascii(note) as h, "
    "chr(id::int + 64) as i from orders",
    "select id, concat(note, id, ok, amount) as a, concat_ws(', ', note, id, null, ok) as b, "
    "starts_with(note, 'a') as c from orders",
    "select id from orders where note like 'a\\%b%Z' or note like 'Ün_1' or tag ilike 'A%'",
    "select id, note like 'a$%b%' escape '$' as a, note not like '%Z' as b, note not ilike '%z' as c from "
    "orders",
    "select id, tag::varchar(2) as a, note::varchar(3) as b from orders",
    "select id from orders where note > 'a' and tag < 'c'",
    // dates
    "select id, at, tz, day, at::date as a, tz::date as b, day::timestamp as c, tz at time zone 'UTC' as d, "
    "at at time zone 'UTC' as e, "
    "at::text as f, tz::text as g, day::text as h, at::timestamp(0) as i from orders",
    "select id, date_trunc('hour', at) as a, date_trunc('month', tz) as b, date_trunc('week', at) as c, "
    "date_trunc('quarter', at) as d, "
    "date_trunc('year', at) as e, date_trunc('day', tz) as f from orders",
    "select id, extract(year from at) as a, extract(month from at) as b, extract(dow from at) as c, "
    "extract(isodow from at) as d, "
    "extract(doy from at) as e, extract(week from at) as f, extract(isoyear from at) as g, extract(epoch "
    "from at) as h, "
    "extract(second from at) as i, extract(milliseconds from at) as j, extract(microseconds from at) as k, "
    "extract(hour from at) as l, "
    "extract(century from at) as m, extract(decade from at) as n, extract(quarter from at) as o, "
    "extract(minute from tz) as p "
    "from orders where at < timestamp '2100-01-01'",
    "select id, extract(year from day) as a, extract(epoch from day) as b, date_part('day', day) as c, "
    "date_part('epoch', tz) as d "
    "from orders where day > '-infinity'",
    "select id, day + 3 as a, day - 40 as b, at + interval '1 month 2 days 03:04:05.6' as c, tz - interval "
    "'1 year' as d, "
    "day + interval '1 day' as e from orders",
    "select id, at + '1 day' as a, at - '2024-01-01' < interval '3 days' as b from orders where at < "
    "'2100-01-01'",
    "select id, day - date '2024-01-01' as a, extract(epoch from (at - timestamp '2024-01-01')) as b from "
    "orders "
    "where day > '-infinity' and at < '2100-01-01'",
    "select id from orders where at > '2024-03-01' and tz < '2005-01-01 00:00+00' and day >= '2024-02-29'",
    "select id from orders where case when at < 'infinity' then at - timestamp '2024-03-01' > interval '10 "
    "days' end",
    "select rate::text as r, upper(note) as u, count(*) as n from orders group by rate::text, upper(note)",
    "select doc->>'n' as d, (doc->'n')::numeric + 1 as e, count(*) as n from orders where jsonb_typeof(doc) "
    "= 'object' group by doc->>'n', (doc->'n')::numeric",
    "select customer, id + 0 as x from orders union all select id, id from customers order by x desc, "
    "customer limit 7",
    "select id, make_date(2024, 2, 1 + customer) as a, to_timestamp(id * 1.5::float8) as b from orders",
    // uuid, bytea, jsonb
    "select id, u::text as a, raw::text as b, octet_length(raw) as c from orders "
    "where u > '80000000-0000-0000-0000-000000000000' or raw > '\\x80'",
    "select id, doc->'n' as a, doc->>'n' as b, doc->'deep'->'list'->1 as c, doc->>0 as d, doc->-1 as e, "
    "doc->>'b' as f, "
    "jsonb_typeof(doc) as g from orders",
    "select id, (doc->>'n')::numeric * 2 as a, (doc->'n')::int as b, (doc->'b')::boolean as c, doc || "
    "'{\"new\": 1.0}' as d, "
    "jsonb_array_length(doc->'deep'->'list') as e from orders where jsonb_typeof(doc) = 'object'",
    "select id, '{\"b\": 1, \"aa\": [true, null], \"b\": 2.50}'::jsonb as j, '\"x\\u00e9\\n\"'::jsonb as k "
    "from customers",
    // numbers
    "select id, round(amount) as a, round(rate, 1) as b, trunc(rate, -1) as c, ceil(amount) as d, "
    "floor(-amount) as e, abs(-amount) as f, "
    "sign(amount - 50) as g, div(amount, 7) as h, mod(id, 7) as i, abs(customer - 4) as j, round(amount / 3, "
    "2) as k from orders",
    "select id, sqrt(id::float8) as a, power(customer, 2.0::float8) as b, round(weight) as c, floor(weight) "
    "as d, exp(1.0::float8) as e from orders where weight < 1e6",
    "select id, 12345678901234567890 as a, 5000000000 as b, 1.50 as c, 1e3 as d, .5 as e, -7 as f, 'x' as g, "
    "null::int as h, true as i from customers",
    // aggregates
    "select count(*) as n, count(note) as m, sum(amount) as s, avg(amount) as a, min(amount) as lo, "
    "max(amount) as hi from orders",
    "select count(*) as n, sum(x) as s, min(t) as m, bool_and(x > 0) as b, avg(x) as a from nothing",
    "select customer, count(*) as n, sum(id) as s, avg(id) as a, sum(small) as t, avg(small) as b from "
    "orders group by customer",
    "select customer, count(*) filter (where ok) as n, sum(amount) filter (where id > 50 and ok is not true) "
    "as s, avg(rate) filter (where rate < 10) as a "
    "from orders group by customer",
    "select customer, count(distinct tag) as a, count(distinct rate) as b, count(distinct u) as c, "
    "sum(distinct small) as d from orders group by customer",
    "select customer, min(at) as a, max(tz) as b, min(day) as c, max(note) as d, min(rate) as e, max(weight) "
    "as f, min(weight) as g, max(small) as h "
    "from orders group by customer",
    "select ok, bool_and(amount > 1) as a, bool_or(amount > 140) as b, every(id > 0) as c from orders group "
    "by ok",
    "select rate, count(*) as n from orders group by rate",
    "select rate + 1 as r, sum(amount) as s from orders group by rate + 1",
    "select doc->'n' as d, count(*) as n from orders group by 1",
    "select date_trunc('month', tz) as month, extract(year from tz) as year, count(*) as n from orders group "
    "by 1, 2",
    "select customer, ok, sum(amount) as s from orders where id > 10 group by customer, ok having count(*) > "
    "3 and sum(amount) > 100",
    "select weight, count(*) as n from orders group by weight",
    "select upper(region) as r, count(*) as n from customers group by upper(region) having max(credit) > 20",
    // joins
    "select o.id, c.name, o.amount * c.credit as x from orders o join customers c on o.customer = c.id",
    "select o.id, c.name, coalesce(c.region, 'none') as r from orders o left join customers c on c.id = "
    "o.customer and c.region = 'south'",
    "select c.name, count(o.id) as n, sum(o.amount) as s from customers c left join orders o on o.customer = "
    "c.id group by c.name",
    "select o.id, c.name from orders o, customers c where o.customer = c.id and o.amount > c.credit",
    "select a.id, b.id as other from orders a join orders b on a.u = b.u and a.id < b.id",
    "select id, name from customers join (select customer as id, sum(amount) as s from orders group by "
    "customer) t using (id) where s > 500",
    "select * from customers c join (select a as id, b, c as level from pairs) p using (id) "
    "where p.level > 1",
    "select p.b, c.name, o.id from pairs p join (customers c join orders o on o.customer = c.id) on p.a = "
    "c.id and o.small < 20",
    "select p.b, q.b as d from pairs p join pairs q on p.c = q.c and p.a = q.a and lower(p.b) <> q.b",
    // distinct, union
    "select distinct customer, ok from orders",
    "select distinct rate from orders",
    "select id, note from orders where ok union all select id::bigint, name from customers",
    "select customer as x from orders union select id from customers",
    "select id, 1 as kind from customers union all select id::int, 2.5 from orders union all select a, null "
    "from pairs",
    // top-k and latest per group
    "select id, amount from orders order by amount desc, id limit 10",
    "select distinct on (customer) customer, id, tz from orders order by customer, tz desc, id",
    "select distinct on (rate) rate, id from orders order by rate, id desc",
    "select customer, id, amount from (select customer, id, amount, row_number() over (partition by customer "
    "order by amount desc, id) as n from orders) t where n <= 3",
    "select customer, count(*) as n from orders group by customer order by n desc, customer nulls first "
    "limit 3",
    "select distinct region from customers order by region limit 1",
    "select x from (select id as x from customers union all select a from pairs where a > 100) u order by x "
    "desc limit 4",
    // with, subqueries, values
    "with big as (select * from orders where amount > 70), named(k, label) as (select id, name from "
    "customers) "
    "select label, count(*) as n from big join named on k = customer group by label",
    "select v.label, c.name from customers c join (values (1, 'first'), (2, 'second')) as v(id, label) on "
    "v.id = c.id",
    "select s.count, s.sum from (select count(*), sum(amount) from orders group by customer) s where s.count "
    "> 5",
};

class TranslationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    bed = std::make_unique<testing::Bed>();
    bed->run(kTables);
  }
  static void TearDownTestSuite() { bed.reset(); }
  void TearDown() override {
    for (const auto& row : bed->ask("select matviewname from pg_matviews")) {
      bed->run("drop materialized view if exists " + row[0] + " cascade");
    }
  }

  static std::unique_ptr<testing::Bed> bed;
};
std::unique_ptr<testing::Bed> TranslationTest::bed;

std::string shown(const ViewReport& view) {
  std::string out =
      view.reason + " differing " + std::to_string(view.differing) + " moving " + std::to_string(view.moving);
  for (const Difference& difference : view.differences) {
    out += "\n  expected " + std::to_string(difference.expected) + ", found " +
           std::to_string(difference.found) + ":";
    for (const auto& field : decoded(difference.row)) out += " [" + field.value_or("NULL") + "]";
    if (out.size() > 2000) break;
  }
  return out;
}

TEST_F(TranslationTest, EveryConstructGivesPostgresRows) {
  for (size_t i = 0; i < kQueries.size(); ++i) {
    bed->run("create materialized view v" + std::to_string(i) + " as " + kQueries[i]);
  }
  const VerifyReport report = bed->verify();
  ASSERT_EQ(report.views.size(), kQueries.size());
  size_t rows = 0;
  for (const ViewReport& view : report.views) {
    EXPECT_EQ(view.verdict, Verdict::Agrees) << kQueries[std::stoul(view.view.substr(1))] << "\n"
                                             << shown(view);
    EXPECT_EQ(view.rounds, view.verdict == Verdict::Unchecked ? 0 : view.verdict == Verdict::Agrees ? 1 : 3);
    rows += static_cast<size_t>(view.rows);
  }
  EXPECT_GT(rows, 5000u);
}

TEST_F(TranslationTest, ViewsOverViewsAreRecomputedFromBaseRows) {
  bed->run(
      "create materialized view per_customer as select customer, sum(amount) as total, count(*) as n from "
      "orders group by customer");
  bed->run(
      "create materialized view named as select c.name, p.total, p.n from customers c left join per_customer "
      "p on p.customer = c.id");
  bed->run(
      "create materialized view top as select name, total from named order by total desc nulls last, name "
      "limit 3");
  VerifyReport report = bed->verify();
  for (const ViewReport& view : report.views)
    EXPECT_EQ(view.verdict, Verdict::Agrees) << view.view << shown(view);
  // Were the lower view taken from the server, the upper ones would agree with what is wrong.
  bed->run(
      "begin; update orders set amount = amount + 1000 where customer = 3; refresh materialized view "
      "per_customer; commit");
  report = bed->verify({.views = {"top", "per_customer"}});
  EXPECT_EQ(report.views[0].verdict, Verdict::Differs);
  EXPECT_EQ(report.views[1].verdict, Verdict::Agrees);
  bed->run("update orders set amount = amount - 1000 where customer = 3");
}

TEST_F(TranslationTest, WhatIsNotTranslatedIsNamedWithTheReason) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"select customer, string_agg(note, ',') as s from orders group by customer", "string_agg"},
      {"select sum(weight) as s from orders", "sum(double precision)"},
      {"select id, rank() over (order by amount) as r from orders", "rank"},
      {"select id from orders where exists (select 1 from customers)", "a query inside an expression"},
      {"select c.id, o.amount from customers c cross join lateral (select amount from orders where customer "
       "= c.id limit 1) o",
       "LATERAL"},
      {"select id from orders intersect select id from customers", "INTERSECT"},
      {"select o.id from orders o full join customers c on c.id = o.customer", "FULL"},
      {"select id, note ~ 'x' as r from orders", "operator"},
      {"select ok, name from (select ok, name from orders, customers limit 3) t", "LIMIT without ORDER BY"},
      {"select ok from orders left join customers c on c.id = customer order by ok limit 5", "equal rows"},
      {"select array[id] as a from customers", "A_ArrayExpr"},
  };
  int i = 0;
  for (const auto& [query, why] : kRefused) {
    const std::string name = "refused" + std::to_string(i++);
    bed->run("create materialized view " + name + " as " + query);
    const VerifyReport report = bed->verify({.views = {name}});
    EXPECT_EQ(report.views[0].verdict, Verdict::Unchecked) << query << shown(report.views[0]);
    EXPECT_NE(report.views[0].reason.find(why), std::string::npos) << query << ": " << report.views[0].reason;
  }
  bed->run("create table odd (id int primary key, at point)");
  bed->run("create materialized view of_odd as select id from odd");
  EXPECT_NE(bed->verify({.views = {"of_odd"}}).views[0].reason.find("point"), std::string::npos);
}

// The parser's JSON leaves them out, and a server may give the statement as it was written.
TEST(ParsedQueryTest, KeepsNegativeNumbersAndZero) {
  for (const char* number : {"-5", "- 7", "0", "-2147483648", "12", "-\n3"}) {
    const auto query = ParsedQuery::parse(std::string("select 'ä' as t, ") + number + " as n");
    ASSERT_TRUE(query.ok()) << number;
    const auto translated = translate(*query, {});
    ASSERT_TRUE(translated.ok()) << translated.error().message;
    std::string expected;
    for (const char* c = number; *c != '\0'; ++c) expected += *c > ' ' ? std::string(1, *c) : "";
    EXPECT_NE(translated->sql.find("(" + expected + ") AS c2"), std::string::npos) << translated->sql;
  }
  const auto negative_scale = ParsedQuery::parse("select 150::numeric(3, -2)");
  ASSERT_TRUE(negative_scale.ok());
  EXPECT_NE(translate(*negative_scale, {})->sql.find(", 3, -2)"), std::string::npos);
}

TEST_F(TranslationTest, EqualRowsOfATopKAreSettledByKey) {
  bed->run("create table ties (id int primary key, g int, x int)");
  bed->run("insert into ties select i, i % 2, i % 3 from generate_series(1, 30) i");
  // As Tidemark keeps them, which PostgreSQL does not promise: the lowest keys.
  bed->run("create materialized view first_ties as select g, id from ties order by g, id limit 5");
  bed->run(
      "create materialized view group_ties as select x, count(*) as n from ties group by x order by n desc, "
      "x limit 2");
  for (const ViewReport& view : bed->verify().views)
    EXPECT_EQ(view.verdict, Verdict::Agrees) << view.view << shown(view);
}

}  // namespace
}  // namespace tidemark::verify
