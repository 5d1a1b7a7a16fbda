#include "tests/views/flow_views.h"

namespace tidemark::views {

void add_table(FlowWorld& world, const Step& step) {
  std::vector<FlowWorld::ColumnSpec> columns;
  for (const ScriptColumn& column : step.columns) columns.push_back({column.name, column.type});
  world.create_table(step.name, columns, step.key_columns);
}

void FlowViews::create_table(const Step& step) {
  add_table(world_, step);
}

std::string FlowViews::create_view(const Step& step) {
  return world_.create_view(create_view_sql(step));
}

void FlowViews::write(const std::vector<Step>& batch) {
  std::vector<FlowWorld::Write> writes;
  for (const Step& step : batch) {
    writes.push_back({step.name, step.values, step.kind == StepKind::Delete});
  }
  world_.write(writes);
}

Lines FlowViews::read(const std::string& view, const Lines&) {
  return world_.read(view);
}

}  // namespace tidemark::views
