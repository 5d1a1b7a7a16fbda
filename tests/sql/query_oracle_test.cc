// Random queries over random tables: the same rows as PostgreSQL, or the same refusal.
#include <gtest/gtest.h>

#include <algorithm>

#include "sql/execute/memory_source.h"
#include "sql/types/text_format.h"
#include "tests/sql/agreement.h"
#include "tests/sql/oracle.h"
#include "tests/sql/random_expressions.h"
#include "tests/sql/run_query.h"

namespace tidemark::sql {
namespace {

using testing::agree;
using testing::Answer;
using testing::Oracle;
using testing::Planning;
using testing::quote;
using testing::RandomExpressions;
using testing::RandomValues;
using testing::RowOrder;
using testing::run_query;
using testing::with_literals;

// one(k1, i1, a_...) and two(k2, i2, b_...), keyed by their first two columns.
class Tables : public Catalog {
 public:
  Tables() {
    tables_.push_back(make(1, "one", "k1", "i1", "a_"));
    tables_.push_back(make(2, "two", "k2", "i2", "b_"));
  }
  TableSchemaPtr find_table(std::string_view schema, std::string_view name) const override {
    for (const TableSchemaPtr& table : tables_) {
      if (table->name == name && (schema.empty() || schema == "public")) return table;
    }
    return nullptr;
  }
  const std::vector<TableSchemaPtr>& all() const { return tables_; }

 private:
  static TableSchemaPtr make(uint32_t id, const char* name, const char* key, const char* number,
                             const char* prefix) {
    TableSchema out;
    out.id = TableId{id};
    out.name = name;
    out.columns.push_back({key, SqlType::of(TypeKind::Integer), true});
    out.columns.push_back({number, SqlType::of(TypeKind::Integer), true});
    for (const auto& column : testing::random_columns()) {
      if (column.name.starts_with(prefix)) out.columns.push_back({column.name, SqlType::of(column.kind)});
    }
    out.distribution = {0};
    out.clustering = {{1}};
    return std::make_shared<TableSchema>(out);
  }
  std::vector<TableSchemaPtr> tables_;
};

// Gives rows one by one, and often says "not yet".
class HesitantSource : public RowSource {
 public:
  HesitantSource(MemorySource& source, RandomValues& random) : source_(source), random_(random) {}

  Result<std::unique_ptr<RowCursor>, SqlError> open(const ScanRequest& request) override {
    TM_SQL_ASSIGN(std::unique_ptr<RowCursor> cursor, source_.open(request));
    return std::unique_ptr<RowCursor>(std::make_unique<Cursor>(std::move(cursor), random_));
  }

 private:
  class Cursor : public RowCursor {
   public:
    Cursor(std::unique_ptr<RowCursor> cursor, RandomValues& random)
        : cursor_(std::move(cursor)), random_(random) {}
    PullResult next(Batch& out) override {
      if (random_.chance(40)) {
        out.reset(0);
        return Pull::Pending;
      }
      if (at_ == batch_.row_count()) {
        TM_SQL_ASSIGN(const Pull pull, cursor_->next(batch_));
        at_ = 0;
        out.reset(batch_.width());
        if (pull != Pull::Rows) return pull;
      }
      out.reset(batch_.width());
      if (at_ < batch_.row_count()) std::copy_n(batch_.row(at_++), batch_.width(), out.add_row());
      return Pull::Rows;
    }

   private:
    std::unique_ptr<RowCursor> cursor_;
    RandomValues& random_;
    Batch batch_;
    size_t at_ = 0;
  };
  MemorySource& source_;
  RandomValues& random_;
};

struct RandomQuery {
  std::string sql;
  bool ordered = false;
};

class RandomQueries {
 public:
  explicit RandomQueries(RandomValues& random) : random_(random), expressions_(random) {}

  RandomQuery next() {
    switch (random_.below(10)) {
      case 8:
      case 9: return finish(with_queries());
      case 0:
      case 1: return finish(plain());
      case 2: return finish(grouped());
      case 3: return finish(grouped());
      case 4: return finish({"select " + distinct_list() + from(), 2});
      case 5: return union_of();
      case 6: return finish(nested());
      default: return numbered();
    }
  }

 private:
  struct Core {
    std::string sql;
    int width;
  };

