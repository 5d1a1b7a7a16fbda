#include "sql/types/row_encoding.h"

#include <gtest/gtest.h>

#include "sql/types/text_format.h"
#include "tests/sql/random_values.h"

namespace tidemark::sql {
namespace {

using testing::column_kinds;
using testing::RandomValues;

std::string shown(const Value& value) {
  return value.is_null() ? "NULL" : to_text(value);
}

struct RandomRow {
  std::vector<TypeKind> kinds;
  std::vector<Value> values;
  Arena arena;
};

RandomRow random_row(RandomValues& random) {
  RandomRow row;
  for (uint64_t i = random.below(20); i > 0; --i) {
    row.kinds.push_back(random.pick(column_kinds()));
    row.values.push_back(random.chance(25) ? Value::null() : random.value(row.kinds.back(), row.arena));
  }
  return row;
}

TEST(RowEncoding, EveryColumnReadsBackAsItWas) {
  RandomValues random(1);
  for (int round = 0; round < 20000; ++round) {
    const RandomRow row = random_row(random);
    const RowLayout layout(row.kinds);
    std::string bytes;
    append_row(layout, row.values, bytes);
    RowView view;
    ASSERT_TRUE(RowView::parse(layout, bytes, view).ok());
    std::vector<Value> back;
    for (size_t i = 0; i < row.kinds.size(); ++i) {
      back.push_back(view.get(i));
      ASSERT_EQ(back[i].kind(), row.values[i].kind());
      ASSERT_EQ(shown(back[i]), shown(row.values[i]));
    }
    std::string again;
    append_row(layout, back, again);
    ASSERT_EQ(again, bytes);
  }
}

TEST(RowEncoding, AnyBytesGiveARowOrAnError) {
  RandomValues random(2);
  int refused = 0, read = 0;
  for (int round = 0; round < 40000; ++round) {
    const RandomRow row = random_row(random);
    const RowLayout layout(row.kinds);
    std::string bytes;
    append_row(layout, row.values, bytes);
    for (uint64_t i = random.below(4); i > 0; --i)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    if (random.chance(20)) bytes.resize(random.below(bytes.size() + 1));
    RowView view;
    if (!RowView::parse(layout, bytes, view).ok()) {
      ++refused;
      continue;
    }
    ++read;
    for (size_t i = 0; i < row.kinds.size(); ++i) shown(view.get(i));
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 1000);
}

TEST(RowEncoding, ColumnsAddedAfterARowWasWrittenAreNull) {
  const std::vector<TypeKind> before{TypeKind::Integer, TypeKind::Text};
  const std::vector<TypeKind> after{TypeKind::Integer, TypeKind::Text, TypeKind::Numeric, TypeKind::Boolean};
  const RowLayout old_layout(before), new_layout(after);
  std::string bytes;
  append_row(old_layout, std::vector<Value>{Value::integer(7), Value::text("seven")}, bytes);
  RowView view;
  ASSERT_TRUE(RowView::parse(new_layout, bytes, view).ok());
  EXPECT_EQ(view.get(0).as_int(), 7);
  EXPECT_EQ(view.get(1).as_bytes(), "seven");
  EXPECT_TRUE(view.get(2).is_null());
  EXPECT_TRUE(view.get(3).is_null());
}

}  // namespace
}  // namespace tidemark::sql
