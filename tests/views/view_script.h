// A history to be lived through by maintained views and by PostgreSQL alike: tables, views, writes, and view
// managers that come and go. Plain data; any step may be left out of it and what remains is still a script.
#pragma once

#include <string>
#include <vector>

namespace tidemark::views {

enum class StepKind : uint8_t {
  CreateTable,
  CreateView,
  DropView,
  Upsert,
  Delete,
  Check,           // The end of a batch: all views are compared.
  AddViewManager,  // For whoever has some.
  RemoveViewManager,
  ReplaceViewManager,  // It dies; another takes over.
};

struct ScriptColumn {
  std::string name, type;
};

struct Step {
  StepKind kind = StepKind::Check;
  std::string name;                   // Of the table or view.
  std::vector<ScriptColumn> columns;  // CreateTable.
  size_t key_columns = 1;             // CreateTable: that many, from the first.
  std::string query;                  // CreateView.
  std::string options;                // CreateView: "distribute_by = 'x'", or nothing.
  std::vector<std::string> values;    // Upsert: of all columns; Delete: of the key. "NULL" is NULL.
};

using Script = std::vector<Step>;

std::string create_view_sql(const Step& step);
// For people, and for psql but for what only Tidemark has.
std::string describe(const Script& script);

}  // namespace tidemark::views
