#include "sql/session/session.h"

#include "sql/parse/parser.h"
#include "sql/session/errors.h"

namespace tidemark::sql {

namespace {

bool ends_transaction(const BoundStatement& body) {
  const auto* transaction = std::get_if<ast::Transaction>(&body.body);
  return transaction != nullptr && transaction->kind != ast::TransactionKind::Begin;
}

bool is_write(const BoundStatement& body) {
  return std::holds_alternative<InsertStatement>(body.body) ||
         std::holds_alternative<UpdateStatement>(body.body) ||
         std::holds_alternative<DeleteStatement>(body.body) ||
         std::holds_alternative<CopyStatement>(body.body);
}

bool changes_catalog(const BoundStatement& body) {
  return std::holds_alternative<CreateTableStatement>(body.body) ||
         std::holds_alternative<CreateViewStatement>(body.body) ||
         std::holds_alternative<AlterViewStatement>(body.body) ||
         std::holds_alternative<DropStatement>(body.body);
}

bool is_same(const std::vector<ResultColumn>& a, const std::vector<ResultColumn>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ResultColumn& x, const ResultColumn& y) {
    return x.name == y.name && x.type.kind == y.type.kind;
  });
}

using MakeTask = std::unique_ptr<Task> (*)(Running, TaskDone);

// What runs a statement; null for those that are done at once.
struct TaskOf {
  MakeTask operator()(const SelectStatement&) const { return make_select_task; }
  MakeTask operator()(const InsertStatement&) const { return make_insert_task; }
  MakeTask operator()(const CreateTableStatement&) const { return make_catalog_task; }
  MakeTask operator()(const CreateViewStatement&) const { return make_catalog_task; }
  MakeTask operator()(const AlterViewStatement&) const { return make_catalog_task; }
  MakeTask operator()(const DropStatement&) const { return make_catalog_task; }
  MakeTask operator()(const UpdateStatement&) const { return make_change_task; }
  MakeTask operator()(const DeleteStatement&) const { return make_change_task; }
  MakeTask operator()(const CopyStatement&) const { return make_copy_task; }
  MakeTask operator()(const ExplainStatement&) const { return make_explain_task; }
  MakeTask operator()(const HoldWritesStatement&) const { return make_hold_task; }
  template <typename Other>
  MakeTask operator()(const Other&) const {
    return nullptr;
  }
};

}  // namespace

ClusterSession::ClusterSession(ServiceState& service, const SessionRequest& request)
    : service_(service), loop_(service.scheduler) {
  TM_ASSERT(service.catalog != nullptr);
  state_.user = request.user;
  state_.database = request.database.empty() ? request.user : request.database;
  state_.settings.set_default("application_name", request.application);
  state_.settings.set_default("session_authorization", request.user);
}

ClusterSession::~ClusterSession() = default;

SqlStatus ClusterSession::take_settings(const std::vector<StartupSetting>& settings) {
  for (const StartupSetting& one : settings) {
    SqlStatus taken = state_.settings.set_default(one);
    if (!taken.ok() && one.is_option) return taken;
  }
  return {};
}

Result<std::vector<std::string_view>, SqlError> ClusterSession::split(std::string_view text) {
  TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(text));
  std::vector<std::string_view> out;
  for (const ast::Statement& statement : statements) {
    out.push_back(text.substr(static_cast<size_t>(statement.begin),
                              static_cast<size_t>(statement.end - statement.begin)));
  }
  return out;
}

Result<std::shared_ptr<const PreparedStatement>, SqlError> ClusterSession::prepare(
    std::string_view statement, std::span<const TypeKind> parameters) {
  Result<BoundTextPtr, SqlError> bound = BoundText::bind(statement, parameters, service_.catalog);
  if (!bound.ok()) return bound.error();
  return std::shared_ptr<const PreparedStatement>(std::move(*bound));
}

void ClusterSession::execute(std::shared_ptr<const PreparedStatement> statement,
                             std::vector<OwnedValue> parameters, ResultSink& sink, Done done) {
  TM_ASSERT(!done_);
  done_ = std::move(done);
  ++statements_;
  auto bound = std::static_pointer_cast<const BoundText>(std::move(statement));
  loop_.post([this, number = statements_, bound = std::move(bound), parameters = std::move(parameters),
              &sink]() mutable {
    if (number == statements_ && done_) run(std::move(bound), std::move(parameters), sink);
  });
}

