// UPDATE and DELETE of one row by its key: reads it, decides, and writes if it is still the same
// (docs/decisions/0007-read-modify-write-at-the-gateway.md).
#include "base/row_limits.h"
#include "proto/rows.h"
#include "sql/expr/program.h"
#include "sql/session/errors.h"
#include "sql/session/row_writer.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

constexpr int kAttemptsMax = 1000;

// What both statements have.
struct Change {
  const TableSchema& table;
  const std::vector<ExpressionPtr>& key;
  const Expression* condition;
  const std::vector<BoundAssignment>* set;  // Null: DELETE.
  const ReturningClause& returning;
};

Change change_of(const BoundStatement& body) {
  if (const auto* update = std::get_if<UpdateStatement>(&body.body)) {
    return {*update->table, update->key, update->condition.get(), &update->set, update->returning};
  }
  const auto& remove = std::get<DeleteStatement>(body.body);
  return {*remove.table, remove.key, remove.condition.get(), nullptr, remove.returning};
}

class ChangeTask : public Task {
 public:
  ChangeTask(Running running, TaskDone done)
      : Task(std::move(running), std::move(done)),
        change_(change_of(*running_.statement->body())),
        table_(running_.statement->catalog()->table(change_.table.id)),
        params_(running_.params()),
        evaluation_(running_.evaluation(params_)),
        key_(change_.key),
        returning_(change_.returning.expressions),
        writer_(running_.service) {
    TM_ASSERT(table_ != nullptr);
    if (change_.condition) condition_ = Program(*change_.condition);
    if (change_.set == nullptr) return;
    std::vector<ExpressionPtr> values;
    for (const BoundAssignment& assignment : *change_.set) values.push_back(clone(*assignment.value));
    set_ = Program(values);
  }

  void start() override {
    std::vector<Value> key(key_.result_count());
    const Fault fault = key_.run(evaluation_, RowInput(static_cast<const Value*>(nullptr)), key);
    if (!fault.ok()) return finish(evaluation_.take_error(fault));
    for (const Value& value : key) {
      if (value.is_null()) return succeed(0);  // = NULL is never true.
    }
    at_.hash = table_->codec->encode_key_prefix(key, at_.key);
    if (at_.key.size() > kRowBytesMax) return succeed(0);  // No row has such a key.
    give_up_ = Micros{loop_.now().value + kCatalogDeadline.value};
    read();
  }

 private:
  void read() {
    if (auto own = running_.session.transaction.find(change_.table.id, at_.key)) return on_row(own->row);
    if (attempts_++ == kAttemptsMax) {
      return finish(error(sqlstate::kSerializationFailure, "the row is changed by others all the time"));
    }
    running_.service.client.get(change_.table.id, {at_},
                                [this, alive = loop_.token()](Result<std::string, ClientFailure> rows) {
                                  if (!alive.expired()) on_read(std::move(rows));
                                });
  }

  void on_read(Result<std::string, ClientFailure> rows) {
    if (!rows.ok()) {
      const bool is_known = running_.service.catalog->table(change_.table.id) != nullptr;
      const bool is_stale = rows.error().code == ClientError::StaleCatalog;
      if (!is_stale || !is_known || loop_.now() > give_up_) return finish(read_error(rows.error()));
      return loop_.post_after(kCatalogRetryDelay, [this] { read(); });
    }
    StoredRow stored;
    std::optional<std::string> row;
    if (RowReader reader(*rows); reader.next(stored)) row = std::string(stored.row);
    on_row(row);
  }

  void on_row(const std::optional<std::string>& present) {
    if (!present) return confirm(present);
    evaluation_.arena.reset();
    Result<bool, SqlError> wanted = decide(*present);
    if (!wanted.ok()) return finish(wanted.error());
    if (!*wanted) return confirm(present);
    // Before the write: if it fails, nothing is written.
    returned_.resize(returning_.result_count());
    const Fault fault = returning_.run(evaluation_, RowInput(values_.data()), returned_);
    if (!fault.ok()) return finish(evaluation_.take_error(fault));
    OwnedOperation operation =
        operation_of(change_.set ? OperationKind::CompareAndPut : OperationKind::CompareAndDelete);
    operation.expected = present;
    if (change_.set) operation.row = after_.row;
    write(std::move(operation), 1);
  }