  std::string expression(TypeKind kind) {
    const std::string sql = expressions_.of(kind, static_cast<int>(random_.below(3)));
    std::string plain = with_literals(sql, [](const std::string& text) { return text; });
    const char unwanted = tables_ == 1 ? 'b' : tables_ == 2 ? 'a' : '\0';
    for (size_t at = 0; unwanted != '\0' && at + 1 < plain.size(); ++at) {
      const bool starts =
          at == 0 || (!std::isalnum(static_cast<unsigned char>(plain[at - 1])) && plain[at - 1] != '\'');
      if (starts && plain[at] == unwanted && plain[at + 1] == '_') plain[at] = unwanted == 'a' ? 'b' : 'a';
    }
    return plain;
  }
  std::string any() { return expression(random_.pick(testing::column_kinds())); }
  TypeKind key_kind() {
    return random_.pick(std::vector<TypeKind>{TypeKind::Boolean, TypeKind::SmallInt, TypeKind::Integer,
                                              TypeKind::BigInt, TypeKind::Numeric, TypeKind::Text,
                                              TypeKind::Date, TypeKind::Timestamp, TypeKind::Uuid,
                                              TypeKind::Double, TypeKind::Bytea});
  }

  std::string from() {
    std::string out;
    switch (random_.below(7)) {
      case 0:
      case 1:
        tables_ = 1;
        out = " from one";
        break;
      case 2:
        tables_ = 2;
        out = " from two x";
        break;
      case 3:
        tables_ = 3;
        out = " from one join two on k1 = k2" +
              (random_.chance(40) ? " and " + expression(TypeKind::Boolean) : "");
        break;
      case 4:
        tables_ = 3;
        out = " from one left join two on k1 = k2" +
              (random_.chance(60) ? " and " + expression(TypeKind::Boolean) : "");
        break;
      case 5:
        tables_ = 3;
        out = " from one, two";
        break;
      default:
        tables_ = 3;
        out = " from one left join two on " + expression(TypeKind::Boolean);
        break;
    }
    if (random_.chance(40)) out += " where " + expression(TypeKind::Boolean);
    if (random_.chance(15) && tables_ != 2) {
      out += (out.find(" where ") == std::string::npos ? " where k1 = " : " and k1 = ") +
             std::to_string(random_.below(4));
    }
    return out;
  }

  Core plain() {
    const std::string tail = from();
    std::string list;
    const int width = static_cast<int>(random_.below(3)) + 1;
    for (int i = 0; i < width; ++i) list += (i > 0 ? ", " : "") + any();
    return {"select " + list + tail, width};
  }

  std::string distinct_list() {
    tables_ = 1;
    const std::string first = expression(key_kind()), second = expression(key_kind());
    return "distinct " + first + ", " + second;
  }

  std::string aggregate() {
    const std::string distinct = random_.chance(25) ? "distinct " : "";
    std::string out;
    switch (random_.below(7)) {
      case 0: out = "count(*)"; break;
      case 1: out = "count(" + distinct + expression(key_kind()) + ")"; break;
      case 2: out = "sum(" + distinct + expression(random_.pick(numbers())) + ")"; break;
      case 3: out = "avg(" + distinct + expression(random_.pick(numbers())) + ")"; break;
      case 4: out = "min(" + expression(key_kind()) + ")"; break;
      case 5: out = "max(" + expression(key_kind()) + ")"; break;
      default:
        out = (random_.chance(50) ? "bool_and(" : "bool_or(") + expression(TypeKind::Boolean) + ")";
        break;
    }
    return random_.chance(25) ? out + " filter (where " + expression(TypeKind::Boolean) + ")" : out;
  }
  static std::vector<TypeKind> numbers() {
    return {TypeKind::SmallInt, TypeKind::Integer, TypeKind::BigInt, TypeKind::Numeric};
  }

  Core grouped() {
    const std::string tail = from();
    std::string list, groups;
    int width = 0;
    for (uint64_t i = random_.below(3); i > 0; --i) {
      const std::string group = expression(key_kind());
      groups += (groups.empty() ? "" : ", ") + (random_.chance(30) ? std::to_string(width + 1) : group);
      list += (list.empty() ? "" : ", ") + group;
      ++width;
    }
    for (uint64_t i = random_.below(2) + 1; i > 0; --i) {
      list += (list.empty() ? "" : ", ") + aggregate();
      ++width;
    }
    if (random_.chance(4)) {
      list += ", " + any();  // Mostly not grouped: to be refused.
      ++width;
    }
    std::string sql = "select " + list + tail;
    if (!groups.empty()) sql += " group by " + groups;
    if (random_.chance(20)) sql += " having " + aggregate() + " is not null";
    return {sql, width};
  }