void ClusterSession::run(BoundTextPtr statement, std::vector<OwnedValue> parameters, ResultSink& sink) {
  if (statement->body() == nullptr) return end(std::string());
  if (SqlStatus allowed = check_transaction(statement->body()); !allowed.ok()) return end(allowed.error());
  if (statement->catalog()->version() != service_.catalog->version()) {
    Result<BoundTextPtr, SqlError> again = bind_again(*statement);
    if (!again.ok()) return end(again.error());
    statement = std::move(*again);
  }
  watch_timeout();
  const BoundStatement& body = *statement->body();
  if (changes_catalog(body) && state_.transaction.is_open()) {
    sink.notice(error("01000", "changes of the catalog take effect at once: ROLLBACK does not undo them"));
  }
  Running running{service_,
                  state_,
                  sink,
                  statement,
                  std::move(parameters),
                  service_.now_micros(),
                  service_.random.next()};
  if (const auto* asked = std::get_if<ast::Show>(&body.body)) return show(*asked, sink);
  if (const auto* set = std::get_if<ast::Set>(&body.body)) {
    return change_setting(*set, sink);
  }
  if (const auto* transaction = std::get_if<ast::Transaction>(&body.body)) {
    return transact(*transaction, std::move(running));
  }
  if (const auto* name = std::get_if<ast::Deallocate>(&body.body)) {
    return deallocate(*name, sink);
  }
  if (std::holds_alternative<ast::DiscardAll>(body.body)) {
    state_.settings.reset_all();
    state_.tokens.clear();
    sink.forget({});
    tell_settings(sink);
    return end(std::string("DISCARD ALL"));
  }
  may_have_written_ = is_write(body) && !state_.transaction.is_open();
  task_ = make_task(std::move(running));
  task_->start();
}

std::unique_ptr<Task> ClusterSession::make_task(Running running) {
  const MakeTask make = std::visit(TaskOf{}, running.statement->body()->body);
  TM_ASSERT(make != nullptr);
  return make(std::move(running), [this](Result<std::string, SqlError> result) { end(std::move(result)); });
}

Result<BoundTextPtr, SqlError> ClusterSession::bind_again(const BoundText& statement) const {
  TM_SQL_ASSIGN(BoundTextPtr again,
                BoundText::bind(statement.text(), statement.parameters(), service_.catalog));
  if (is_same(again->columns(), statement.columns()) && again->parameters() == statement.parameters())
    return again;
  return error(sqlstate::kFeatureNotSupported, "cached plan must not change result type",
               "Prepare the statement again.");
}

SqlStatus ClusterSession::check_transaction(const BoundStatement* body) const {
  const Transaction& transaction = state_.transaction;
  if (transaction.status() == TransactionStatus::Idle || ends_transaction(*body)) return {};
  if (transaction.status() == TransactionStatus::Failed) {
    return error(sqlstate::kFailedTransaction,
                 "current transaction is aborted, commands ignored until end of transaction block");
  }
  if (transaction.is_read_only() && (is_write(*body) || changes_catalog(*body))) {
    return error(sqlstate::kReadOnlyTransaction, "cannot write in a read-only transaction");
  }
  if (changes_catalog(*body) && transaction.has_writes()) {
    return error(sqlstate::kActiveTransaction, "the catalog can not be changed after writes of a transaction",
                 "Commit first.");
  }
  return {};
}

void ClusterSession::show(const ast::Show& show, ResultSink& sink) {
  if (show.name == "all") {
    for (const Settings::Shown& one : state_.settings.show_all()) {
      const Value row[] = {Value::text(one.name), Value::text(one.value), Value::text(one.description)};
      if (sink.row(row) == Wanted::NoMore) break;
    }
    return end(std::string("SHOW"));
  }
  Result<std::string, SqlError> value = state_.settings.show(show.name);
  if (!value.ok()) return end(value.error());
  const Value row[] = {Value::text(*value)};
  sink.row(row);
  end(std::string("SHOW"));
}

