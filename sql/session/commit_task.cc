// COMMIT of a transaction that has written: all of it in one request to one region.
#include <algorithm>

#include "sql/session/errors.h"
#include "sql/session/row_writer.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

class CommitTask : public Task {
 public:
  CommitTask(Running running, TaskDone done)
      : Task(std::move(running), std::move(done)), writer_(running_.service) {}

  void start() override {
    std::vector<OwnedOperation> operations = running_.session.transaction.take();
    uint64_t version = 0;
    for (const OwnedOperation& operation : operations) {
      const CatalogTablePtr table = running_.service.catalog->table(operation.table);
      if (!table)
        return finish(error(sqlstate::kUndefinedTable, "a table that was written has been dropped"));
      version = std::max(version, table->definition.created());
      tables_.push_back(table);
      undoes_insert_.push_back(undoes_insert(operation));
    }
    writer_.write(std::move(operations), CatalogVersion{version}, Grouping::OneRequest,
                  [this](const WriteResult& result) { on_written(result); });
  }

 private:
  void on_written(const WriteResult& result) {
    if (const std::optional<ClientFailure>& failure = result.operations[0].failure) return fail(*failure);
    for (const CatalogTablePtr& table : tables_)
      running_.session.note_write(table->schema->id, result.tokens);
    finish(std::string("COMMIT"));
  }

  void fail(const ClientFailure& failure) {
    const std::string state = state_of(failure);
    const size_t failed = std::min(failure.operation, tables_.size() - 1);
    const bool found_row = state == sqlstate::kSerializationFailure && undoes_insert_[failed];
    if (state == sqlstate::kUniqueViolation || found_row) {
      return finish(duplicate_key(*tables_[failed]->schema));
    }
    if (state == sqlstate::kSerializationFailure) {
      return finish(error(sqlstate::kSerializationFailure,
                          "could not serialize access: a row was changed since this transaction read it",
                          "Run the transaction again."));
    }
    finish(write_error(failure));
  }

  OperationWriter writer_;
  std::vector<CatalogTablePtr> tables_;  // Of each operation.
  std::vector<bool> undoes_insert_;
};

}  // namespace

std::unique_ptr<Task> make_commit_task(Running running, TaskDone done) {
  return std::make_unique<CommitTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
