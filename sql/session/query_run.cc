#include "sql/session/query_run.h"

namespace tidemark::sql {

QueryRun::QueryRun(const Running& running, const Relation& query, Outside outside)
    : query_(query),
      outside_(std::move(outside)),
      settings_(running.execution_settings()),
      loop_(running.service.scheduler),
      source_(running.service, running.session, running.statement->catalog(), [this] { go_on(); }) {}

void QueryRun::start() {
  Result<std::unique_ptr<SelectExecution>, SqlError> execution =
      SelectExecution::start(query_, source_, settings_);
  if (!execution.ok()) return end(execution.error());
  execution_ = std::move(*execution);
  go_on();
}

void QueryRun::resume() {
  paused_ = false;
  go_on();
}

void QueryRun::go_on() {
  if (scheduled_ || paused_ || ended_) return;
  scheduled_ = true;
  loop_.post([this] {
    scheduled_ = false;
    if (!paused_ && !ended_) step();
  });
}

// One batch a turn. A cursor that is waited for calls go_on() when it has more.
void QueryRun::step() {
  PullResult pull = execution_->next(batch_);
  if (!pull.ok()) return end(pull.error());
  if (*pull == Pull::End) return end({});
  if (*pull == Pull::Pending) return;
  if (batch_.row_count() > 0) {
    Result<bool, SqlError> wanted = outside_.on_batch(batch_);
    if (!wanted.ok()) return end(wanted.error());
    if (!*wanted) return end({});
  }
  go_on();
}

void QueryRun::end(SqlStatus status) {
  ended_ = true;
  loop_.post([this, status = std::move(status)] { outside_.on_end(status); });
}

}  // namespace tidemark::sql
