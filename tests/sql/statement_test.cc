#include "sql/bind/statement.h"

#include <gtest/gtest.h>

#include "sql/parse/limits.h"
#include "sql/types/text_format.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql {
namespace {

class Statements : public ::testing::Test {
 protected:
  void SetUp() override {
    catalog_.create(
        "create table orders (region text, id bigint, item text default 'none', price numeric(10,2) not "
        "null, "
        "at timestamptz, primary key (region, id)) with (distribute_by = 'region', cluster_by = 'id desc')");
    catalog_.create("create table seen (id int primary key)", SchemaKind::View);
  }

  Result<BoundStatement, SqlError> bind(const std::string& sql) {
    const auto parsed = parse_statements(sql);
    if (!parsed.ok()) return parsed.error();
    params_ = {};
    return bind_statement((*parsed)[0], sql, catalog_, params_);
  }
  // The SQLSTATE, position and hint of a refusal; "ok" otherwise.
  std::string refusal(const std::string& sql) {
    const auto bound = bind(sql);
    return bound.ok() ? "ok" : bound.error().state + "@" + std::to_string(bound.error().position);
  }
  template <typename T>
  T as(const std::string& sql) {
    auto bound = bind(sql);
    EXPECT_TRUE(bound.ok()) << (bound.ok() ? "" : bound.error().message);
    return std::move(std::get<T>(bound->body));
  }
  std::string plan(const std::string& sql) { return describe(*as<SelectStatement>(sql).query); }