  RandomQuery union_of() {
    std::string sql;
    const TypeKind kind = key_kind();
    const bool all = random_.chance(70);
    for (int i = 0; i < 2; ++i) {
      const std::string tail = from();
      const std::string second = random_.chance(20)   ? "'7'"
                                 : random_.chance(10) ? "null"
                                                      : expression(TypeKind::Integer);
      sql += (i > 0 ? (all ? " union all " : " union ") : "") + std::string("select ") + expression(kind) +
             " as x, " + second + " as y" + tail;
    }
    if (random_.chance(40)) return {sql + " order by x, y desc nulls last", true};
    return {sql, false};
  }

  Core nested() {
    const std::string tail = from();
    const std::string inner = "select " + expression(TypeKind::Integer) + " as p, " +
                              expression(TypeKind::Text) + " as q, " + expression(key_kind()) + " as r" +
                              tail;
    const std::string outer = random_.pick(std::vector<std::string>{
        "select p, q from s where p > 0 or q is null", "select q, count(*) from s group by q",
        "select s.p, z.q from s join s z on s.p = z.p", "select max(p), min(q), count(distinct r) from s",
        "select p + 1, upper(q) from s where p between 0 and 5", "select r, p from s where p = 1"});
    if (random_.chance(50))
      return {"with s as (" + inner + ") " + outer, outer.starts_with("select max") ? 3 : 2};
    std::string sql = outer;
    const size_t at = sql.find("from s");
    sql.replace(at, 6, "from (" + inner + ") s");
    if (const size_t again = sql.find("join s z"); again != std::string::npos)
      sql.replace(again, 8, "join (" + inner + ") z");
    return {sql, outer.starts_with("select max") ? 3 : 2};
  }

  // Of rows of two, for each row of one: what it says of one's columns is about that row.
  std::string inner_where() {
    tables_ = 3;
    std::string out = random_.chance(70) ? " where k2 = k1" : " where true";
    if (random_.chance(40)) out += " and " + expression(TypeKind::Boolean);
    return out;
  }
  std::string scalar_query() {
    const std::string where = inner_where();
    switch (random_.below(4)) {
      case 0: return "(select count(*) from two" + where + ")";
      case 1: return "(select sum(i2) from two" + where + ")";
      case 2: return "(select i2 from two" + where + ")";  // Of several rows it fails.
      default:
        return "(select " + expression(key_kind()) + " from two" + where + " order by i2" +
               (random_.chance(50) ? " desc" : "") + " limit 1)";
    }
  }
  std::string boolean_query() {
    const std::string where = inner_where();
    if (random_.chance(30)) return "exists (select " + any() + " from two" + where + ")";
    const TypeKind kind = key_kind();
    const std::string items = "(select " + expression(kind) + " from two" + where + ")";
    tables_ = 1;
    const std::string op = random_.pick(
        std::vector<std::string>{"in", "not in", "= any", "<> all", "> all", "<= any", "<> any", "< all"});
    return "(" + expression(kind) + ") " + op + " " + items;
  }
  Core with_queries() {
    switch (random_.below(5)) {
      case 0: return {"select k1, " + scalar_query() + ", " + scalar_query() + " from one", 3};
      case 1: return {"select k1, i1 from one where " + boolean_query(), 2};
      case 2:
        return {"select k1, " + boolean_query() + " from one where " + boolean_query() + " or " +
                    scalar_query() + " is null",
                2};
      case 3: {
        const std::string having =
            random_.chance(50) ? " having exists (select 1 from two where k2 = k1)" : "";
        return {
            "select k1, count(*), (select count(*) from two where k2 = k1 + 1) from one "
            "group by k1" +
                having,
            3};
      }
      default:
        return {
            "select k1, (select count(*) from two where k2 = k1 and exists "
            "(select 1 from one o where o.k1 = two.k2 and o.i1 > one.i1)) from one",
            2};
    }
  }

  RandomQuery numbered() {
    tables_ = 1;
    const std::string group = expression(key_kind()), key = expression(key_kind());
    const std::string order = key + (random_.chance(50) ? " desc" : "") + ", k1, i1";
    if (random_.chance(40))
      return {"select distinct on (" + group + ") k1, i1 from one order by " + group + ", " + order, false};
    const std::string limit = random_.pick(std::vector<std::string>{"<= 2", "= 1", "< 3", "> 1"});
    return {"select k1, i1, n from (select k1, i1, row_number() over (partition by " + group + " order by " +
                order + ") as n from one) s where n " + limit,
            false};
  }

