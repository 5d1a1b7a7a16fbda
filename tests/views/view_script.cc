#include "tests/views/view_script.h"

#include "base/assert.h"

namespace tidemark::views {

namespace {

std::string value_list(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) {
    if (!out.empty()) out += ", ";
    out += value == "NULL" ? value : "'" + value + "'";
  }
  return out;
}

std::string describe(const Step& step) {
  switch (step.kind) {
    case StepKind::CreateTable: {
      std::string columns, key;
      for (size_t i = 0; i < step.columns.size(); ++i) {
        columns += step.columns[i].name + " " + step.columns[i].type + ", ";
        if (i < step.key_columns) key += (i > 0 ? ", " : "") + step.columns[i].name;
      }
      return "create table " + step.name + " (" + columns + "primary key (" + key + "));";
    }
    case StepKind::CreateView: return create_view_sql(step) + ";";
    case StepKind::DropView: return "drop materialized view " + step.name + ";";
    case StepKind::Upsert: return "upsert into " + step.name + " values (" + value_list(step.values) + ");";
    case StepKind::Delete: return "delete from " + step.name + " key (" + value_list(step.values) + ");";
    case StepKind::Check: return "-- check";
    case StepKind::AddViewManager: return "-- add a view manager";
    case StepKind::RemoveViewManager: return "-- remove a view manager";
    case StepKind::ReplaceViewManager: return "-- replace a view manager";
  }
  TM_UNREACHABLE();
}

}  // namespace

std::string create_view_sql(const Step& step) {
  const std::string options = step.options.empty() ? "" : " with (" + step.options + ")";
  return "create materialized view " + step.name + options + " as " + step.query;
}

std::string describe(const Script& script) {
  std::string out;
  for (const Step& step : script) out += describe(step) + "\n";
  return out;
}

}  // namespace tidemark::views
