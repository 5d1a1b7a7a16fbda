#include "tests/view_manager/flow_world.h"

#include <algorithm>

#include "base/assert.h"
#include "sql/bind/query_binder.h"
#include "sql/execute/memory_source.h"
#include "sql/execute/select_execution.h"
#include "sql/parse/parser.h"
#include "sql/types/text_format.h"

namespace tidemark {

namespace {

constexpr ShardCount kShards{16};

class PlanCatalog : public sql::Catalog {
 public:
  PlanCatalog(const pb::Catalog& catalog, const sql::CatalogPlans& plans)
      : catalog_(catalog), plans_(plans) {}
  sql::TableSchemaPtr find_table(std::string_view, std::string_view name) const override {
    for (const pb::TableDefinition& table : catalog_.tables()) {
      if (table.kind() == pb::AUXILIARY || table.dropped() != 0 || table.name() != name) continue;
      return sql::schema_of(*plans_.table(TableId{table.id()}));
    }
    return nullptr;
  }

 private:
  const pb::Catalog& catalog_;
  const sql::CatalogPlans& plans_;
};

}  // namespace

const pb::TableDefinition* FlowWorld::find(const std::string& name) const {
  for (const pb::TableDefinition& table : catalog_.tables()) {
    if (table.name() == name && table.dropped() == 0 && table.kind() != pb::AUXILIARY) return &table;
  }
  return nullptr;
}

void FlowWorld::install() {
  std::vector<std::string> failures;
  programs_.update(catalog_, failures);
  plans_.update(catalog_, failures);
  TM_ASSERT(failures.empty(), failures.front());
}

TableId FlowWorld::create_table(const std::string& name, const std::vector<ColumnSpec>& columns,
                                size_t key_columns) {
  pb::TableDefinition& table = *catalog_.add_tables();
  catalog_.set_version(catalog_.version() + 1);
  if (catalog_.next_id() == 0) catalog_.set_next_id(1);
  table.set_id(catalog_.next_id());
  catalog_.set_next_id(catalog_.next_id() + 1);
  table.set_name(name);
  table.set_kind(pb::MANAGED);
  table.set_row_rule(pb::PUT);
  table.set_created(catalog_.version());
  for (const ColumnSpec& column : columns) {
    table.add_columns()->set_name(column.name);
    table.mutable_columns(table.columns_size() - 1)->set_type(column.type);
  }
  table.add_distribution(0);
  for (size_t i = 1; i < key_columns; ++i) {
    table.add_clustering(static_cast<uint32_t>(i));
    table.add_clustering_descending(false);
  }
  store_.add_table(table);
  install();
  return TableId{table.id()};
}

std::string FlowWorld::create_view(const std::string& sql) {
  PlanCatalog binding(catalog_, plans_);
  auto plan = sql::plan_statement(sql, TableId{catalog_.next_id()}, binding,
                                  [this](TableId id) { return plans_.table(id); });
  if (!plan.ok()) return plan.error().state + " " + plan.error().message;
  const uint64_t version = catalog_.version() + 1;
  for (pb::TableDefinition definition : plan->tables) {
    TM_ASSERT(definition.id() == catalog_.next_id());
    catalog_.set_next_id(definition.id() + 1);
    definition.set_created(version);
    definition.set_begun(version + 1);
    store_.add_table(definition);
    *catalog_.add_tables() = definition;
  }
  catalog_.set_version(version + 1);
  install();
  // Backfill: the rows of each base and view source, and then its end.
  const TableId view{plan->tables.front().id()};
  for (uint32_t source : plan->tables.front().sources()) {
    const bool own = source >= view.value;
    if (own) continue;
    std::deque<OwnedChange> page;
    const sql::TableCodec& codec = store_.codec(TableId{source});
    for (const auto& [key, row] : store_.rows(TableId{source})) {
      OwnedChange change;
      change.table = TableId{source};
      std::vector<sql::Value> values;
      sql::Arena arena;
      TM_ASSERT(codec.decode(key, row, arena, values).ok());
      sql::EncodedRow encoded;
      codec.encode(values, encoded);
      change.hash = encoded.hash;
      change.key = key;
      change.after = row;
      page.push_back(std::move(change));
    }
    propagate(std::move(page), view);
  }
  EffectEntry entry;
  entry.reset(Generation{1}, Offset{offset_++});
  StepCounters steps(kShards);
  steps.begin_record();
  EffectWriter writer(entry, kShards, steps);
  writer.enter_lane(ShardId{0}, 0);
  programs_.end_of_backfill({CatalogVersion{catalog_.version()}, view}, writer);
  std::deque<OwnedChange> changes;
  for (const StoredEffect& effect : entry.effects()) store_.apply(entry.decode(effect), changes);
  store_.finish_batch(changes);
  propagate(std::move(changes), TableId{0});
  return "";
}

void FlowWorld::drop_view(const std::string& name) {
  catalog_.set_version(catalog_.version() + 1);
  const uint32_t id = find(name)->id();
  for (pb::TableDefinition& table : *catalog_.mutable_tables()) {
    if (table.id() == id || table.view() == id) table.set_dropped(catalog_.version());
  }
  install();
}

void FlowWorld::write(const std::vector<Write>& writes) {
  std::deque<OwnedChange> changes;
  for (const Write& one : writes) change(one, changes);
  propagate(std::move(changes), TableId{0});
}

void FlowWorld::upsert(const std::string& table, const std::vector<std::string>& values) {
  write({{table, values, false}});
}

void FlowWorld::erase(const std::string& table, const std::string& key) {
  write({{table, {key}, true}});
}

void FlowWorld::change(const Write& write, std::deque<OwnedChange>& changes) {
  const pb::TableDefinition* table = find(write.table);
  TM_ASSERT(table != nullptr, write.table);
  const sql::TableCodec& codec = store_.codec(TableId{table->id()});
  sql::Arena arena;
  std::vector<sql::Value> values(codec.columns().size());
  for (size_t i = 0; i < write.values.size(); ++i) {
    if (write.values[i] == "NULL") continue;
    sql::Fault fault = sql::value_from_text(codec.columns()[i].type, write.values[i], arena, values[i]);
    TM_ASSERT(fault.ok(), write.values[i]);
  }
  sql::EncodedRow row;
  codec.encode(values, row);
  store_.put(TableId{table->id()}, row.hash, row.key, write.is_delete ? std::nullopt : std::optional(row.row),
             changes);
}

// Changes make effects, effects make changes, until there are none: each round is a record and a batch.
void FlowWorld::propagate(std::deque<OwnedChange> changes, TableId page_of) {
  while (!changes.empty()) {
    EffectEntry entry;
    entry.reset(Generation{1}, Offset{offset_++});
    StepCounters steps(kShards);
    steps.begin_record();
    EffectWriter writer(entry, kShards, steps);
    for (const OwnedChange& change : changes) {
      writer.enter_lane(kShards.shard_of(change.hash), 0);
      RecordContext context{CatalogVersion{catalog_.version()}, page_of};
      TM_ASSERT(programs_.effects_of(change.view(), context, writer));
    }
    page_of = TableId{0};
    changes.clear();
    effects_ += entry.effects().size();
    Combiner combiner(programs_);
    for (const StoredEffect& effect : entry.effects()) combiner.add(entry.decode(effect));
    std::string bytes;
    combiner.append_to(bytes);
    EffectReader reader(bytes);
    for (Effect effect; reader.next(effect);) {
      // What a region writes a record for each of (JOIN_SIDE) must see the rows before it.
      store_.apply(effect, changes);
    }
    store_.finish_batch(changes);
  }
}

std::string FlowWorld::line_of(const sql::Value* values, size_t count) const {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out += '|';
    sql::Value value = values[i];
    sql::Arena arena;
    // How many zeros follow is not compared: a sum keeps the longest scale that it has seen.
    if (value.kind() == sql::TypeKind::Numeric) {
      value = sql::Value::numeric(sql::numeric_normalized(value.as_numeric(), arena));
    }
    if (value.is_null()) {
      out += "NULL";
    } else {
      sql::append_text(value, out);
    }
  }
  return out;
}

