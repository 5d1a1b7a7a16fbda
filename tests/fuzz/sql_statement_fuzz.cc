// Any bytes as a statement: parsed, bound, and if it reads, run. Nothing may crash, hang or grow without
// bound.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sql/execute/memory_source.h"
#include "sql/execute/select_execution.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql {
namespace {

struct World {
  testing::TestCatalog catalog;
  MemorySource source;

  World() {
    catalog.create(
        "create table t (a int, b bigint, c numeric, d text, e double precision, f boolean, g date, h "
        "timestamptz, "
        "i jsonb, j uuid, k bytea, primary key (a, b))");
    catalog.create("create table u (a int primary key, v text)");
    MemoryTable& rows = source.add_table(*catalog.find_table("", "t"));
    for (int i = 0; i < 3; ++i) {
      Value row[11];
      row[0] = Value::integer(i);
      row[1] = Value::bigint(i * 7);
      row[2] = Value::numeric(Numeric::small(i * 125, 2));
      row[3] = Value::text("text");
      row[8] = Value::jsonb("{\"a\": [1, 2]}");
      rows.add(row);
    }
    source.add_table(*catalog.find_table("", "u"));
  }
};

void run(const Relation& query, World& world) {
  ExecutionSettings settings;
  settings.memory_bytes_max = 1 << 20;
  const auto execution = SelectExecution::start(query, world.source, settings);
  if (!execution.ok()) return;
  constexpr int kBatchesMax = 64;
  Batch batch;
  for (int i = 0; i < kBatchesMax; ++i) {
    const auto pull = (*execution)->next(batch);
    if (!pull.ok() || *pull == Pull::End) return;
  }
}

void take(std::string_view sql) {
  static World world;
  const auto parsed = parse_statements(sql);
  if (!parsed.ok()) return;
  for (const ast::Statement& statement : *parsed) {
    ParamTypes params;
    const auto bound = bind_statement(statement, sql, world.catalog, params);
    if (!bound.ok() || !params.types.empty()) continue;
    if (const auto* select = std::get_if<SelectStatement>(&bound->body)) {
      (void)describe(*select->query);
      run(*select->query, world);
    } else if (const auto* insert = std::get_if<InsertStatement>(&bound->body)) {
      run(*insert->source, world);
    }
  }
}

}  // namespace
}  // namespace tidemark::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tidemark::sql::take({reinterpret_cast<const char*>(data), size});
  return 0;
}
