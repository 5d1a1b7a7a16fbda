// Operators by hand-built plans: what no statement reaches, and the combining of effects.
#include <gtest/gtest.h>

#include <map>

#include "sql/expr/expression.h"
#include "sql/types/numeric.h"
#include "view_manager/combiner.h"
#include "view_manager/operators/flow.h"

namespace tidemark {
namespace {

constexpr ShardCount kShards{16};
constexpr sql::SqlType kText = sql::SqlType::of(sql::TypeKind::Text);
constexpr sql::SqlType kBigInt = sql::SqlType::of(sql::TypeKind::BigInt);

sql::TableCodec table_of(uint32_t id, std::initializer_list<std::pair<const char*, const char*>> columns,
                         std::initializer_list<uint32_t> clustering) {
  pb::TableDefinition table;
  table.set_id(id);
  table.set_kind(pb::VIEW);
  table.set_row_rule(pb::PUT);
  for (auto [name, type] : columns) {
    table.add_columns()->set_name(name);
    table.mutable_columns(table.columns_size() - 1)->set_type(type);
  }
  table.add_distribution(0);
  for (uint32_t column : clustering) table.add_clustering(column);
  return std::move(*sql::TableCodec::make(table));
}

// A row per word: (word, id, which of the same words, title).
class WordsTest : public ::testing::Test {
 protected:
  WordsTest()
      : documents_(table_of(1, {{"id", "bigint"}, {"body", "text"}, {"title", "text"}}, {})),
        words_(table_of(7, {{"word", "text"}, {"id", "bigint"}, {"number", "integer"}, {"title", "text"}},
                        {1, 2})) {
    constexpr sql::SqlType kInteger = sql::SqlType::of(sql::TypeKind::Integer);
    plan_.table = TableId{1};
    plan_.split.text = sql::make_column(1, kText);
    plan_.split.delimiter = sql::make_constant(sql::Value::text(" "), kText);
    plan_.sink.table = TableId{7};
    plan_.sink.columns.push_back(sql::make_column(3, kText));
    plan_.sink.columns.push_back(sql::make_column(0, kBigInt));
    plan_.sink.columns.push_back(sql::make_column(4, kInteger));
    plan_.sink.columns.push_back(sql::make_column(2, kText));
    plan_.identity.push_back(sql::make_column(0, kBigInt));
    flow_ = std::make_unique<Flow>(
        plan_,
        [this](TableId id) -> const sql::TableCodec& { return id == TableId{1} ? documents_ : words_; },
        nullptr);
  }

  struct Row {
    std::string body, title;
  };
  // "+word" for a put, "-word" for a delete.
  std::vector<std::string> effects(std::optional<Row> before, std::optional<Row> after) {
    auto values = [](const Row& row) {
      return std::vector<sql::Value>{sql::Value::bigint(5), sql::Value::text(row.body),
                                     sql::Value::text(row.title)};
    };
    std::vector<sql::Value> old, now;
    if (before) old = values(*before);
    if (after) now = values(*after);
    EffectEntry entry;
    entry.reset(Generation{1}, Offset{0});
    StepCounters steps(kShards);
    steps.begin_record();
    EffectWriter writer(entry, kShards, steps);
    writer.enter_lane(ShardId{0}, 0);
    OperatorContext context;
    context.out = &writer;
    flow_->run(before ? old.data() : nullptr, after ? now.data() : nullptr, context);
    std::vector<std::string> out;
    for (const StoredEffect& stored : entry.effects()) {
      Effect effect = entry.decode(stored);
      size_t at = 0;
      sql::Arena arena;
      sql::Value token;
      EXPECT_TRUE(sql::read_key({sql::TypeKind::Text}, effect.key, at, arena, token).ok());
      out.push_back((effect.kind == EffectKind::Put ? "+" : "-") + std::string(token.as_bytes()));
    }
    return out;
  }

  sql::TableCodec documents_, words_;
  sql::FlowPlan plan_;
  std::unique_ptr<Flow> flow_;
};

TEST_F(WordsTest, ARowPerWordAsOftenAsItIsThere) {
  EXPECT_EQ(effects({}, Row{"the tide the mark", "t"}),
            (std::vector<std::string>{"+mark", "+the", "+the", "+tide"}));
  EXPECT_EQ(effects(Row{"the tide", "t"}, {}), (std::vector<std::string>{"-the", "-tide"}));
}

TEST_F(WordsTest, OnlyWordsThatComeOrGoAreTouched) {
  EXPECT_EQ(effects(Row{"a b", "t"}, Row{"b c", "t"}), (std::vector<std::string>{"-a", "+c"}));
  EXPECT_EQ(effects(Row{"a b", "t"}, Row{"b a", "t"}), std::vector<std::string>{});
  EXPECT_EQ(effects(Row{"a a b", "t"}, Row{"c a", "t"}), (std::vector<std::string>{"-a", "-b", "+c"}));
  EXPECT_EQ(effects(Row{"a", "t"}, Row{"a", "u"}), (std::vector<std::string>{"+a"}));
}

// ---- combining

class TwoColumns : public SumLayouts {
 public:
  const sql::RowLayout& sum_layout(TableId) const override { return layout; }
  const sql::TypeKind kinds[2] = {sql::TypeKind::BigInt, sql::TypeKind::Numeric};
  const sql::RowLayout layout{kinds};
};

TEST(Combiner, SumsAreExactBeyondMachineNumbersAndNullCountsForNothing) {
  TwoColumns layouts;
  Combiner combiner(layouts);
  auto row = [&](int64_t count, const char* number) {
    sql::Arena arena;
    sql::Value values[2] = {sql::Value::bigint(count), {}};
    sql::Numeric numeric;
    if (number != nullptr) {
      EXPECT_TRUE(sql::numeric_from_text(number, arena, numeric).ok());
      values[1] = sql::Value::numeric(numeric);
    }
    std::string out;
    sql::append_row(layouts.layout, values, out);
    return out;
  };
  const std::string huge = std::string(60, '9');
  const std::vector<std::string> rows = {row(1, huge.c_str()), row(1, nullptr), row(1, "0.25"),
                                         row(-1, ("-" + huge).c_str())};
  for (const std::string& one : rows) combiner.add({EffectKind::Add, TableId{1}, 9, "k", one});
  std::string out;
  combiner.append_to(out);
  EffectReader reader(out);
  Effect effect;
  ASSERT_TRUE(reader.next(effect));
  EXPECT_EQ(effect.row, row(2, "0.25"));
  EXPECT_FALSE(reader.next(effect));
}

TEST(Combiner, ManyRowsKeepTheirOrderAndApart) {
  TwoColumns layouts;
  Combiner combiner(layouts);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> keys;
    for (int i = 0; i < 5000; ++i) keys.push_back("key" + std::to_string(i % 2500));
    for (size_t i = 0; i < keys.size(); ++i) {
      combiner.add({i < 2500 ? EffectKind::Put : EffectKind::Delete,
                    TableId{1 + static_cast<uint32_t>(i % 2)}, i, keys[i], i < 2500 ? "row" : ""});
    }
    std::string out;
    combiner.append_to(out);
    EffectReader reader(out);
    size_t count = 0;
    for (Effect effect; reader.next(effect); ++count) {
      EXPECT_EQ(effect.kind, EffectKind::Delete);
      EXPECT_EQ(effect.key, keys[count]);
    }
    EXPECT_EQ(count, 2500u);
    combiner.clear();
  }
}

}  // namespace
}  // namespace tidemark