  RandomQuery finish(const Core& core) {
    if (random_.chance(60)) return {core.sql, false};
    std::vector<int> columns;
    for (int i = 1; i <= core.width; ++i) columns.push_back(i);
    std::shuffle(columns.begin(), columns.end(), random_.engine());
    std::string sql = core.sql + " order by ";
    for (size_t i = 0; i < columns.size(); ++i) {
      sql += (i > 0 ? ", " : "") + std::to_string(columns[i]) +
             random_.pick(std::vector<std::string>{"", " desc", " nulls first", " desc nulls last"});
    }
    if (random_.chance(40)) sql += " limit " + std::to_string(random_.below(6));
    if (random_.chance(20)) sql += " offset " + std::to_string(random_.below(4));
    return {sql, true};
  }

  RandomValues& random_;
  RandomExpressions expressions_;
  int tables_ = 1;
};

class World {
 public:
  explicit World(Oracle& oracle) : oracle_(oracle) {
    for (const TableSchemaPtr& table : tables.all()) {
      std::string columns;
      for (const SchemaColumn& column : table->columns)
        columns += (columns.empty() ? "" : ", ") + column.name + " " + type_name(column.type);
      oracle_.run("CREATE TABLE " + table->name + " (" + columns + ")");
    }
  }

  void fill(RandomValues& random) {
    setup = "";
    for (const TableSchemaPtr& table : tables.all()) {
      oracle_.run("TRUNCATE " + table->name);
      MemoryTable& rows = source.add_table(*table);
      const uint64_t count = random.chance(15) ? 0 : random.below(10);
      for (uint64_t i = 0; i < count; ++i) {
        Arena arena;
        std::vector<Value> row{Value::integer(static_cast<int32_t>(random.below(4))),
                               Value::integer(static_cast<int32_t>(i))};
        for (size_t c = 2; c < table->columns.size(); ++c) {
          row.push_back(random.chance(20) ? Value::null() : random.value(table->columns[c].type.kind, arena));
        }
        rows.add(row);
        std::string values;
        for (size_t c = 0; c < row.size(); ++c) {
          values += (c > 0 ? ", " : "") + (row[c].is_null() ? "null" : quote(to_text(row[c])));
        }
        oracle_.run("INSERT INTO " + table->name + " VALUES (" + values + ")");
        setup += "INSERT INTO " + table->name + " VALUES (" + values + "); ";
      }
    }
  }

  Tables tables;
  MemorySource source;
  std::string setup;

 private:
  Oracle& oracle_;
};

TEST(QueryOracle, AnswersAsPostgresDoes) {
  const testing::OracleRun run = testing::oracle_run(2500, 1);
  Oracle oracle;
  World world(oracle);
  RandomValues random(run.seed);
  RandomQueries queries(random);
  HesitantSource source(world.source, random);
  int answered = 0, with_rows = 0, refusals = 0, failures = 0;
  for (int round = 0; round < run.rounds; ++round) {
    if (round % 25 == 0) world.fill(random);
    const RandomQuery query = queries.next();
    const Answer theirs = oracle.ask(query.sql);
    const Answer ours = run_query(query.sql, world.tables, source);
    const bool both_answer = ours.ok() && theirs.ok();
    answered += both_answer ? 1 : 0;
    with_rows += both_answer && !theirs.rows.empty() ? 1 : 0;
    refusals += ours.sqlstate.starts_with("42") && theirs.sqlstate.starts_with("42") ? 1 : 0;
    if (agree(ours, theirs, Planning::OfQuery, query.ordered ? RowOrder::Counts : RowOrder::DoesNot))
      continue;
    ADD_FAILURE() << "ours:   " << ours.shown() << "\ntheirs: " << theirs.shown() << "\n"
                  << query.sql << ";\n"
                  << "SETUP " << world.setup;
    if (++failures >= 10) break;
  }
  std::printf("%d answered (%d with rows), %d refused, %d failed when run\n", answered, with_rows, refusals,
              run.rounds - answered - refusals);
  EXPECT_GT(answered, run.rounds / 2);
}

}  // namespace
}  // namespace tidemark::sql
