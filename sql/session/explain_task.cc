// EXPLAIN.
#include "sql/parse/parser.h"
#include "sql/session/errors.h"
#include "sql/session/explain.h"
#include "sql/session/query_run.h"
#include "sql/session/read_gate.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

using Lines = std::vector<std::string>;

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class ExplainTask : public Task {
 public:
  using Task::Task;

  void start() override {
    const ExplainStatement& explain = body<ExplainStatement>();
    Result<Lines, SqlError> lines = explain_statement(*explain.statement);
    if (!lines.ok()) return finish(lines.error());
    lines_ = std::move(*lines);
    if (!explain.analyze) return give();
    const auto* select = std::get_if<SelectStatement>(&explain.statement->body);
    if (select == nullptr) {
      return finish(error(sqlstate::kFeatureNotSupported, "EXPLAIN ANALYZE is of SELECT only"));
    }
    analyze(*select->query);
  }

 private:
  struct Explain {
    ExplainTask& task;
    Result<Lines, SqlError> operator()(const SelectStatement& s) const { return explain_query(*s.query); }
    Result<Lines, SqlError> operator()(const InsertStatement& s) const {
      Lines out = explain_query(*s.source);
      out.insert(out.begin(), "Insert into " + s.table->name + ": each region's rows at once");
      return out;
    }
    Result<Lines, SqlError> operator()(const UpdateStatement& s) const {
      return Lines{"Update " + s.table->name +
                   ": one row of one region, read and put if it is still the same"};
    }
    Result<Lines, SqlError> operator()(const DeleteStatement& s) const {
      return Lines{"Delete from " + s.table->name + ": one row of one region, if it is still the same"};
    }
    Result<Lines, SqlError> operator()(const CreateViewStatement&) const { return task.explain_create(); }
    template <typename Other>
    Result<Lines, SqlError> operator()(const Other&) const {
      return error(sqlstate::kFeatureNotSupported, "EXPLAIN of this statement is not supported",
                   "Explain a SELECT, a write, or CREATE MATERIALIZED VIEW.");
    }
  };

  Result<Lines, SqlError> explain_statement(const BoundStatement& statement) {
    return std::visit(Explain{*this}, statement.body);
  }

  // Bound once more: planning uses the query up.
  Result<Lines, SqlError> explain_create() {
    const CatalogSnapshot& catalog = *running_.statement->catalog();
    const std::string& text = running_.statement->text();
    TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(text));
    const ast::Statement& inner = *std::get<ast::Explain>(statements[0].body).statement;
    ParamTypes params;
    TM_SQL_ASSIGN(BoundStatement bound, bind_statement(inner, text, catalog, params));
    auto find = [&](TableId id) -> StoredTablePtr {
      const CatalogTablePtr table = catalog.table(id);
      return table ? table->stored : nullptr;
    };
    TM_SQL_ASSIGN(const ViewPlan plan, plan_bound(std::get<CreateViewStatement>(bound.body), text,
                                                  TableId{catalog.next_id()}, find));
    return explain_view(plan, catalog);
  }

  void analyze(const Relation& query) {
    began_ = loop_.now();
    run_ = std::make_unique<QueryRun>(running_, query,
                                      QueryRun::Outside{[this](const Batch& batch) -> Result<bool, SqlError> {
                                                          rows_ += batch.row_count();
                                                          return true;
                                                        },
                                                        [this](const SqlStatus& status) { on_end(status); }});
    gate_ = std::make_unique<ReadGate>(running_, query, [this](const SqlStatus& status) {
      if (!status.ok()) return finish(status.error());
      run_->start();
    });
    gate_->start();
  }

  void on_end(const SqlStatus& status) {
    if (!status.ok()) return finish(status.error());
    lines_.push_back("Gave " + std::to_string(rows_) + " rows in " +
                     std::to_string((loop_.now().value - began_.value) / 1000) + " ms");
    give();
  }

  void give() {
    if (body<ExplainStatement>().json) {
      std::string json = "[{\"Plan\": [";
      for (size_t i = 0; i < lines_.size(); ++i) json += (i > 0 ? ", " : "") + json_string(lines_[i]);
      lines_ = {json + "]}]"};
    }
    for (const std::string& line : lines_) {
      const Value row[] = {Value::text(line)};
      running_.sink.row(row);
    }
    finish(std::string("EXPLAIN"));
  }

  Lines lines_;
  std::unique_ptr<QueryRun> run_;
  std::unique_ptr<ReadGate> gate_;
  size_t rows_ = 0;
  Micros began_{};
};

}  // namespace

std::unique_ptr<Task> make_explain_task(Running running, TaskDone done) {
  return std::make_unique<ExplainTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
