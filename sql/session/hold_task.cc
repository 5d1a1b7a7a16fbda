// Holding client writes, and letting them go.
#include "sql/session/errors.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

constexpr Micros kAnswerDeadline{5'000'000};

class HoldTask : public Task {
 public:
  using Task::Task;

  void start() override {
    const HoldWritesStatement& hold = body<HoldWritesStatement>();
    running_.service.changer.hold_writes(Micros{hold.micros}, loop_.token(), [this] {
      if (is_finished()) return;
      const Value row[] = {Value::boolean(true)};
      running_.sink.row(row);
      finish(std::string("SELECT 1"));
    });
    loop_.post_after(kAnswerDeadline, [this] {
      finish(error(sqlstate::kUnavailable, "not every node has answered",
                   "Where writes are held, that ends by itself."));
    });
  }
};

}  // namespace

std::unique_ptr<Task> make_hold_task(Running running, TaskDone done) {
  return std::make_unique<HoldTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