FlowWorld::Lines FlowWorld::read(const std::string& name) {
  return shown(name, store_.rows(TableId{find(name)->id()}));
}

FlowWorld::Lines FlowWorld::types(const std::string& name) {
  Lines out;
  for (const sql::ReadPlan::Column& column : plans_.table(TableId{find(name)->id()})->read.columns) {
    out.push_back(std::string(sql::type_name(column.type.kind)));
  }
  return out;
}

FlowWorld::Lines FlowWorld::shown(const std::string& name, const std::map<std::string, std::string>& rows) {
  const pb::TableDefinition* table = find(name);
  const TableId id{table->id()};
  sql::StoredTablePtr stored = plans_.table(id);
  sql::Program columns(stored->read.expressions);
  std::optional<sql::Program> visible;
  if (stored->read.visible) visible.emplace(*stored->read.visible);
  Lines out;
  for (const auto& [key, row] : rows) {
    sql::Evaluation evaluation;
    std::vector<sql::Value> values, results(columns.result_count());
    TM_ASSERT(store_.codec(id).decode(key, row, evaluation.arena, values).ok());
    sql::RowInput input(values.data());
    if (visible) {
      sql::Value passes;
      TM_ASSERT(visible->run(evaluation, input, passes).ok());
      if (passes.is_null() || !passes.as_bool()) continue;
    }
    TM_ASSERT(columns.run(evaluation, input, results).ok());
    out.push_back(line_of(results.data(), results.size()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

FlowWorld::Lines FlowWorld::evaluate(const std::string& name) {
  const pb::TableDefinition* table = find(name);
  auto statements = sql::parse_statements(table->sql());
  TM_ASSERT(statements.ok());
  auto& create = std::get<sql::ast::CreateView>((*statements)[0].body);
  PlanCatalog binding(catalog_, plans_);
  sql::ParamTypes params;
  auto query = sql::QueryBinder(binding, params).bind(*create.query);
  TM_ASSERT(query.ok());
  // Views that it reads are taken as they are kept: they are checked themselves.
  sql::MemorySource source;
  for (const pb::TableDefinition& one : catalog_.tables()) {
    if (one.kind() == pb::AUXILIARY || one.dropped() != 0) continue;
    const TableId id{one.id()};
    sql::StoredTablePtr stored = plans_.table(id);
    sql::MemoryTable& memory = source.add_table(*sql::schema_of(*stored));
    sql::Program columns(stored->read.expressions);
    std::optional<sql::Program> visible;
    if (stored->read.visible) visible.emplace(*stored->read.visible);
    for (const auto& [key, row] : store_.rows(id)) {
      sql::Evaluation evaluation;
      std::vector<sql::Value> values, results(columns.result_count());
      TM_ASSERT(store_.codec(id).decode(key, row, evaluation.arena, values).ok());
      sql::RowInput input(values.data());
      sql::Value passes = sql::Value::boolean(true);
      if (visible) TM_ASSERT(visible->run(evaluation, input, passes).ok());
      if (passes.is_null() || !passes.as_bool()) continue;
      TM_ASSERT(columns.run(evaluation, input, results).ok());
      memory.add(results);
    }
  }
  auto execution = sql::SelectExecution::start(**query, source, {});
  TM_ASSERT(execution.ok());
  Lines out;
  sql::Batch batch;
  for (;;) {
    sql::PullResult pulled = (*execution)->next(batch);
    if (!pulled.ok()) return {"failed: " + pulled.error().message};
    if (*pulled == sql::Pull::End) break;
    for (size_t i = 0; i < batch.row_count(); ++i) out.push_back(line_of(batch.row(i), batch.width()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

FlowWorld::Lines FlowWorld::errors(const std::string& name) {
  Lines out;
  const TableId errors = plans_.view(TableId{find(name)->id()})->errors;
  if (errors.value == 0) return out;
  for (const auto& [key, row] : store_.rows(errors)) {
    sql::Arena arena;
    std::vector<sql::Value> values;
    TM_ASSERT(store_.codec(errors).decode(key, row, arena, values).ok());
    out.push_back(line_of(values.data() + 2, 2));
  }
  return out;
}

std::string FlowWorld::check() {
  for (const pb::TableDefinition& table : catalog_.tables()) {
    if (table.kind() != pb::VIEW || table.dropped() != 0) continue;
    Lines have = read(table.name()), want = evaluate(table.name());
    if (have == want) continue;
    std::string out = table.sql() + "\nhas:\n";
    for (const std::string& line : have) out += "  " + line + "\n";
    out += "query says:\n";
    for (const std::string& line : want) out += "  " + line + "\n";
    return out;
  }
  return "";
}

}  // namespace tidemark
