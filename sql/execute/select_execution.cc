#include "sql/execute/select_execution.h"

#include <algorithm>

#include "sql/execute/operator.h"

namespace tidemark::sql {

namespace {

// How many slots for outer values the queries in expressions need.
size_t count_slots(const Relation& relation) {
  size_t out = 0;
  for (int slot : relation.slots) out = std::max(out, static_cast<size_t>(slot) + 1);
  for (const RelationPtr& input : relation.inputs) out = std::max(out, count_slots(*input));
  return out;
}

}  // namespace

struct SelectExecution::State {
  ExecutionSettings settings;
  execute::Context context;
  execute::OperatorPtr root;

  State(ExecutionSettings given, RowSource& source) : settings(std::move(given)), context{source, settings} {}
};

SelectExecution::~SelectExecution() = default;

Result<std::unique_ptr<SelectExecution>, SqlError> SelectExecution::start(const Relation& relation,
                                                                          RowSource& source,
                                                                          ExecutionSettings settings) {
  std::unique_ptr<SelectExecution> out(new SelectExecution());
  out->state_ = std::make_unique<State>(std::move(settings), source);
  State& state = *out->state_;
  state.context.outer.resize(count_slots(relation));
  TM_SQL_ASSIGN(state.root, execute::make_operator(relation, state.context));
  if (state.settings.reads_whole) {
    state.root = execute::make_whole(relation.columns.size(), std::move(state.root), state.context);
  }
  return out;
}

PullResult SelectExecution::next(Batch& out) {
  state_->context.turn_rows_left = kTurnRows;
  return state_->root->next(out);
}

}  // namespace tidemark::sql
