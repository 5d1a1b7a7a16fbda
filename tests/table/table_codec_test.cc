#include "sql/table/table_codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "proto/catalog.pb.h"
#include "sql/types/compare.h"
#include "sql/types/text_format.h"

namespace tidemark::sql {
namespace {

pb::TableDefinition definition(pb::TableKind kind) {
  pb::TableDefinition out;
  out.set_id(7);
  out.set_name("t");
  out.set_kind(kind);
  for (const char* type :
       {"text", "numeric(10,2)", "bigint", "timestamp without time zone", "character varying(5)"}) {
    pb::Column& column = *out.add_columns();
    column.set_name("c" + std::to_string(out.columns_size()));
    column.set_type(type);
  }
  out.add_distribution(2);
  out.add_clustering(1);
  out.add_clustering_descending(true);
  out.add_clustering(0);
  out.add_clustering_descending(false);
  return out;
}

std::vector<Value> sample(Random& random, Arena& arena) {
  auto numeric =
      parse_value(SqlType::numeric(10, 2), std::to_string(random.between(-500, 500)) + ".10", arena);
  auto text = arena.copy(std::string(random.below(4), 'a'));
  return {Value::text(text), numeric.value(), Value::bigint(random.between(-3, 3)),
          random.chance(0.3) ? Value() : Value::timestamp(random.between(0, 1000)), Value()};
}

TEST(TableCodec, RowsComeBackFromKeyAndBytesInEveryKindOfTable) {
  Random random(5);
  for (pb::TableKind kind : {pb::MANAGED, pb::VIEW, pb::AUXILIARY}) {
    auto codec = TableCodec::make(definition(kind));
    ASSERT_TRUE(codec.ok());
    for (int i = 0; i < 500; ++i) {
      Arena arena;
      std::vector<Value> values = sample(random, arena), back;
      EncodedRow encoded;
      codec->encode(values, encoded);
      ASSERT_TRUE(codec->decode(encoded.key, encoded.row, arena, back).ok());
      for (size_t c = 0; c < values.size(); ++c) {
        ASSERT_EQ(values[c].is_null(), back[c].is_null());
        if (!values[c].is_null()) {
          ASSERT_EQ(compare_values(values[c], back[c]), 0);
          ASSERT_EQ(to_text(values[c]), to_text(back[c]));  // With the zeros at the end.
        }
      }
    }
  }
}

TEST(TableCodec, AKeyPrefixHashesAsItsRowsDo) {
  Random random(6);
  auto codec = TableCodec::make(definition(pb::VIEW));
  for (int i = 0; i < 200; ++i) {
    Arena arena;
    std::vector<Value> values = sample(random, arena);
    EncodedRow encoded;
    codec->encode(values, encoded);
    std::string prefix;
    Value key[] = {values[2], values[1]};
    EXPECT_EQ(codec->encode_key_prefix(key, prefix), encoded.hash);
    EXPECT_TRUE(encoded.key.starts_with(prefix));
  }
}

TEST(TableCodec, ClusteringColumnsSortWithinInTheirDirection) {
  auto codec = TableCodec::make(definition(pb::MANAGED));
  Arena arena;
  auto row = [&](const char* numeric, const char* text) {
    EncodedRow out;
    Value values[] = {Value::text(text), parse_value(SqlType::numeric(10, 2), numeric, arena).value(),
                      Value::bigint(1), Value(), Value()};
    codec->encode(values, out);
    return out.key;
  };
  EXPECT_LT(row("5", "b"), row("4", "a"));  // Descending by the number,
  EXPECT_LT(row("5", "a"), row("5", "b"));  // ascending by the text.
}

TEST(TableCodec, DamagedBytesAreRefusedNeverACrash) {
  Random random(7);
  for (pb::TableKind kind : {pb::MANAGED, pb::VIEW}) {
    auto codec = TableCodec::make(definition(kind));
    for (int i = 0; i < 3000; ++i) {
      Arena arena;
      EncodedRow encoded;
      codec->encode(sample(random, arena), encoded);
      std::string& hurt = random.chance(0.5) ? encoded.key : encoded.row;
      if (random.chance(0.5)) hurt.resize(random.below(hurt.size() + 1));
      if (!hurt.empty()) hurt[random.below(hurt.size())] = static_cast<char>(random.next());
      std::vector<Value> back;
      (void)codec->decode(encoded.key, encoded.row, arena, back).ok();
    }
  }
}

TEST(TableCodec, TypeNamesAreReadAsTheyAreWritten) {
  for (SqlType type :
       {SqlType::of(TypeKind::Boolean), SqlType::of(TypeKind::Numeric), SqlType::numeric(10, 2),
        SqlType::numeric(5, 0), SqlType{TypeKind::Text, 5}, SqlType{TypeKind::Timestamp, 3},
        SqlType{TypeKind::TimestampTz, 0}, SqlType::of(TypeKind::Timestamp), SqlType::of(TypeKind::Jsonb)}) {
    auto parsed = parse_type_name(type_name(type));
    ASSERT_TRUE(parsed.ok()) << type_name(type);
    EXPECT_EQ(*parsed, type) << type_name(type);
  }
  for (const char* wrong : {"", "nothing", "numeric(a)", "numeric(1", "character varying(99999999999)"}) {
    EXPECT_FALSE(parse_type_name(wrong).ok()) << wrong;
  }
}

TEST(TableCodec, ADefinitionThatMakesNoSenseIsRefused) {
  pb::TableDefinition no_column = definition(pb::MANAGED), no_type = definition(pb::MANAGED);
  no_column.add_clustering(9);
  no_type.mutable_columns(0)->set_type("nothing");
  EXPECT_FALSE(TableCodec::make(no_column).ok());
  EXPECT_FALSE(TableCodec::make(no_type).ok());
}

}  // namespace
}  // namespace tidemark::sql