  // Nothing is to be changed in what was read. Who has answered the read may have been replaced without
  // knowing it; "0 rows" is told by an owner who has proved that it is one, and that it has the same. A
  // transaction does not keep others from changing the row, so its reads prove nothing anyway.
  void confirm(const std::optional<std::string>& present) {
    if (running_.session.transaction.is_open()) return succeed(0);
    OwnedOperation operation =
        operation_of(present ? OperationKind::CompareAndPut : OperationKind::CompareAndDelete);
    operation.expected = present;
    if (present) operation.row = *present;
    write(std::move(operation), 0);
  }

  OwnedOperation operation_of(OperationKind kind) const {
    OwnedOperation out;
    out.kind = kind;
    out.table = change_.table.id;
    out.hash = at_.hash;
    out.key = at_.key;
    return out;
  }

  // Whether the row is to be changed; then `values_` and `after_` are what it becomes, or was.
  Result<bool, SqlError> decide(const std::string& present) {
    before_ = present;  // The values point into it.
    Fault fault = table_->codec->decode(at_.key, before_, evaluation_.arena, values_);
    if (!fault.ok()) return to_error(fault);
    const RowInput input(values_.data());
    if (condition_.result_count() > 0) {
      Value keep;
      fault = condition_.run(evaluation_, input, keep);
      if (!fault.ok()) return evaluation_.take_error(fault);
      if (keep.is_null() || !keep.as_bool()) return false;
    }
    if (change_.set == nullptr) return true;
    std::vector<Value> results(set_.result_count());
    fault = set_.run(evaluation_, input, results);
    if (!fault.ok()) return evaluation_.take_error(fault);
    for (size_t i = 0; i < results.size(); ++i) {
      values_[static_cast<size_t>((*change_.set)[i].column)] = results[i];
    }
    TM_TRY(check_not_null(change_.table, values_.data()));
    table_->codec->encode(values_, after_);
    TM_TRY(check_size(after_));
    return true;
  }

  void write(OwnedOperation operation, int rows) {
    Transaction& transaction = running_.session.transaction;
    if (transaction.is_open()) {
      if (SqlStatus added = transaction.add(std::move(operation)); !added.ok()) return finish(added.error());
      return succeed(rows);
    }
    std::vector<OwnedOperation> operations;
    operations.push_back(std::move(operation));
    writer_.write(std::move(operations), CatalogVersion{table_->definition.created()}, Grouping::Alone,
                  [this, rows](const WriteResult& result) { on_written(result, rows); });
  }

  void on_written(const WriteResult& result, int rows) {
    const std::optional<ClientFailure>& failure = result.operations[0].failure;
    if (!failure) {
      running_.session.note_write(change_.table.id, result.tokens);
      return succeed(rows);
    }
    if (state_of(*failure) == sqlstate::kSerializationFailure) return read();  // Somebody was faster.
    finish(write_error(*failure));
  }

  void succeed(int rows) {
    if (rows > 0 && !returned_.empty()) running_.sink.row(returned_);
    finish((change_.set ? "UPDATE " : "DELETE ") + std::to_string(rows));
  }

  const Change change_;
  CatalogTablePtr table_;
  std::vector<Value> params_;
  Evaluation evaluation_;
  Program key_, condition_, set_, returning_;
  OperationWriter writer_;
  KeyOfTable at_;
  std::string before_;
  std::vector<Value> values_;
  std::vector<Value> returned_;  // In the evaluation's memory.
  EncodedRow after_;
  int attempts_ = 0;
  Micros give_up_{};
};

}  // namespace

std::unique_ptr<Task> make_change_task(Running running, TaskDone done) {
  return std::make_unique<ChangeTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
