// Internal to sql/session: a statement that runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded_scheduler.h"
#include "sql/execute/select_execution.h"
#include "sql/session/service_state.h"
#include "sql/session/settings.h"
#include "sql/session/statement.h"
#include "sql/session/transaction.h"

namespace tidemark::sql {

// What a session remembers between statements.
struct SessionState {
  std::string user, database;
  Settings settings;
  Transaction transaction;
  // Of the session's own writes, by table: reads that wait for them see them.
  std::map<TableId, LaneRuns> tokens;
  uint64_t writes = 0;                  // Acknowledged ones.
  std::map<TableId, uint64_t> seen_by;  // Views that reflect so many of them.
  pb::FreshnessReply freshness;         // Of views, as told to the last statement that asked.

  void note_write(TableId table, const LaneRuns& written) {
    tokens[table].raise(written);
    ++writes;
  }
};

// What one run of a statement has. The vectors live as long as the task.
struct Running {
  ServiceState& service;
  SessionState& session;
  ResultSink& sink;
  BoundTextPtr statement;
  std::vector<OwnedValue> parameters;
  int64_t now_micros = 0;
  uint64_t random_seed = 0;

  ExecutionSettings execution_settings() const;
  Evaluation evaluation(const std::vector<Value>& params) const;
  std::vector<Value> params() const;
};

using TaskDone = std::function<void(Result<std::string, SqlError>)>;  // The command tag.

// Lives on the loop. Destroying it ends what is under way; then nothing is called any more.
class Task {
 public:
  Task(Running running, TaskDone done)
      : running_(std::move(running)), loop_(running_.service.scheduler), done_(std::move(done)) {}
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  virtual void start() = 0;
  virtual void copy_data(std::string_view, std::function<void()> taken) { loop_.post(std::move(taken)); }
  virtual void copy_end(const std::string* /*failure*/) {}
  // After the sink was told that the statement waits. REQUIRES: is_waiting().
  virtual void resume() { TM_UNREACHABLE(); }
  // Whether it waits for the client to take rows.
  virtual bool is_waiting() const { return false; }

 protected:
  // Once. The task is destroyed by it at the next turn of the loop.
  void finish(Result<std::string, SqlError> result) {
    if (finished_) return;
    finished_ = true;
    loop_.post([this, result = std::move(result)] {
      const TaskDone done = std::move(done_);  // It destroys the task.
      done(result);
    });
  }
  bool is_finished() const { return finished_; }
  template <typename Statement>
  const Statement& body() const {
    return std::get<Statement>(running_.statement->body()->body);
  }

  Running running_;
  GuardedScheduler loop_;

 private:
  TaskDone done_;
  bool finished_ = false;
};

std::unique_ptr<Task> make_select_task(Running running, TaskDone done);
std::unique_ptr<Task> make_insert_task(Running running, TaskDone done);
std::unique_ptr<Task> make_change_task(Running running, TaskDone done);  // UPDATE, DELETE.
std::unique_ptr<Task> make_copy_task(Running running, TaskDone done);
std::unique_ptr<Task> make_commit_task(Running running, TaskDone done);
std::unique_ptr<Task> make_explain_task(Running running, TaskDone done);
std::unique_ptr<Task> make_catalog_task(Running running, TaskDone done);
std::unique_ptr<Task> make_hold_task(Running running, TaskDone done);

}  // namespace tidemark::sql
