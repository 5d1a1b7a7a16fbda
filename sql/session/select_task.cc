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

  bool is_waiting() const override { return waiting_; }

  void resume() override {
    TM_ASSERT(waiting_);
    waiting_ = false;
    loop_.post([this] {
      if (is_finished()) return;
      if (!give()) return on_end({});
      if (!waiting_) run_->resume();
    });
  }

 private:
  Result<bool, SqlError> on_batch(const Batch& batch) {
    batch_ = &batch;
    at_ = 0;
    return give();
  }

  // Gives the rows of the batch that are left, until the sink wants them later. False: it wants no more.
  bool give() {
    while (at_ < batch_->row_count()) {
      ++rows_;
      const Wanted wanted = running_.sink.row({batch_->row(at_++), batch_->width()});
      if (wanted == Wanted::NoMore) return false;
      if (wanted == Wanted::Later) {
        wait();
        return true;
      }
    }
    return true;
  }

  // The batch stays as it is: the run takes no other one.
  void wait() {
    waiting_ = true;
    run_->pause();
    loop_.post([this] {
      if (!is_finished()) running_.sink.paused();
    });
  }

  void on_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    finish("SELECT " + std::to_string(rows_));
  }

  std::unique_ptr<QueryRun> run_;
  std::unique_ptr<ReadGate> gate_;
  const Batch* batch_ = nullptr;  // The run's.
  size_t at_ = 0;
  bool waiting_ = false;
  uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Task> make_select_task(Running running, TaskDone done) {
  return std::make_unique<SelectTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
