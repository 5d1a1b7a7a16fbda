// COPY ... FROM STDIN: rows as they come, several chunks of them on their way to regions.
#include "sql/copy/copy_reader.h"
#include "sql/expr/program.h"
#include "sql/parse/parser.h"
#include "sql/session/errors.h"
#include "sql/session/row_writer.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

// What columns are that the data does not have: the row of INSERT ... DEFAULT VALUES.
Result<std::vector<ExpressionPtr>, SqlError> defaults_of(const TableSchema& table, const Catalog& catalog) {
  const std::string sql = "INSERT INTO public." + quoted(table.name) + " DEFAULT VALUES";
  TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(sql));
  ParamTypes params;
  TM_SQL_ASSIGN(BoundStatement bound, bind_statement(statements[0], sql, catalog, params));
  return std::move(std::get<InsertStatement>(bound.body).source->rows[0]);
}

class CopyTask : public Task {
 public:
  CopyTask(Running running, TaskDone done)
      : Task(std::move(running), std::move(done)),
        copy_(body<CopyStatement>()),
        reader_(copy_),
        params_(running_.params()),
        evaluation_(running_.evaluation(params_)) {}

  void start() override {
    Result<std::vector<ExpressionPtr>, SqlError> defaults =
        defaults_of(*copy_.table, *running_.statement->catalog());
    if (!defaults.ok()) return finish(defaults.error());
    for (int column : copy_.columns) (*defaults)[static_cast<size_t>(column)] = null_constant(column);
    defaults_ = Program(*defaults);
    row_.resize(copy_.table->columns.size());
    writer_ = std::make_unique<RowWriter>(running_,
                                          RowWriter::Rules{copy_.table, ast::ConflictAction::Error, nullptr},
                                          RowWriter::Outside{[this] { loop_.post([this] { go_on(); }); },
                                                             [this](SqlStatus status) { on_end(status); }});
    running_.sink.copy_in(copy_.columns.size());
  }

  void copy_data(std::string_view bytes, std::function<void()> taken) override {
    data_ = bytes;
    data_at_ = 0;
    taken_ = std::move(taken);
    go_on();
  }

  void copy_end(const std::string* failure) override {
    if (is_finished()) return;
    if (failure) return finish(error(sqlstate::kQueryCanceled, "COPY from stdin failed: " + *failure));
    batch_.reset(reader_.width());
    SqlStatus status = reader_.finish(batch_);
    if (status.ok()) status = add_batch();
    if (!status.ok()) return finish(status.error());
    writer_->finish();
  }

 private:
  ExpressionPtr null_constant(int column) const {
    return make_constant(Value::null(), copy_.table->columns[static_cast<size_t>(column)].type);
  }

  // Takes what has come, a slice a turn and as long as there is room: a message may be large, and its rows
  // much larger.
  void go_on() {
    constexpr size_t kSliceBytes = 64 << 10;
    if (taken_ == nullptr) return;
    if (!is_finished() && writer_->is_full()) return;
    if (is_finished() || data_at_ == data_.size()) return loop_.post(std::exchange(taken_, {}));
    const std::string_view slice = std::string_view(data_).substr(data_at_, kSliceBytes);
    data_at_ += slice.size();
    batch_.reset(reader_.width());
    SqlStatus status = reader_.feed(slice, batch_);
    if (status.ok()) status = add_batch();
    if (!status.ok()) finish(status.error());
    loop_.post([this] { go_on(); });
  }

  SqlStatus add_batch() {
    for (size_t i = 0; i < batch_.row_count(); ++i) {
      evaluation_.arena.reset();
      const Fault fault = defaults_.run(evaluation_, RowInput(static_cast<const Value*>(nullptr)), row_);
      if (!fault.ok()) return evaluation_.take_error(fault);
      for (size_t k = 0; k < copy_.columns.size(); ++k) {
        row_[static_cast<size_t>(copy_.columns[k])] = batch_.row(i)[k];
      }
      TM_TRY(writer_->add(row_.data()));
    }
    return {};
  }

  void on_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    finish("COPY " + std::to_string(writer_->rows_written()));
  }

  const CopyStatement& copy_;
  CopyReader reader_;
  std::vector<Value> params_;
  Evaluation evaluation_;
  Program defaults_;
  std::vector<Value> row_;
  Batch batch_;
  std::unique_ptr<RowWriter> writer_;
  std::string data_;  // Of the client's last message.
  size_t data_at_ = 0;
  std::function<void()> taken_;  // Once all of it is taken.
};

}  // namespace

std::unique_ptr<Task> make_copy_task(Running running, TaskDone done) {
  return std::make_unique<CopyTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
