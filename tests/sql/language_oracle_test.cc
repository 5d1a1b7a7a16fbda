// Regular expressions, arrays and functions of several rows: as PostgreSQL has them.
#include <gtest/gtest.h>

#include "sql/execute/memory_source.h"
#include "sql/expr/regex.h"
#include "sql/types/array_text.h"
#include "tests/sql/oracle.h"
#include "tests/sql/random_values.h"
#include "tests/sql/run_query.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql {
namespace {

using testing::Answer;
using testing::Oracle;
using testing::quote;
using testing::RandomValues;

Answer run(const std::string& sql) {
  const testing::TestCatalog catalog;
  MemorySource source;
  return testing::run_query(sql, catalog, source);
}

TEST(LanguageOracle, QueriesAnswerAsPostgresDoes) {
  Oracle oracle;
  for (const std::string sql : {
           "select * from generate_series(2, 5)",
           "select 1e-2000 / 3, -5e-1001 / 1, 12345678901234567890123456789012345678901234567890e-2000 / 7",
           "select E'a'\n'\\'', 1 + 1",
           "select 'aXbXc' like 'a%X_', 'abc' like '%_%_%_', 'ab' like '%_%_%_', 'aab' like '%ab', 'a\\' "
           "like 'a\\\\'",
           "select 'mississippi' like '%iss%ip%', 'mississippi' like '%iss%ippo%', '' like '%', 'x' like '', "
           "'' like '_'",
           "select 'ab' like 'a%_\\'",
           "select 'a' like 'a%\\', 'äöü' like '%ö_', 'äöü' like '%_ö'",
           "select n, n * 2 from generate_series(1, 3) as s(n) where n > 1",
           "select i from generate_series(3::bigint, 1) i",
           "select generate_series(1, 3), 'x'",
           "select generate_series(1, 2) as a, generate_series(1, 2) as b",
           "select x from unnest(string_to_array('c,a,b', ',')) x order by x",
           "select n, m from generate_series(1, 3) n, generate_series(n, 3) m order by n, m",
           "select n, m from generate_series(1, 3) n join generate_series(1, n) m on m in (select 2)",
           "select n, m from generate_series(1, 3) n join generate_series(2, 4) m on n = m",
           "select n, m from generate_series(1, 3) n cross join lateral abs(-n) m",
           "select n, w from generate_series(1, 2) n, string_to_table(n || ' x', ' ') w order by n, w",
           "select w from string_to_table('abc', null) w",
           "select string_to_table('a b c', ' '), 1",
           "select w from unnest(string_to_array(',a', ',')) w, regexp_split_to_table(w || ' z', '\\s+')",
           "select n from generate_series(1, 2) n, generate_series(n, 2) n",
           "select 1 from generate_series(1, 2) s(a, b)",
           "select 1 from generate_series(1, count(*)) s",
           "select (string_to_array('a,b,c', ','))[2]",
           "select (string_to_array('a,b,c', ','))[4] is null, (string_to_array('a,b,c', ','))[0] is null",
           "select ('{1,2,3}'::int[])[2] = 2",
           "select array_to_string(array['a', 'b', null], '-'), array_to_string(array['a', null], '-', '?')",
           "select array_upper(array[1, 2, 3], 1), array_lower(array[1], 1), array_length('{}'::text[], 1), "
           "cardinality('{a,b}'::text[])",
           "select array[1, 2]::text, array['a b', 'c\"d', 'null', '', 'e,f', null]::text",
           "select 'b' = any('{a,b}'::text[]), 2 = any(array[1, 2]), 'z' <> all('{a,b}'::text[]), "
           "1 = any('{2,null}'::int[]), 1 <> all('{1,null}'::int[])",
           "select 5 = any('{05}'::int[]), 5 = any('{ 1,+5}'), 5::smallint <> all('{1,05}'::bigint[]), "
           "'05' = any('{5}'::int[]), '05' = any('{5}'::text[]), 5 = any('{5.0}'::numeric[]), "
           "5 = any('{}'::int[]), 5 <> all('{}'::int[])",
           "select 1.50 = any('{1.5,2}'::numeric[]), date '2024-02-01' <> all('{2024-2-1}'::date[]), "
           "true = any('{f,t}'::bool[]), 1.5::float8 = any('{15e-1}'::float8[]), "
           "timestamp '2024-01-01' = any('{2024-01-01}'::timestamp[]), "
           "'00000000-0000-0000-0000-00000000000A'::uuid = "
           "any('{00000000-0000-0000-0000-00000000000a}'::uuid[])",
           "select 5 = any('{5,a}'::int[])",
           "select '{05, null,+7}'::int[]::text, '{ a , \"b c\",NULL}'::text[]::text, '{}'::date[]::text, "
           "'{t,no}'::bool[]::text, '{2024-1-5}'::date[]::text, '{1e3}'::float8[]::text, "
           "'{2024-1-5 7:8}'::timestamp[]::text",
           "select array[1.5, 2]::int[]::text, array['7', null]::int[]::text, array[1, 2]::text[]::text, "
           "('{1,2}'::text || '')::bigint[]::text, (null::text)::int[] is null",
           "select '{1.5}'::int[]::text",
           "select '{1,a}'::int[] is null",
           "select array['a']::int[]::text",
           "select array[true]::date[]::text",
           "select '{1'::int[]::text",
           "select array_to_string(array(select n * n from generate_series(1, 4) n where n <> 2), ',')",
           "select string_agg(n::text, '; ') from generate_series(1, 4) n where n <> 3",
           "select string_agg(n::text, ',') from generate_series(1, 0) n",
           "select string_agg(distinct (n % 2)::text, ',') from generate_series(1, 1) n",
           "select (select 1 where false), (select 'a'), exists (select 1), 1 in (select 2 union all select "
           "1)",
           "select (select max(m) from generate_series(1, n) m) from generate_series(1, 3) n",
           "select n, (select count(*) from generate_series(1, 3) m where m < n) from generate_series(1, 3) "
           "n",
           "select (select x::text), (select date '2024-01-31' + y), (select z::text), (select j::text) from "
           "(values (1.0, interval '1 month', 0::float8, '[1.0]'::jsonb), (1.00, interval '30 days', "
           "'-0'::float8, '[1.00]'::jsonb), (1.0, interval '1 month', 0::float8, '[1.0]'::jsonb), (null, "
           "null, "
           "null, null)) v(x, y, z, j)",
           "select 5 & 3, 5 | 3, (-1)::smallint & 7::smallint, 6::bigint & 3",
           "select quote_ident('a'), quote_ident('A b'), quote_ident('a\"b'), quote_literal('it''s')",
           "select 'abc'::name, 26::oid, '5'::oid",
           "select n from generate_series(1, 3) n order by (select -n)",
           "with t as (select n from generate_series(1, 3) n) select (select sum(n) from t), n from t where "
           "n in "
           "(select n from t where n > 1)",
           "select a.n from generate_series(1, 3) a(n) left join generate_series(2, 4) b(n) on a.n = b.n and "
           "b.n in (select 3) where b.n is not null",
           "select (select m from generate_series(1, 2) m)",
           "select (select 1, 2)",
           "select 1 in (select 1, 2)",
           "select n from generate_series(1, 2) n where count((select 1)) > 0",
           "select (select nope)",
           "select array['a', 1]",
           "select 'x' ~ '('",
           "select 1 limit (select 'a')",
           "select date_part('epoch', '2024-02-29 12:34:56.789012'::timestamp), date_part('epoch', "
           "'4714-11-24 00:00:00 BC'::timestamptz), date_part('epoch', '294276-12-31 "
           "23:59:59.999999'::timestamp), date_part('epoch', '1969-12-31 23:59:59.999999'::timestamptz), "
           "date_part('epoch', '1858-05-21 10:08:04.131017'::timestamp), date_part('epoch', "
           "'2000-01-01'::date), date_part('epoch', 'infinity'::timestamp)",
           "select date_part('second', '2024-02-29 12:34:56.789012'::timestamp), date_part('milliseconds', "
           "'2024-02-29 12:34:04.509038'::timestamp), date_part('milliseconds', '1969-02-28 "
           "12:34:59.999999'::timestamptz), date_part('second', '0044-03-15 23:59:07.000001 BC'::timestamp)",
       }) {
    const Answer theirs = oracle.ask(sql), ours = run(sql);
    if (ours.sqlstate == sqlstate::kFeatureNotSupported) {
      EXPECT_FALSE(theirs.ok()) << sql << "\nours: " << ours.shown();
      continue;
    }
    EXPECT_EQ(ours.sqlstate, theirs.sqlstate) << sql << "\n" << ours.shown() << "\n" << theirs.shown();
    EXPECT_EQ(ours.rows, theirs.rows) << sql << "\n" << ours.shown();
  }
}

TEST(LanguageOracle, WhatAggregatesHoldIsMemoryOfTheQuery) {
  const testing::TestCatalog catalog;
  MemorySource source;
  ExecutionSettings settings;
  settings.memory_bytes_max = 1 << 20;
  for (const std::string aggregate : {"count(distinct n)", "string_agg(n::text, ',')"}) {
    const std::string sql = "select n % 2, " + aggregate + " from generate_series(1, ";
    EXPECT_EQ(testing::run_query(sql + "1000) n group by 1", catalog, source, settings).rows.size(), 2u);
    EXPECT_EQ(testing::run_query(sql + "1000000) n group by 1", catalog, source, settings).sqlstate,
              sqlstate::kOutOfMemory)
        << aggregate;
  }
}

// What is computed, and in which order, shows in who fails.
TEST(LanguageOracle, ExpressionsAreComputedInTheOrderOfPostgres) {
  Oracle oracle;
  int failed = 0;
  for (const std::string sql : {
           // Items of IN without columns are an array: all are computed, before anything is compared.
           "select n in (1, 1 / (select 0)) from generate_series(1, 1) n",
           "select nullif(n, 1) in (2, 1 / (select 0)) from generate_series(1, 1) n",
           "select null::int in (2, 1 / (select 0))",
           "select n not in (1, 7, n, 1 / (select 0)) from generate_series(1, 1) n",
           // Those with columns are compared one by one, and so is one that is alone.
           "select n in (1, 1 / (n - 1)) from generate_series(1, 1) n",
           "select n in (n, 1 / (select 0)) from generate_series(1, 1) n",
           "select nullif(n, 1) in (2, 1 / (n - 1)) from generate_series(1, 1) n",
           "select null::int in (2, 1 / (n - 1)) from generate_series(1, 1) n",
           // Not of one type: one by one, as they stand.
           "select n::text in ('1', '2'::date::text, 'x') from generate_series(1, 1) n",
           "select date '2020-01-01' in (timestamp '2020-01-01', (select timestamp '2021-01-01'))",
           "select date '5874897-12-31' not in ((select timestamp '2020-01-01'), timestamp '2021-01-01')",
           // A NULL of the statement decides before rows are seen.
           "select nullif(least(null::int, null), n / (n - 1)) from generate_series(1, 1) n",
           "select n / (n - 1) = 1 or null::int is not distinct from null from generate_series(1, 1) n",
           "select (n / (n - 1)) + nullif(1, 1) from generate_series(1, 1) n",
           // interval + date is date + interval.
           "select ((n - 1) || 'x')::interval + ('y' || n)::date from generate_series(1, 1) n",
           "select (n || 'x')::int + (date '2020-01-01' + n / (n - 1)) from generate_series(1, 1) n",
           // The first bound of BETWEEN is looked at before the second is.
           "select n between true and nowhere from generate_series(1, 1) n",
       }) {
    const Answer theirs = oracle.ask(sql), ours = run(sql);
    EXPECT_EQ(ours.sqlstate, theirs.sqlstate) << sql << "\n" << ours.shown() << "\n" << theirs.shown();
    EXPECT_EQ(ours.rows, theirs.rows) << sql << "\n" << ours.shown();
    failed += theirs.ok() ? 0 : 1;
  }
  EXPECT_EQ(failed, 9);
}

TEST(LanguageOracle, LongListsOfArgumentsAnswerAsPostgresDoes) {
  Oracle oracle;
  std::string numbers = "70001";
  for (int i = 0; i < 70'000; ++i) numbers += ", " + std::to_string(i % 7);
  for (const std::string& sql :
       {"select greatest(" + numbers + "), least(" + numbers + "), 70001 in (" + numbers + ")",
        "select concat(" + numbers + ")", "select coalesce(" + numbers + ")"}) {
    const Answer theirs = oracle.ask(sql), ours = run(sql);
    EXPECT_EQ(ours.sqlstate, theirs.sqlstate) << sql.substr(0, 40) << ours.message << theirs.message;
    EXPECT_EQ(ours.rows, theirs.rows) << sql.substr(0, 40);
  }
}

// A pattern of pieces that mostly fit.
std::string random_pattern(RandomValues& random, int depth) {
  static const std::vector<std::string> kPieces{"a",      "b", "ab",  ".",    "[ab]", "[^a]",
                                                "^",      "$", "\\d", "\\w",  "\\s",  "[[:alpha:]]",
                                                "[a-c1]", "é", "\\.", "[]a]", "\\D"};
  std::string out;
  for (uint64_t i = random.below(4) + 1; i > 0; --i) {
    if (depth > 0 && random.chance(25)) {
      out += (random.chance(20) ? "(?:" : "(") + random_pattern(random, depth - 1) + ")";
    } else {
      out += random.pick(kPieces);
    }
    if (random.chance(30)) {
      out += random.pick(std::vector<std::string>{"*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "{2,1}"});
    }
    if (random.chance(12)) out += "|";
  }
  return out;
}

TEST(LanguageOracle, RegularExpressionsMatchAsPostgresDoes) {
  const testing::OracleRun given = testing::oracle_run(3000, 7);
  Oracle oracle;
  RandomValues random(given.seed);
  const std::vector<std::string> kTexts{"",  "a", "b",    "ab",  "ba",  "aab", "abc1",
                                        "A", "é", "a\nb", "a.b", "1 a", "]",   "aaa"};
  int matched = 0, invalid = 0;
  for (int round = 0; round < given.rounds; ++round) {
    const std::string text = random.pick(kTexts), pattern = random_pattern(random, 2);
    const std::string op = random.pick(std::vector<std::string>{"~", "!~", "~*", "!~*"});
    const std::string sql = "select " + quote(text) + " " + op + " " + quote(pattern);
    const Answer theirs = oracle.ask(sql), ours = run(sql);
    ASSERT_EQ(ours.sqlstate, theirs.sqlstate) << sql << "\n" << ours.shown() << "\n" << theirs.shown();
    ASSERT_EQ(ours.rows, theirs.rows) << sql;
    invalid += theirs.ok() ? 0 : 1;
    matched += theirs.ok() && theirs.rows[0][0] == "t" ? 1 : 0;
  }
  std::printf("%d matched, %d invalid\n", matched, invalid);
  EXPECT_GT(matched, given.rounds / 5);
}

TEST(Texts, ManyWildcardsAndLongResultsAreNoCrash) {
  const Answer like = run("select repeat('a', 1000000) like repeat('%a', 1000000)");
  ASSERT_TRUE(like.ok()) << like.message;
  EXPECT_EQ(like.rows, (std::vector<std::vector<std::string>>{{"t"}}));
  for (const std::string sql : {
           "select array_to_string(string_to_array(repeat(',', 1000000), ','), repeat('x', 1000000))",
           "select concat(repeat('x', 9000000), repeat('x', 9000000))",
           "select concat_ws(repeat('x', 9000000), 'a', 'b', 'c')",
           "select array[repeat('x', 9000000), repeat('x', 9000000)]",
       }) {
    EXPECT_EQ(run(sql).sqlstate, "54000") << sql;
  }
}

TEST(Regex, TimeStaysInProportionToPatternAndText) {
  const auto regex = Regex::compile("(a*)*(a*)*b", RegexCase::Matters);
  ASSERT_TRUE(regex.ok());
  EXPECT_FALSE(regex->matches(std::string(10000, 'a')));
  EXPECT_FALSE(Regex::compile("((a{200}){200}){200}", RegexCase::Matters).ok());
  EXPECT_FALSE(Regex::compile(std::string(1000, '('), RegexCase::Matters).ok());
}

TEST(ArrayText, ElementsComeBack) {
  const std::vector<std::vector<ArrayElement>> arrays{
      {}, {"a"}, {"a", std::nullopt, ""}, {"NULL", "null", "a,b", "{x}", "q\"q", "b\\s", " pad "}};
  for (const std::vector<ArrayElement>& array : arrays) {
    EXPECT_EQ(parse_array(format_array(array)), array) << format_array(array);
  }
  for (const char* text : {"{", "{a", "{a}x", "{a,}", "{\"a}", "a", "{{a}}", "1 b", "{a\\"}) {
    EXPECT_FALSE(parse_array(text).has_value()) << text;
  }
  EXPECT_EQ(parse_array("1 22")->size(), 2u);
}

}  // namespace
}  // namespace tidemark::sql
