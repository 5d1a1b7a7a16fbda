#include "sql/types/key_encoding.h"

#include <gtest/gtest.h>

#include "sql/types/compare.h"
#include "sql/types/text_format.h"
#include "tests/sql/random_values.h"

namespace tidemark::sql {
namespace {

using testing::column_kinds;
using testing::RandomValues;

constexpr int kRounds = 20000;

int sign(int value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

std::string encoded(const Value& value, SortOrder order = SortOrder::Ascending) {
  std::string out;
  append_key(value, order, out);
  return out;
}

std::string shown(const Value& value) {
  return value.is_null() ? "NULL" : to_text(value);
}

// A value near another one, so that equal and almost equal ones are met.
Value neighbour(RandomValues& random, const Value& value, Arena& arena) {
  if (value.kind() == TypeKind::Text || value.kind() == TypeKind::Bytea) {
    std::string bytes(value.as_bytes());
    if (random.chance(50)) bytes.push_back(random.chance(50) ? '\0' : 'b');
    if (value.kind() == TypeKind::Text) std::erase(bytes, '\0');
    return Value::of_bytes(value.kind(), arena.copy(bytes));
  }
  if (value.kind() == TypeKind::Numeric && value.as_numeric().is_finite()) {
    std::string text = to_text(value);
    text += text.find('.') == std::string::npos ? ".0" : "0";
    if (random.chance(50)) text.back() = '1';
    Value out;
    EXPECT_TRUE(value_from_text(SqlType::of(TypeKind::Numeric), text, arena, out).ok());
    return out;
  }
  return value;
}

TEST(KeyEncoding, OrderOfBytesIsOrderOfValues) {
  for (TypeKind kind : column_kinds()) {
    RandomValues random(7 + static_cast<uint64_t>(kind));
    for (int round = 0; round < kRounds; ++round) {
      Arena arena;
      const Value a = random.value(kind, arena);
      const Value b = random.chance(30) ? neighbour(random, a, arena) : random.value(kind, arena);
      const int expected = compare_values(a, b);
      ASSERT_EQ(sign(encoded(a).compare(encoded(b))), expected) << shown(a) << " | " << shown(b);
      ASSERT_EQ(sign(encoded(a, SortOrder::Descending).compare(encoded(b, SortOrder::Descending))), -expected)
          << shown(a) << " | " << shown(b);
    }
  }
}

TEST(KeyEncoding, NullIsLastAscendingAndFirstDescending) {
  RandomValues random(3);
  for (TypeKind kind : column_kinds()) {
    for (int round = 0; round < 200; ++round) {
      Arena arena;
      const Value value = random.value(kind, arena);
      EXPECT_LT(encoded(value), encoded(Value::null()));
      EXPECT_GT(encoded(value, SortOrder::Descending), encoded(Value::null(), SortOrder::Descending));
    }
  }
}

TEST(KeyEncoding, DecodesToAnEqualValue) {
  for (TypeKind kind : column_kinds()) {
    RandomValues random(11 + static_cast<uint64_t>(kind));
    for (int round = 0; round < kRounds; ++round) {
      Arena arena;
      const Value value = random.value(kind, arena);
      const SortOrder order = random.chance(50) ? SortOrder::Ascending : SortOrder::Descending;
      const std::string key = encoded(value, order) + "tail";
      size_t at = 0;
      Value back;
      ASSERT_TRUE(read_key({kind, order}, key, at, arena, back).ok()) << shown(value);
      ASSERT_EQ(at, key.size() - 4);
      ASSERT_EQ(compare_values(value, back), 0) << shown(value) << " | " << shown(back);
      ASSERT_EQ(encoded(back, order) + "tail", key);
    }
  }
}

// No encoding is a prefix of another, so columns in a row compare column by column.
TEST(KeyEncoding, CompositeKeysCompareColumnByColumn) {
  RandomValues random(5);
  for (int round = 0; round < kRounds; ++round) {
    Arena arena;
    std::vector<KeyColumn> columns;
    std::vector<Value> a, b;
    int expected = 0;
    for (int i = 0; i < 3; ++i) {
      columns.push_back(
          {random.pick(column_kinds()), random.chance(50) ? SortOrder::Ascending : SortOrder::Descending});
      a.push_back(random.value(columns[i].kind, arena));
      b.push_back(random.chance(60) ? a[i] : random.value(columns[i].kind, arena));
      if (expected == 0) {
        expected = compare_values(a[i], b[i]) * (columns[i].order == SortOrder::Ascending ? 1 : -1);
      }
    }
    std::string key_a, key_b;
    append_keys(columns, a, key_a);
    append_keys(columns, b, key_b);
    ASSERT_EQ(sign(key_a.compare(key_b)), expected) << shown(a[0]) << " | " << shown(b[0]);
  }
}

TEST(KeyEncoding, AnyBytesGiveAValueOrAnError) {
  RandomValues random(9);
  for (int round = 0; round < kRounds; ++round) {
    Arena arena;
    const KeyColumn column{random.pick(column_kinds()),
                           random.chance(50) ? SortOrder::Ascending : SortOrder::Descending};
    std::string key = encoded(random.value(column.kind, arena), column.order);
    for (uint64_t i = random.below(4); i > 0 && !key.empty(); --i) {
      key[random.below(key.size())] = static_cast<char>(random.below(256));
    }
    key.resize(random.chance(30) ? random.below(key.size() + 1) : key.size());
    size_t at = 0;
    Value value;
    if (!read_key(column, key, at, arena, value).ok()) continue;
    ASSERT_LE(at, key.size());
    if (!value.is_null()) to_text(value);
  }
}

TEST(KeyEncoding, EqualNumbersAndZerosAreOneKey) {
  Arena arena;
  const auto numeric = [&arena](const char* text) {
    Value out;
    EXPECT_TRUE(value_from_text(SqlType::of(TypeKind::Numeric), text, arena, out).ok());
    return encoded(out);
  };
  EXPECT_EQ(numeric("1.0"), numeric("1.00"));
  EXPECT_EQ(numeric("1.0"), numeric("1"));
  EXPECT_EQ(numeric("0"), numeric("0.000"));
  EXPECT_NE(numeric("10"), numeric("1"));
  EXPECT_EQ(encoded(Value::float8(0.0)), encoded(Value::float8(-0.0)));
}

// The hash decides where a row lives: a change of it would lose every row of a cluster.
TEST(DistributionHash, IsFixedForAllTime) {
  EXPECT_EQ(distribution_hash(encoded(Value::bigint(42))), 6626882167836958474u);
  EXPECT_EQ(distribution_hash(encoded(Value::text("tidemark"))), 3691903295187351692u);
}

}  // namespace
}  // namespace tidemark::sql
