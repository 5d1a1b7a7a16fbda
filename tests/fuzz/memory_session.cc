#include "tests/fuzz/memory_session.h"

#include "sql/parse/parser.h"

namespace tidemark::sql::testing {

namespace {

constexpr size_t kMemoryBytesMax = 1 << 20;
constexpr int kBatchesMax = 6;

std::vector<ResultColumn> plain(const std::vector<RelationColumn>& columns) {
  std::vector<ResultColumn> out;
  for (const RelationColumn& column : columns) out.push_back({column.name, column.type});
  return out;
}

}  // namespace

class MemoryStatement : public PreparedStatement {
 public:
  static Result<std::shared_ptr<const MemoryStatement>, SqlError> bind(std::string_view text,
                                                                       std::span<const TypeKind> parameters,
                                                                       const Catalog& catalog) {
    auto out = std::make_shared<MemoryStatement>();
    out->text_ = text;
    TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(out->text_));
    if (statements.empty()) return std::shared_ptr<const MemoryStatement>(out);
    if (statements.size() > 1) return SqlError{"42601", "several statements", 0, {}, {}};
    ParamTypes types;
    for (size_t i = 0; i < parameters.size(); ++i) types.at(static_cast<int>(i)) = SqlType::of(parameters[i]);
    TM_SQL_ASSIGN(BoundStatement bound, bind_statement(statements[0], out->text_, catalog, types));
    for (const SqlType& type : types.types) {
      if (type.kind == TypeKind::Unknown) return SqlError{"42P18", "a parameter has no type", 0, {}, {}};
      out->parameters_.push_back(type.kind);
    }
    out->body_ = std::make_unique<const BoundStatement>(std::move(bound));
    if (const auto* select = std::get_if<SelectStatement>(&out->body_->body)) {
      out->columns_ = plain(select->query->columns);
    } else if (std::holds_alternative<ast::Show>(out->body_->body)) {
      out->columns_ = {{"setting", SqlType::of(TypeKind::Text)}};
    }
    return std::shared_ptr<const MemoryStatement>(out);
  }

  const std::vector<TypeKind>& parameters() const override { return parameters_; }
  const std::vector<ResultColumn>& columns() const override { return columns_; }
  const BoundStatement* body() const { return body_.get(); }

 private:
  std::string text_;
  std::unique_ptr<const BoundStatement> body_;
  std::vector<TypeKind> parameters_;
  std::vector<ResultColumn> columns_;
};

// One statement under way.
struct MemorySession::Run {
  std::shared_ptr<const MemoryStatement> statement;
  std::vector<OwnedValue> parameters;
  ResultSink& sink;
  Done done;
  std::unique_ptr<SelectExecution> execution = nullptr;
  Batch batch = {};
  size_t at = 0;
  int batches = 0;
  uint64_t rows = 0;
  std::optional<CopyReader> copy = std::nullopt;
};

MemorySession::MemorySession(Scheduler& scheduler, MemoryWorld& world) : loop_(scheduler), world_(world) {}
MemorySession::~MemorySession() = default;

Result<std::vector<std::string_view>, SqlError> MemorySession::split(std::string_view text) {
  TM_SQL_ASSIGN(const std::vector<ast::Statement> statements, parse_statements(text));
  std::vector<std::string_view> out;
  for (const ast::Statement& statement : statements) {
    out.push_back(text.substr(static_cast<size_t>(statement.begin),
                              static_cast<size_t>(statement.end - statement.begin)));
  }
  return out;
}

Result<std::shared_ptr<const PreparedStatement>, SqlError> MemorySession::prepare(
    std::string_view statement, std::span<const TypeKind> parameters) {
  auto bound = MemoryStatement::bind(statement, parameters, world_.catalog);
  if (!bound.ok()) return bound.error();
  return std::shared_ptr<const PreparedStatement>(std::move(*bound));
}

void MemorySession::execute(std::shared_ptr<const PreparedStatement> statement,
                            std::vector<OwnedValue> parameters, ResultSink& sink, Done done) {
  TM_ASSERT(run_ == nullptr);
  run_.reset(new Run{std::static_pointer_cast<const MemoryStatement>(statement), std::move(parameters), sink,
                     std::move(done)});
  TM_ASSERT(run_->parameters.size() == statement->parameters().size());
  ++runs_;
  loop_.post([this, number = runs_] {
    if (run_ && number == runs_) begin();
  });
}

