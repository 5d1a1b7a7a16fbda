#include "tests/simulation/tables.h"

#include <charconv>

#include "base/assert.h"
#include "sql/catalog.h"
#include "sql/expr/program.h"
#include "sql/types/text_format.h"

namespace tidemark::sim {

class Tables::Binding : public sql::Catalog {
 public:
  explicit Binding(const Tables& tables) : tables_(tables) {}
  sql::TableSchemaPtr find_table(std::string_view, std::string_view name) const override {
    const auto it = tables_.ids_.find(std::string(name));
    return it == tables_.ids_.end() ? nullptr : sql::schema_of(*tables_.plans_.table(it->second));
  }

 private:
  const Tables& tables_;
};

// Programs keep scratch memory: one per table, used by one reader at a time.
struct Tables::Reader {
  explicit Reader(const sql::StoredTable& stored)
      : codec(*sql::TableCodec::make(stored.definition)), columns(stored.read.expressions) {
    if (stored.read.visible) visible.emplace(*stored.read.visible);
  }

  sql::TableCodec codec;
  sql::Program columns;
  std::optional<sql::Program> visible;
};

Tables::Tables() {
  catalog_.set_version(1);
  catalog_.set_next_id(1);
}
Tables::~Tables() = default;

const std::string* Tables::name(TableId table) const {
  const auto it = names_.find(table);
  return it == names_.end() ? nullptr : &it->second;
}

std::vector<pb::TableDefinition> Tables::create_table(const std::string& name) {
  pb::TableDefinition table;
  table.set_id(catalog_.next_id());
  table.set_name(name);
  table.set_kind(pb::MANAGED);
  table.set_row_rule(pb::PUT);
  for (const char* column : {"id", "grp", "val", "stamp"}) {
    table.add_columns()->set_name(column);
    table.mutable_columns()->rbegin()->set_type("bigint");
  }
  table.add_distribution(0);
  base_.insert(name);
  install({table});
  return {table};
}

std::vector<pb::TableDefinition> Tables::create_view(const ViewSpec& view) {
  const Binding binding(*this);
  auto plan = sql::plan_statement(statement_of(view), TableId{catalog_.next_id()}, binding,
                                  [this](TableId id) { return plans_.table(id); });
  TM_ASSERT(plan.ok(), statement_of(view), plan.error().message);
  install(plan->tables);
  return plan->tables;
}

void Tables::drop_view(const std::string& name) {
  const TableId id = ids_.at(name);
  for (pb::TableDefinition& table : *catalog_.mutable_tables()) {
    if (table.id() == id.value || table.view() == id.value) table.set_dropped(catalog_.version());
  }
  ids_.erase(name);
  readers_.erase(name);
}

void Tables::install(const std::vector<pb::TableDefinition>& definitions) {
  catalog_.set_version(catalog_.version() + 1);
  for (const pb::TableDefinition& definition : definitions) {
    pb::TableDefinition& table = *catalog_.add_tables();
    table = definition;
    table.set_created(catalog_.version());
    table.set_begun(catalog_.version());
    catalog_.set_next_id(std::max(catalog_.next_id(), table.id() + 1));
  }
  std::vector<std::string> failures;
  plans_.update(catalog_, failures);
  TM_ASSERT(failures.empty(), failures.front());
  for (const pb::TableDefinition& definition : definitions) {
    if (definition.kind() == pb::AUXILIARY) continue;
    const TableId id{definition.id()};
    ids_[definition.name()] = id;
    names_[id] = definition.name();
    readers_[definition.name()] = std::make_unique<Reader>(*plans_.table(id));
  }
}

sql::EncodedRow Tables::encode(const std::string& table, const Row& row) const {
  std::vector<sql::Value> values;
  for (const Value& value : row) values.push_back(value ? sql::Value::bigint(*value) : sql::Value());
  sql::EncodedRow out;
  readers_.at(table)->codec.encode(values, out);
  return out;
}

namespace {
Value number_of(const sql::Value& value) {
  if (value.is_null()) return {};
  const std::string text = sql::to_text(value);
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  TM_ASSERT(failure == std::errc() && end == text.data() + text.size(), text);
  return number;
}
}  // namespace

std::optional<Row> Tables::decode(const std::string& table, std::string_view key,
                                  std::string_view row) const {
  Reader& reader = *readers_.at(table);
  sql::Evaluation evaluation;
  std::vector<sql::Value> values, results(reader.columns.result_count());
  TM_ASSERT(reader.codec.decode(key, row, evaluation.arena, values).ok(), table);
  const sql::RowInput input(values.data());
  if (reader.visible) {
    sql::Value shown;
    TM_ASSERT(reader.visible->run(evaluation, input, shown).ok(), table);
    if (shown.is_null() || !shown.as_bool()) return std::nullopt;
  }
  TM_ASSERT(reader.columns.run(evaluation, input, results).ok(), table);
  Row out;
  for (const sql::Value& value : results) out.push_back(number_of(value));
  return out;
}

}  // namespace tidemark::sim
