#include "sql/types/text_format.h"

#include <gtest/gtest.h>

#include "sql/types/binary_format.h"
#include "tests/sql/random_values.h"

namespace tidemark::sql {
namespace {

using testing::column_kinds;
using testing::RandomValues;

std::string through(TypeKind kind, std::string_view text) {
  Arena arena;
  const auto value = parse_value(SqlType::of(kind), text, arena);
  return value.ok() ? to_text(*value) : value.error().state;
}

TEST(TextFormat, WhatIsPrintedReadsBackTheSame) {
  RandomValues random(21);
  for (TypeKind kind : column_kinds()) {
    for (int round = 0; round < 5000; ++round) {
      Arena arena;
      const std::string text = to_text(random.value(kind, arena));
      ASSERT_EQ(through(kind, text), text);
    }
  }
}

TEST(BinaryFormat, WhatIsSentReadsBackTheSame) {
  RandomValues random(22);
  for (TypeKind kind : column_kinds()) {
    for (int round = 0; round < 5000; ++round) {
      Arena arena;
      const Value value = random.value(kind, arena);
      std::string bytes;
      append_binary(value, bytes);
      Value back;
      ASSERT_TRUE(value_from_binary(kind, bytes, arena, back).ok()) << to_text(value);
      ASSERT_EQ(to_text(back), to_text(value));
    }
  }
}

TEST(BinaryFormat, AnyBytesGiveAValueOrAnError) {
  RandomValues random(23);
  for (int round = 0; round < 50000; ++round) {
    Arena arena;
    const TypeKind kind = random.pick(column_kinds());
    std::string bytes;
    append_binary(random.value(kind, arena), bytes);
    if (!bytes.empty()) bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    Value back;
    if (value_from_binary(kind, bytes, arena, back).ok()) to_text(back);
  }
}

TEST(TextFormat, PrintsAsPostgresDoes) {
  EXPECT_EQ(through(TypeKind::Double, "1e15"), "1e+15");
  EXPECT_EQ(through(TypeKind::Double, "100000000000000"), "100000000000000");
  EXPECT_EQ(through(TypeKind::Double, "0.00001"), "1e-05");
  EXPECT_EQ(through(TypeKind::Double, "-0"), "-0");
  EXPECT_EQ(through(TypeKind::Double, "34030041550479512"), "3.4030041550479512e+16");
  EXPECT_EQ(through(TypeKind::Double, "-1e22"), "-1e+22");
  EXPECT_EQ(through(TypeKind::Numeric, "-00.50e1"), "-5.0");
  EXPECT_EQ(through(TypeKind::Numeric, "1e3"), "1000");
  EXPECT_EQ(through(TypeKind::Bytea, "a\\\\b\\001"), "\\x615c6201");
  EXPECT_EQ(through(TypeKind::Date, "0044-03-15 BC"), "0044-03-15 BC");
  EXPECT_EQ(through(TypeKind::TimestampTz, "2024-02-29T12:00:00.5+02:00"), "2024-02-29 10:00:00.5+00");
  EXPECT_EQ(through(TypeKind::Timestamp, "infinity"), "infinity");
  EXPECT_EQ(through(TypeKind::Jsonb, R"({"bb":1,"a":[1.50,{}],"a":null})"), R"({"a": null, "bb": 1})");
  EXPECT_EQ(through(TypeKind::Uuid, "{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}"),
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
}

TEST(TextFormat, RefusesWithPostgresSqlstates) {
  EXPECT_EQ(through(TypeKind::Integer, "x"), "22P02");
  EXPECT_EQ(through(TypeKind::Integer, "2147483648"), "22003");
  EXPECT_EQ(through(TypeKind::Double, "1e400"), "22003");
  EXPECT_EQ(through(TypeKind::Date, "2023-02-29"), "22008");
  EXPECT_EQ(through(TypeKind::Date, "soon"), "22007");
  EXPECT_EQ(through(TypeKind::Text, std::string_view("a\0b", 3)), "22021");
  EXPECT_EQ(through(TypeKind::Jsonb, "{"), "22P02");
  EXPECT_EQ(through(TypeKind::Jsonb, std::string(5000, '[')), "54001");
}

}  // namespace
}  // namespace tidemark::sql
