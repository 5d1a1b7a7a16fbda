#include "sql/execute/select_execution.h"

#include "sql/execute/operator.h"

namespace tidemark::sql {

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
  TM_SQL_ASSIGN(out->state_->root, execute::make_operator(relation, out->state_->context));
  return out;
}

PullResult SelectExecution::next(Batch& out) {
  return state_->root->next(out);
}

}  // namespace tidemark::sql
