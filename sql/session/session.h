// Internal to sql/session: a client's conversation with the database.
#pragma once

#include <memory>

#include "sql/session/task.h"

namespace tidemark::sql {

class ClusterSession : public Session {
 public:
  // REQUIRES: the service knows a catalog, and outlives the session.
  ClusterSession(ServiceState& service, const SessionRequest& request);
  ~ClusterSession() override;
  // Of the startup packet. Error: one that had to be taken is none.
  SqlStatus take_settings(const std::vector<StartupSetting>& settings);

  Result<std::vector<std::string_view>, SqlError> split(std::string_view text) override;
  Result<std::shared_ptr<const PreparedStatement>, SqlError> prepare(
      std::string_view statement, std::span<const TypeKind> parameters) override;
  void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
               ResultSink& sink, Done done) override;
  void resume() override;
  void copy_data(std::string_view bytes, std::function<void()> taken) override;
  void copy_end(const std::string* failure) override;
  void cancel() override;
  TransactionStatus transaction_status() const override { return state_.transaction.status(); }
  void fail_transaction() override;

 private:
  void run(BoundTextPtr statement, std::vector<OwnedValue> parameters, ResultSink& sink);
  Result<BoundTextPtr, SqlError> bind_again(const BoundText& statement) const;
  SqlStatus check_transaction(const BoundStatement* body) const;
  std::unique_ptr<Task> make_task(Running running);
  void watch_timeout();
  // Ends the statement under way.
  void end(Result<std::string, SqlError> result);
  void interrupt(const char* why);

  // Statements that need no task.
  void show(const ast::Show& show, ResultSink& sink);
  void change_setting(const ast::Set& statement, ResultSink& sink);
  void tell_settings(ResultSink& sink);
  void deallocate(const ast::Deallocate& statement, ResultSink& sink);
  void transact(const ast::Transaction& transaction, Running running);

  ServiceState& service_;
  GuardedScheduler loop_;
  SessionState state_;
  std::unique_ptr<Task> task_;
  Done done_;
  bool may_have_written_ = false;  // The statement under way.
  bool committing_ = false;        // Can not be cancelled: it ends soon, and must be told how.
  uint64_t statements_ = 0;        // Run so far: timers of older ones do nothing.
  uint64_t watches_ = 0;           // Timers set so far: only the last one counts.
};

}  // namespace tidemark::sql
