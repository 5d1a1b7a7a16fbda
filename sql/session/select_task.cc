// SELECT.
#include "sql/session/query_run.h"
#include "sql/session/read_gate.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

class SelectTask : public Task {
 public:
  using Task::Task;

  void start() override {
    const Relation& query = *body<SelectStatement>().query;
    run_ =
        std::make_unique<QueryRun>(running_, query,
                                   QueryRun::Outside{[this](const Batch& batch) { return on_batch(batch); },
                                                     [this](SqlStatus status) { on_end(status); }});
    gate_ = std::make_unique<ReadGate>(running_, query, [this](SqlStatus status) {
      if (!status.ok()) return finish(status.error());
      run_->start();
    });
    gate_->start();
  }

 private:
  Result<bool, SqlError> on_batch(const Batch& batch) {
    for (size_t i = 0; i < batch.row_count(); ++i) {
      ++rows_;
      if (!running_.sink.row({batch.row(i), batch.width()})) return false;
    }
    return true;
  }

  void on_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    finish("SELECT " + std::to_string(rows_));
  }

  std::unique_ptr<QueryRun> run_;
  std::unique_ptr<ReadGate> gate_;
  uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Task> make_select_task(Running running, TaskDone done) {
  return std::make_unique<SelectTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
