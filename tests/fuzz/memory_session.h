// A Session over tables in memory: parses, binds and reads as a real one does, and writes nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/guarded_scheduler.h"
#include "sql/copy/copy_reader.h"
#include "sql/execute/select_execution.h"
#include "sql/gateway/session.h"
#include "tests/fuzz/memory_world.h"

namespace tidemark::sql::testing {

class MemoryStatement;

// Statements of one session end within a bounded number of turns of the loop: SELECTs give up after some
// batches, and hold little.
class MemorySession : public Session {
 public:
  // REQUIRES: both outlive it.
  MemorySession(Scheduler& scheduler, MemoryWorld& world);
  ~MemorySession() override;

  Result<std::vector<std::string_view>, SqlError> split(std::string_view text) override;
  Result<std::shared_ptr<const PreparedStatement>, SqlError> prepare(
      std::string_view statement, std::span<const TypeKind> parameters) override;
  void execute(std::shared_ptr<const PreparedStatement> statement, std::vector<OwnedValue> parameters,
               ResultSink& sink, Done done) override;
  void resume() override;
  void copy_data(std::string_view bytes, std::function<void()> taken) override;
  void copy_end(const std::string* failure) override;
  void cancel() override;
  TransactionStatus transaction_status() const override { return status_; }
  void fail_transaction() override;

 private:
  struct Run;

  void begin();
  void select(const Relation& query);
  void step();
  // Gives what is left of the batch.
  void give();
  void end(Result<std::string, SqlError> result);

  GuardedScheduler loop_;
  MemoryWorld& world_;
  TransactionStatus status_ = TransactionStatus::Idle;
  std::unique_ptr<Run> run_;
  uint64_t runs_ = 0;
};

}  // namespace tidemark::sql::testing
