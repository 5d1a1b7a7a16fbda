// INSERT: the rows of a query, written.
#include <algorithm>

#include "sql/session/query_run.h"
#include "sql/session/read_gate.h"
#include "sql/session/row_writer.h"
#include "sql/session/task.h"
#include "sql/session/token_paths.h"

namespace tidemark::sql {

namespace {

// Whether the query would see rows that are written to the table while it runs, itself or through a view.
bool reads(const Relation& query, TableId table, const CatalogSnapshot& catalog) {
  const std::vector<TableSchemaPtr> tables = tables_of(query);
  return std::any_of(tables.begin(), tables.end(), [&](const TableSchemaPtr& one) {
    if (one->id == table) return true;
    if (one->kind != SchemaKind::View) return false;
    const std::vector<TableId> behind = tables_behind(catalog, one->id);
    return std::find(behind.begin(), behind.end(), table) != behind.end();
  });
}

class InsertTask : public Task {
 public:
  using Task::Task;

  void start() override {
    const InsertStatement& insert = body<InsertStatement>();
    writer_ = std::make_unique<RowWriter>(
        running_, RowWriter::Rules{insert.table, insert.on_conflict, &insert},
        RowWriter::Outside{[this] { query_->resume(); }, [this](SqlStatus status) { on_end(status); }});
    query_ =
        std::make_unique<QueryRun>(running_, *insert.source,
                                   QueryRun::Outside{[this](const Batch& batch) { return on_batch(batch); },
                                                     [this](SqlStatus status) { on_query_end(status); }});
    if (reads(*insert.source, insert.table->id, *running_.statement->catalog())) query_->read_whole();
    gate_ = std::make_unique<ReadGate>(running_, *insert.source, [this](SqlStatus status) {
      if (!status.ok()) return finish(status.error());
      query_->start();
    });
    gate_->start();
  }

 private:
  Result<bool, SqlError> on_batch(const Batch& batch) {
    for (size_t i = 0; i < batch.row_count(); ++i) TM_TRY(writer_->add(batch.row(i)));
    if (writer_->is_full()) query_->pause();
    return true;
  }

  void on_query_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    writer_->finish();
  }

  void on_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    finish("INSERT 0 " + std::to_string(writer_->rows_written()));
  }

  std::unique_ptr<RowWriter> writer_;
  std::unique_ptr<QueryRun> query_;
  std::unique_ptr<ReadGate> gate_;
};

}  // namespace

std::unique_ptr<Task> make_insert_task(Running running, TaskDone done) {
  return std::make_unique<InsertTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
