#include "tests/views/random_views.h"

#include <algorithm>

#include "base/assert.h"
#include "tests/views/random_queries.h"

namespace tidemark::views {

namespace {

std::string type_of(Kind kind) {
  switch (kind) {
    case Kind::Integer: return "integer";
    case Kind::BigInt: return "bigint";
    case Kind::Numeric:
    case Kind::Average: return "numeric(10,2)";
    case Kind::Text: return "text";
    case Kind::Boolean: return "boolean";
    case Kind::Date: return "date";
  }
  TM_UNREACHABLE();
}

class ScriptMaker {
 public:
  ScriptMaker(uint64_t seed, const RandomScriptOptions& options) : random_(seed), options_(options) {}

  Script make() {
    for (int i = 0; i < options_.tables; ++i) create_table(i);
    int views = 0;
    for (int i = 0; i < options_.batches; ++i) {
      // Some views find rows there already.
      while (views < options_.views && random_.chance(i < 2 ? 0.7 : 0.2)) create_view(views++);
      const bool fills = random_.chance(0.15);
      const int most = options_.writes_per_batch_max * (fills ? 5 : 1);
      for (int64_t n = random_.between(1, most); n > 0; --n) write();
      if (options_.view_managers && random_.chance(0.4)) change_view_managers();
      add(StepKind::Check);
      if (options_.drops && random_.chance(0.05)) drop_view();
    }
    return std::move(script_);
  }

 private:
  struct Table {
    Step step;
    std::vector<Kind> kinds;
  };

  Step& add(StepKind kind) {
    script_.emplace_back().kind = kind;
    return script_.back();
  }

  void create_table(int number) {
    constexpr Kind kKinds[] = {Kind::Integer, Kind::Integer, Kind::BigInt,  Kind::Numeric,
                               Kind::Text,    Kind::Text,    Kind::Boolean, Kind::Date};
    constexpr Kind kKeys[] = {Kind::Integer, Kind::BigInt, Kind::Text, Kind::Date};
    Table table;
    NamedRelation relation;
    table.step.kind = StepKind::CreateTable;
    table.step.name = relation.name = "t" + std::to_string(number + 1);
    table.step.key_columns = 1 + random_.below(2);
    for (uint64_t i = 0, n = table.step.key_columns + 1 + random_.below(4); i < n; ++i) {
      const Kind kind = i < table.step.key_columns ? kKeys[random_.below(4)] : kKinds[random_.below(8)];
      const std::string name = "x" + std::to_string(i + 1);
      table.kinds.push_back(kind);
      table.step.columns.push_back({name, type_of(kind)});
      relation.columns.push_back({name, kind});
    }
    script_.push_back(table.step);
    tables_.push_back(std::move(table));
    relations_.push_back(std::move(relation));
  }

  void create_view(int number) {
    RandomQueries queries(random_, relations_);
    const Query query = queries.query(1);
    Step& step = add(StepKind::CreateView);
    step.name = "v" + std::to_string(number + 1);
    step.query = query.sql;
    if (random_.chance(0.1)) step.options = "distribute_by = 'c1'";
    relations_.push_back({step.name, query.columns});
    views_.push_back(step.name);
  }

  // Only one that no other view is made from.
  void drop_view() {
    if (views_.empty()) return;
    const std::string name = views_.back();
    add(StepKind::DropView).name = name;
    std::erase_if(relations_, [&](const NamedRelation& relation) { return relation.name == name; });
    views_.pop_back();
  }

  void change_view_managers() {
    constexpr StepKind kChanges[] = {StepKind::AddViewManager, StepKind::RemoveViewManager,
                                     StepKind::ReplaceViewManager};
    add(kChanges[random_.below(3)]);
  }

  std::string value(Kind kind, bool may_be_null) {
    if (may_be_null && random_.chance(0.15)) return "NULL";
    switch (kind) {
      case Kind::Integer:
      case Kind::BigInt: return std::to_string(random_.between(-1, 9));
      case Kind::Numeric:
      case Kind::Average:
        return std::to_string(random_.between(-3, 5)) + (random_.chance(0.5) ? ".50" : ".00");
      case Kind::Text: return std::string(1 + random_.below(2), "abAB"[random_.below(4)]);
      case Kind::Boolean: return random_.chance(0.5) ? "t" : "f";
      case Kind::Date: return "2024-02-2" + std::to_string(random_.below(8));
    }
    TM_UNREACHABLE();
  }

  void write() {
    const Table& table = tables_[random_.below(tables_.size())];
    const bool is_delete = random_.chance(0.2);
    Step& step = add(is_delete ? StepKind::Delete : StepKind::Upsert);
    step.name = table.step.name;
    const size_t count = is_delete ? table.step.key_columns : table.kinds.size();
    for (size_t i = 0; i < count; ++i) {
      step.values.push_back(value(table.kinds[i], i >= table.step.key_columns));
    }
  }

  Random random_;
  RandomScriptOptions options_;
  Script script_;
  std::vector<Table> tables_;
  std::vector<NamedRelation> relations_;
  std::vector<std::string> views_;
};

}  // namespace

Script random_script(uint64_t seed, const RandomScriptOptions& options) {
  return ScriptMaker(seed, options).make();
}

}  // namespace tidemark::views