  testing::TestCatalog catalog_;
  ParamTypes params_;
};

TEST_F(Statements, TableHasItsKeyOrderAndDefaults) {
  const TableSchemaPtr table = catalog_.find_table("", "orders");
  EXPECT_EQ(table->distribution, std::vector<int>{0});
  ASSERT_EQ(table->clustering.size(), 1u);
  EXPECT_EQ(table->clustering[0].column, 1);
  EXPECT_EQ(table->clustering[0].order, SortOrder::Descending);
  EXPECT_EQ(table->columns[2].default_sql, "'none'");
  EXPECT_TRUE(table->columns[0].not_null);
  EXPECT_EQ(type_name(table->columns[3].type), "numeric(10,2)");
}

TEST_F(Statements, FirstKeyColumnDistributesUnlessSaidOtherwise) {
  const auto table =
      as<CreateTableStatement>("create table t (a int, b int, c int, primary key (b, a))").table;
  EXPECT_EQ(table.distribution, std::vector<int>{1});
  EXPECT_EQ(table.key_columns(), (std::vector<int>{1, 0}));
}

TEST_F(Statements, TableDefinitionsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(refusal("create table t (a int)"), "42P16@14");
  EXPECT_EQ(refusal("create table t (a int primary key, a text)"), "42701@36");
  EXPECT_EQ(refusal("create table t (a int, primary key (b))"), "42703@14");
  EXPECT_EQ(refusal("create table orders (a int primary key)"), "42P07@14");
  EXPECT_EQ(refusal("create table t (a int[] primary key)"), "0A000@19");
  EXPECT_EQ(refusal("create table t (a char(3) primary key)"), "0A000@19");
  EXPECT_EQ(refusal("create table t (a int primary key) with (distribute_by = 'x')"), "42P16@14");
  EXPECT_EQ(refusal("create table t (a int primary key, b int unique)"), "0A000@42");
}

TEST_F(Statements, ViewKeepsItsQueryOptionsAndSources) {
  const auto view = as<CreateViewStatement>(
      "create or replace materialized view v with (distribute_by = 'item', cluster_by = 'n desc') as\n"
      "select item, count(*) as n, sum(price) as total from orders group by item");
  EXPECT_TRUE(view.or_replace);
  EXPECT_EQ(view.distribute_by, std::vector<int>{0});
  EXPECT_EQ(view.cluster_by[0].column, 1);
  EXPECT_EQ(view.query_sql, "select item, count(*) as n, sum(price) as total from orders group by item");
  ASSERT_EQ(view.sources.size(), 1u);
  EXPECT_EQ(view.sources[0]->name, "orders");
  EXPECT_EQ(view.query->columns[2].type.kind, TypeKind::Numeric);
}

TEST_F(Statements, AlterPacesAView) {
  EXPECT_EQ(as<CreateViewStatement>("create materialized view v with (backfill_rows_per_second = 7) as "
                                    "select id from orders")
                .backfill_rows_per_second,
            RowsPerSecond{7});
  const auto paced =
      as<AlterViewStatement>("alter materialized view seen set (backfill_rows_per_second = 0)");
  EXPECT_EQ(paced.view->name, "seen");
  EXPECT_EQ(paced.backfill_rows_per_second, RowsPerSecond{0});
  EXPECT_EQ(as<AlterViewStatement>("alter materialized view seen reset (backfill_rows_per_second)")
                .backfill_rows_per_second,
            std::nullopt);
  EXPECT_EQ(
      as<AlterViewStatement>("alter materialized view if exists nope reset (backfill_rows_per_second)").view,
      nullptr);
  EXPECT_EQ(refusal("alter materialized view seen set (backfill_rows_per_second = -1)"), "22023@35");
  EXPECT_EQ(refusal("alter materialized view seen set (backfill_rows_per_second)"), "22023@35");
  EXPECT_EQ(refusal("alter materialized view seen set (nope = 1)"), "22023@35");
  EXPECT_EQ(refusal("alter materialized view orders reset (backfill_rows_per_second)"), "42809@25");
  EXPECT_EQ(refusal("alter materialized view nope reset (backfill_rows_per_second)"), "42P01@25");
  EXPECT_EQ(refusal("alter materialized view seen set (backfill_rows_per_second = 1), cluster on x"),
            "0A000@25");
  EXPECT_EQ(refusal("alter table orders add column x int"), "0A000@1");
}

TEST_F(Statements, ViewsRefuseWhatIsNotOfTheRow) {
  EXPECT_EQ(refusal("create materialized view v as select id from orders where at > now()"), "0A000@26");
  EXPECT_EQ(refusal("create materialized view v as select id, random() as r from orders"), "0A000@26");
  EXPECT_EQ(refusal("create materialized view v as select id, id from orders"), "42701@26");
  EXPECT_EQ(refusal("create materialized view v as select at - at as gap from orders"), "0A000@26");
}

TEST_F(Statements, InsertFillsDefaultsAndCastsToColumns) {
  const auto insert = as<InsertStatement>(
      "insert into orders (id, region, price) values (1, 'eu', 2), (default, $1, '3.999')");
  ASSERT_EQ(insert.source->rows.size(), 2u);
  EXPECT_EQ(to_text(insert.source->rows[0][2]->constant.get()), "none");
  EXPECT_EQ(to_text(insert.source->rows[0][3]->constant.get()), "2.00");
  EXPECT_EQ(to_text(insert.source->rows[1][3]->constant.get()), "4.00");
  ASSERT_EQ(params_.types.size(), 1u);
  EXPECT_EQ(params_.types[0].kind, TypeKind::Text);
  EXPECT_EQ(refusal("insert into orders (id) values (1, 2)"), "42601@0");
  EXPECT_EQ(refusal("insert into orders (nope) values (1)"), "42703@21");
  EXPECT_EQ(refusal("insert into orders (id) values ('x')"), "22P02@33");
  EXPECT_EQ(refusal("insert into orders (id) values (true)"), "42804@33");
  EXPECT_EQ(refusal("insert into seen values (1)"), "42809@13");
  EXPECT_EQ(refusal("insert into nope values (1)"), "42P01@13");
}

TEST_F(Statements, ConflictIsOnTheKeyAndSeesBothRows) {
  const auto insert = as<InsertStatement>(
      "insert into orders (region, id, price) values ('eu', 1, 2) on conflict (id, region) do update "
      "set price = orders.price + excluded.price where excluded.price > 0");
  ASSERT_EQ(insert.conflict_set.size(), 1u);
  EXPECT_EQ(insert.conflict_set[0].column, 3);
  std::vector<int> columns;
  for_each_column(std::as_const(*insert.conflict_set[0].value), [&](int index) { columns.push_back(index); });
  EXPECT_EQ(columns, (std::vector<int>{3, 8}));
  EXPECT_EQ(
      refusal("insert into orders (region, id, price) values ('eu', 1, 2) on conflict (item) do nothing"),
      "42P10@13");
  EXPECT_EQ(refusal("insert into orders (region, id, price) values ('eu', 1, 2) on conflict (region, id) do "
                    "update set id = 3"),
            "0A000@99");
}

TEST_F(Statements, WritesByKeyNeedTheWholeKey) {
  const auto update = as<UpdateStatement>(
      "update orders set price = price + 1 where id = $1 and region = 'eu' and item is null");
  ASSERT_EQ(update.key.size(), 2u);
  EXPECT_EQ(to_text(update.key[0]->constant.get()), "eu");
  EXPECT_EQ(params_.types[0].kind, TypeKind::BigInt);
  EXPECT_EQ(refusal("update orders set price = 1 where region = 'eu'"), "0A000@8");
  EXPECT_EQ(refusal("update orders set price = 1 where region = 'eu' or id = 1"), "0A000@8");
  EXPECT_EQ(refusal("delete from orders"), "0A000@13");
  EXPECT_EQ(as<DeleteStatement>("delete from orders where region = 'a' and 7 = id").key.size(), 2u);
}

TEST_F(Statements, ReadsFindTheKeyInConditions) {
  EXPECT_EQ(plan("select item from orders where id = 5 and region = 'eu'"),
            "Project: item\n"
            "  Filter: ((id = 5) AND (region = 'eu'))\n"
            "    Read by key orders: region = 'eu', id = 5\n");
  EXPECT_EQ(plan("select s.item from (select * from orders) s join seen on seen.id = 3 and s.region = 'eu'"),
            "Project: item\n"
            "  Join\n"
            "    Project: region, id, item, price, at\n"
            "      Filter: (region = 'eu')\n"
            "        Read by key orders: region = 'eu'\n"
            "    Filter: (id = 3)\n"
            "      Read by key seen: id = 3\n");
}

TEST_F(Statements, TopOfEachGroupIsFoundInRowNumbers) {
  const std::string text = plan(
      "select id from (select id, row_number() over (partition by region order by price desc) as n from "
      "orders) s where n <= 3");
  EXPECT_NE(text.find("First 3 of each region by price DESC"), std::string::npos) << text;
}

TEST_F(Statements, RefusalsSayWhereAndWhatToWrite) {
  const auto bound = bind("select * from orders a right join seen b on true");
  ASSERT_FALSE(bound.ok());
  EXPECT_FALSE(bound.error().hint.empty());
  EXPECT_EQ(refusal("select 1 limit (select 1)"), "0A000@16");
  EXPECT_EQ(refusal("select price from orders group by region"), "42803@8");
  EXPECT_EQ(refusal("select nope from orders"), "42703@8");
  EXPECT_EQ(refusal("select * from a.b"), "42P01@15");
  EXPECT_EQ(refusal("selec 1"), "42601@1");
  EXPECT_EQ(refusal("truncate orders"), "0A000@1");
  EXPECT_EQ(refusal("select 1 + 'x'"), "22P02@12");
}

TEST_F(Statements, SessionStatementsPass) {
  for (const char* sql :
       {"begin", "begin read only", "commit", "rollback", "set application_name = 'x'", "show all",
        "reset all", "discard all", "deallocate all", "explain select 1",
        "explain (analyze, format json) select 1", "copy orders from stdin with (format csv, header)"}) {
    EXPECT_EQ(refusal(sql), "ok") << sql;
  }
}

// Each would be as deep as it is long, in the parser and in everything after it.
TEST_F(Statements, DeepAndHugeStatementsAreRefusedNotACrash) {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  for (int times : {1000, 30000}) {
    for (const std::string& sql :
         {"select " + repeated("(", times) + "1" + repeated(")", times),
          "select " + repeated("- ", times) + "1", "select " + repeated("not ", times) + "true",
          "select 1" + repeated(" + 1", times), "select E'a'\n'\\'', 1" + repeated(" + 1", times),
          "select 1" + repeated("::int", times),
          "select " + repeated("case when true then ", times) + "1" + repeated(" end", times),
          "select 1" + repeated(" union all select 1", times),
          "select * from " + repeated("(select * from ", times) + "seen" + repeated(") x", times),
          "select true" + repeated(" is true", times),
          "select 1 from seen" + repeated(" cross join seen", times),
          "select '1'" + repeated(" || 'a'", times)}) {
      const auto parsed = parse_statements(sql);
      ASSERT_FALSE(parsed.ok() && times == 30000) << sql.substr(0, 60);
      if (!parsed.ok()) {
        EXPECT_TRUE(parsed.error().state == "54001" || parsed.error().state == "54000")
            << parsed.error().message << sql.substr(0, 60);
        continue;
      }
      ParamTypes params;
      (void)bind_statement((*parsed)[0], sql, catalog_, params).ok();
    }
  }
  EXPECT_EQ(parse_statements("select '" + repeated("x", kStatementBytesMax) + "'").error().state, "54000");
  // What is long but flat is fine.
  EXPECT_TRUE(parse_statements("insert into t values (1)" + repeated(", (1)", 20000)).ok());
  EXPECT_TRUE(parse_statements("select 1 where a = 1" + repeated(" and b = 2", 5000)).ok());
  EXPECT_TRUE(parse_statements("select 1 where a in (1" + repeated(", 2", 20000) + ")").ok());
}

// Where the grammar's tree does not say it.
TEST_F(Statements, WhatIsNotSupportedIsRefusedWithItsPlaceAndAWayOut) {
  struct Case {
    std::string sql, at;
  };
  for (const Case& one : std::vector<Case>{
           {"select 1; alter table orders add column x integer", "alter"},
           {"create index i on orders (id)", "create"},
           {"  /* now */ truncate orders", "truncate"},
           {"select id from orders for update", "for update"},
           {"select 'FULL', * from orders a full join orders b on a.id = b.id", "full join"},
           {"select * from orders natural join orders b", "natural"},
           {"select 1 except select 2", "except"},
           {"select 1 intersect select 2", "intersect"},
           {"savepoint s", "savepoint"},
           {"copy orders to stdout", "copy"},
           {"create view v as select 1", "create"},
           {"refresh materialized view v", "refresh"},
           {"create table t (a integer primary key, check (a > 0))", "check"},
           {"create table t (a integer primary key references orders)", "references"},
       }) {
    const auto parsed = parse_statements(one.sql);
    ASSERT_FALSE(parsed.ok()) << one.sql;
    EXPECT_EQ(parsed.error().state, sqlstate::kFeatureNotSupported) << one.sql;
    EXPECT_EQ(parsed.error().position, static_cast<int>(one.sql.find(one.at)) + 1) << one.sql;
    EXPECT_NE(parsed.error().hint, "") << one.sql;
  }
}

// Computed when it is bound, each would be 16 MB, and the statement 8 GB.
TEST_F(Statements, LargeConstantsAreNotComputedBeforehand) {
  std::string sql = "select repeat('x', 16000000)";
  for (int i = 0; i < 500; ++i) sql += ", repeat('x', 16000000)";
  const auto parsed = parse_statements(sql);
  ASSERT_TRUE(parsed.ok());
  ParamTypes params;
  const auto bound = bind_statement((*parsed)[0], sql, catalog_, params);
  ASSERT_TRUE(bound.ok());
  for (const ExpressionPtr& expression : std::get<SelectStatement>(bound->body).query->expressions) {
    EXPECT_EQ(expression->kind, ExpressionKind::Call);
  }
}

// Repeated operands are computed once, so that the tree does not double with each level.
TEST_F(Statements, NestedCaseAndBetweenStaySmall) {
  std::string sql = "id";
  for (int i = 0; i < 60; ++i) sql = "case " + sql + " when 1 then 2 when 3 then 4 else 5 end";
  EXPECT_EQ(refusal("select " + sql + " from orders"), "ok");
  sql = "id";
  for (int i = 0; i < 60; ++i)
    sql = "(case when " + sql + " + 1 between symmetric 1 and 9 then 1 else 2 end)";
  EXPECT_EQ(refusal("select " + sql + " from orders"), "ok");
}

}  // namespace
}  // namespace tidemark::sql