void MemorySession::begin() {
  const BoundStatement* body = run_->statement->body();
  if (body == nullptr) return end(std::string());
  if (const auto* transaction = std::get_if<ast::Transaction>(&body->body)) {
    const bool begins = transaction->kind == ast::TransactionKind::Begin;
    status_ = begins ? TransactionStatus::InTransaction : TransactionStatus::Idle;
    return end(std::string(begins ? "BEGIN" : "COMMIT"));
  }
  if (status_ == TransactionStatus::Failed) return end(SqlError{"25P02", "it has failed", 0, {}, {}});
  if (const auto* read = std::get_if<SelectStatement>(&body->body)) return select(*read->query);
  if (const auto* copy = std::get_if<CopyStatement>(&body->body)) {
    run_->copy.emplace(*copy);
    return run_->sink.copy_in(copy->columns.size());
  }
  if (const auto* named = std::get_if<ast::Deallocate>(&body->body)) {
    if (!run_->sink.forget(named->name)) return end(SqlError{"26000", "no such statement", 0, {}, {}});
  }
  if (std::holds_alternative<ast::Show>(body->body)) {
    const Value row[] = {Value::text("on")};
    for (int i = 0; i < 3; ++i) run_->sink.row(row);  // It does not wait.
  }
  run_->sink.notice({"01000", "nothing was done", 0, {}, {}});
  end(std::string("DONE"));
}

void MemorySession::select(const Relation& query) {
  ExecutionSettings settings;
  settings.memory_bytes_max = kMemoryBytesMax;
  for (const OwnedValue& value : run_->parameters) settings.params.push_back(value.get());
  auto execution = SelectExecution::start(query, world_.source, std::move(settings));
  if (!execution.ok()) return end(execution.error());
  run_->execution = std::move(*execution);
  step();
}

void MemorySession::step() {
  if (++run_->batches > kBatchesMax) return end("SELECT " + std::to_string(run_->rows));
  const PullResult pull = run_->execution->next(run_->batch);
  if (!pull.ok()) return end(pull.error());
  if (*pull == Pull::End) return end("SELECT " + std::to_string(run_->rows));
  run_->at = 0;
  give();
}

void MemorySession::give() {
  while (run_->at < run_->batch.row_count()) {
    ++run_->rows;
    const Wanted wanted = run_->sink.row({run_->batch.row(run_->at++), run_->batch.width()});
    if (wanted == Wanted::NoMore) return end("SELECT " + std::to_string(run_->rows));
    if (wanted == Wanted::Later) {
      return loop_.post([this, number = runs_] {
        if (run_ && number == runs_) run_->sink.paused();
      });
    }
  }
  loop_.post([this, number = runs_] {
    if (run_ && number == runs_) step();
  });
}

void MemorySession::resume() {
  loop_.post([this, number = runs_] {
    if (run_ && number == runs_) give();
  });
}

void MemorySession::copy_data(std::string_view bytes, std::function<void()> taken) {
  if (run_ && run_->copy) {
    run_->batch.reset(run_->copy->width());
    const SqlStatus status = run_->copy->feed(bytes, run_->batch);
    run_->rows += run_->batch.row_count();
    if (!status.ok()) {
      run_->copy.reset();
      loop_.post([this, number = runs_, error = status.error()] {
        if (number == runs_) end(error);
      });
    }
  }
  loop_.post(std::move(taken));
}

void MemorySession::copy_end(const std::string* failure) {
  if (!run_ || !run_->copy) return;
  run_->batch.reset(run_->copy->width());
  SqlStatus status =
      failure ? SqlStatus(SqlError{"57014", *failure, 0, {}, {}}) : run_->copy->finish(run_->batch);
  run_->copy.reset();
  loop_.post([this, number = runs_, status, rows = run_->rows + run_->batch.row_count()] {
    if (number != runs_) return;
    if (!status.ok()) return end(status.error());
    end("COPY " + std::to_string(rows));
  });
}

void MemorySession::cancel() {
  loop_.post([this, number = runs_] {
    if (run_ && number == runs_) end(SqlError{"57014", "canceling statement", 0, {}, {}});
  });
}

void MemorySession::fail_transaction() {
  if (status_ != TransactionStatus::Idle) status_ = TransactionStatus::Failed;
}

void MemorySession::end(Result<std::string, SqlError> result) {
  if (!run_) return;
  if (!result.ok()) fail_transaction();
  const std::unique_ptr<Run> run = std::move(run_);
  run->done(std::move(result));
}

}  // namespace tidemark::sql::testing
