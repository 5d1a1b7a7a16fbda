#include "sql/gateway/metered_session.h"

#include <utility>

namespace tidemark::sql {

namespace {

const char kStatements[] = "SQL statements, by what came of them.";
constexpr char kCancelled[] = "57014";

class MeteredSession : public Session {
 public:
  MeteredSession(std::unique_ptr<Session> session, Scheduler& scheduler, GatewayMetrics& metrics)
      : session_(std::move(session)), scheduler_(scheduler), metrics_(metrics) {}

  Result<std::vector<std::string_view>, SqlError> split(std::string_view text) override {
    auto statements = session_->split(text);
    if (!statements.ok()) metrics_.on_statement(&statements.error(), Micros{0});
    return statements;
  }

  Result<std::shared_ptr<const PreparedStatement>, SqlError> prepare(
      std::string_view statement, std::span<const TypeKind> parameters) override {
    auto prepared = session_->prepare(statement, parameters);
    if (!prepared.ok()) metrics_.on_statement(&prepared.error(), Micros{0});
    return prepared;
  }

  void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
               ResultSink& sink, Done done) override {
    session_->execute(std::move(statement), std::move(parameters), sink,
                      [this, begun = scheduler_.now(), done = std::move(done)](auto result) {
                        Micros took{scheduler_.now().value - begun.value};
                        metrics_.on_statement(result.ok() ? nullptr : &result.error(), took);
                        done(std::move(result));
                      });
  }

  void copy_data(std::string_view bytes, std::function<void()> taken) override {
    session_->copy_data(bytes, std::move(taken));
  }
  void copy_end(const std::string* failure) override { session_->copy_end(failure); }
  void resume() override { session_->resume(); }
  void cancel() override { session_->cancel(); }
  TransactionStatus transaction_status() const override { return session_->transaction_status(); }
  void fail_transaction() override { session_->fail_transaction(); }

 private:
  std::unique_ptr<Session> session_;
  Scheduler& scheduler_;
  GatewayMetrics& metrics_;
};

MetricName statements(const char* outcome) {
  return {"tidemark_sql_statements_total", kStatements, {{"outcome", outcome}}};
}

}  // namespace

GatewayMetrics::GatewayMetrics(Metrics& metrics)
    : connections_(metrics.gauge({"tidemark_sql_connections", "Connections of PostgreSQL clients open."})),
      done_(metrics.counter(statements("done"))),
      failed_(metrics.counter(statements("failed"))),
      cancelled_(metrics.counter(statements("cancelled"))),
      seconds_(metrics.histogram({"tidemark_sql_statement_seconds",
                                  "Time from a statement's execution until its last row or its failure."},
                                 duration_bounds())) {}

void GatewayMetrics::on_statement(const SqlError* failure, Micros took) {
  seconds_.observe(static_cast<double>(took.value) / 1e6);
  if (failure == nullptr) return done_.add(1);
  (failure->state == kCancelled ? cancelled_ : failed_).add(1);
}

std::unique_ptr<Session> metered(std::unique_ptr<Session> session, Scheduler& scheduler,
                                 GatewayMetrics& metrics) {
  return std::make_unique<MeteredSession>(std::move(session), scheduler, metrics);
}

}  // namespace tidemark::sql