void ClusterSession::change_setting(const ast::Set& statement, ResultSink& sink) {
  SqlStatus done = state_.settings.set(statement);
  if (!done.ok()) return end(done.error());
  if (statement.kind == ast::SetKind::ResetAll) {
    tell_settings(sink);
  } else {
    sink.setting(Settings::shown_name(statement.name), *state_.settings.show(statement.name));
  }
  end(std::string(statement.kind == ast::SetKind::Value ? "SET" : "RESET"));
}

void ClusterSession::tell_settings(ResultSink& sink) {
  for (const Settings::Shown& one : state_.settings.show_all()) sink.setting(one.name, one.value);
}

void ClusterSession::deallocate(const ast::Deallocate& statement, ResultSink& sink) {
  const bool known = sink.forget(statement.name);
  if (statement.name.empty()) return end(std::string("DEALLOCATE ALL"));
  if (known) return end(std::string("DEALLOCATE"));
  end(error(sqlstate::kUndefinedStatement, "prepared statement \"" + statement.name + "\" does not exist"));
}

void ClusterSession::transact(const ast::Transaction& transaction, Running running) {
  Transaction& mine = state_.transaction;
  switch (transaction.kind) {
    case ast::TransactionKind::Begin:
      if (mine.status() == TransactionStatus::Idle) {
        mine.begin(transaction.read_only);
      } else {
        running.sink.notice(
            error(sqlstate::kActiveTransaction, "there is already a transaction in progress"));
      }
      return end(std::string("BEGIN"));
    case ast::TransactionKind::Rollback: {
      if (mine.status() == TransactionStatus::Idle)
        running.sink.notice(error(sqlstate::kNoActiveTransaction, "there is no transaction in progress"));
      mine.end();
      return end(std::string("ROLLBACK"));
    }
    case ast::TransactionKind::Commit: {
      if (mine.status() == TransactionStatus::Idle)
        running.sink.notice(error(sqlstate::kNoActiveTransaction, "there is no transaction in progress"));
      const bool failed = mine.status() == TransactionStatus::Failed;
      if (mine.has_writes()) {
        committing_ = true;
        task_ = make_commit_task(std::move(running), [this](Result<std::string, SqlError> result) {
          committing_ = false;
          state_.transaction.end();
          end(std::move(result));
        });
        return task_->start();
      }
      mine.end();
      return end(std::string(failed ? "ROLLBACK" : "COMMIT"));
    }
  }
  TM_UNREACHABLE();
}

// ---- ends

void ClusterSession::end(Result<std::string, SqlError> result) {
  if (!done_) return;
  if (!result.ok()) fail_transaction();
  task_.reset();
  may_have_written_ = false;
  std::exchange(done_, {})(std::move(result));
}

void ClusterSession::fail_transaction() {
  if (state_.transaction.is_open()) state_.transaction.fail();
}

void ClusterSession::watch_timeout() {
  const int64_t millis = state_.settings.statement_timeout_millis();
  if (millis == 0) return;
  loop_.post_after(Micros{millis * 1000}, [this, number = statements_, watch = ++watches_] {
    if (number != statements_ || watch != watches_) return;
    if (task_ && task_->is_waiting()) return;  // The client's time does not count; resume() watches anew.
    interrupt("canceling statement due to statement timeout");
  });
}

void ClusterSession::resume() {
  if (!task_) return;  // It was interrupted; done() has said so.
  watch_timeout();
  task_->resume();
}

void ClusterSession::interrupt(const char* why) {
  if (!done_ || committing_) return;
  SqlError interrupted = error(sqlstate::kQueryCanceled, why);
  if (may_have_written_) interrupted.detail = "Rows that it has written stay; others may still be written.";
  end(interrupted);
}

void ClusterSession::cancel() {
  loop_.post([this, number = statements_] {
    if (number == statements_) interrupt("canceling statement due to user request");
  });
}

void ClusterSession::copy_data(std::string_view bytes, std::function<void()> taken) {
  if (task_) return task_->copy_data(bytes, std::move(taken));
  loop_.post(std::move(taken));
}

void ClusterSession::copy_end(const std::string* failure) {
  if (task_) task_->copy_end(failure);
}

}  // namespace tidemark::sql
