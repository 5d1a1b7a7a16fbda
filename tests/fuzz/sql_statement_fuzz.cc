// Any bytes as a statement: parsed, bound, and if it reads, run. Nothing may crash, hang or grow without
// bound.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sql/execute/select_execution.h"
#include "tests/fuzz/memory_world.h"

namespace tidemark::sql {
namespace {

void run(const Relation& query, testing::MemoryWorld& world) {
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
  static testing::MemoryWorld world;
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
