#include "sql/copy/copy_reader.h"

#include <gtest/gtest.h>

#include "sql/types/text_format.h"
#include "tests/sql/random_values.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql {
namespace {

class Copying : public ::testing::Test {
 protected:
  void SetUp() override { catalog_.create("create table t (a int primary key, b text, c numeric(5,1))"); }

  // Rows as text, or the SQLSTATE; the data comes in pieces of `piece` bytes.
  std::string read(const std::string& options, std::string_view data, size_t piece = 1000) {
    const std::string sql = "copy t from stdin " + options;
    const auto parsed = parse_statements(sql);
    EXPECT_TRUE(parsed.ok());
    ParamTypes params;
    const auto bound = bind_statement((*parsed)[0], sql, catalog_, params);
    if (!bound.ok()) return bound.error().state;
    CopyReader reader(std::get<CopyStatement>(bound->body));
    Batch batch;
    batch.reset(reader.width());
    for (size_t at = 0; at < data.size(); at += piece) {
      if (const SqlStatus status = reader.feed(data.substr(at, piece), batch); !status.ok())
        return status.error().state;
    }
    if (const SqlStatus status = reader.finish(batch); !status.ok()) return status.error().state;
    std::string out;
    for (size_t i = 0; i < batch.row_count(); ++i) {
      for (size_t c = 0; c < batch.width(); ++c) {
        const Value& value = batch.row(i)[c];
        out += (value.is_null() ? "NULL" : "<" + to_text(value) + ">");
      }
      out += ";";
    }
    return out;
  }

  testing::TestCatalog catalog_;
};

TEST_F(Copying, TextFormatAsPostgresWritesIt) {
  EXPECT_EQ(read("", "1\ta\\tb\\\\\t2.55\n2\t\\N\t\\N\n"), "<1><a\tb\\><2.6>;<2>NULLNULL;");
  EXPECT_EQ(read("", "1\t\\x41\\101\t1"), "<1><AA><1.0>;");
  EXPECT_EQ(read("", "1\tx\\\ny\t1\r\n"), "<1><x\ny><1.0>;");
  EXPECT_EQ(read("", "1\ta\t1\n\\.\n2\tb\t2\n"), "<1><a><1.0>;");
  EXPECT_EQ(read("with (delimiter '|', null '-')", "1|-|2\n"), "<1>NULL<2.0>;");
}

TEST_F(Copying, CsvAsPostgresWritesIt) {
  EXPECT_EQ(read("csv header", "a,b,c\n1,\"x,\"\"y\"\"\nz\",2\n2,,\n3,\"\",\n"),
            "<1><x,\"y\"\nz><2.0>;<2>NULLNULL;<3><>NULL;");
  EXPECT_EQ(read("with (format csv, quote '''', delimiter ';')", "1;'a;b';\n"), "<1><a;b>NULL;");
}

TEST_F(Copying, WrongRowsAreRefused) {
  EXPECT_EQ(read("", "1\ta\n"), "22P04");
  EXPECT_EQ(read("", "1\ta\t2\t3\n"), "22P04");
  EXPECT_EQ(read("", "x\ta\t2\n"), "22P02");
  EXPECT_EQ(read("", "1\ta\t99999\n"), "22003");
  EXPECT_EQ(read("csv", "1,\"a,2\n"), "22P04");
  EXPECT_EQ(read("with (format binary)", ""), "0A000");
}

// How the data is cut into messages never shows.
TEST_F(Copying, PiecesOfAnySizeGiveTheSameRows) {
  testing::RandomValues random(41);
  for (int round = 0; round < 300; ++round) {
    std::string data;
    for (int i = 0; i < 5; ++i) {
      std::string text = random.text();
      std::string quoted = "\"";
      for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
      data += std::to_string(i) + "," + quoted + "\",1\n";
    }
    const std::string whole = read("csv", data);
    ASSERT_EQ(whole.size() > 5, true);
    for (size_t piece : {1, 2, 3, 7}) ASSERT_EQ(read("csv", data, piece), whole);
  }
}

}  // namespace
}  // namespace tidemark::sql
