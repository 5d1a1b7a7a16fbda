// The contract on logs in memory and in files.
#include <filesystem>

#include "tests/simulation/virtual_scheduler.h"
#include "tests/wal/contract.h"
#include "tests/wal/temporary_directory.h"
#include "tests/wal/test_loop.h"
#include "wal/file_log.h"
#include "wal/memory_log.h"

namespace tidemark {
namespace {

class MemoryEnvironment final : public LogEnvironment {
 public:
  explicit MemoryEnvironment(MemoryLogKind kind) : kind_(kind), logs_(kind, loop_, Random(7)) {}
  Scheduler& loop() override { return loop_; }
  bool run_until(const std::function<bool()>& holds) override { return loop_.run_while_not(holds); }
  void run_a_while() override { loop_.run_until(Micros{loop_.now().value + 10'000'000}); }
  std::unique_ptr<LogStore> connect() override { return logs_.connect(loop_); }
  void restart() override {
    if (kind_ == MemoryLogKind::Disk) logs_.crash();
  }

 private:
  VirtualScheduler loop_;
  MemoryLogKind kind_;
  MemoryLogs logs_;
};

class FileEnvironment final : public LogEnvironment {
 public:
  FileEnvironment() { restart(); }
  Scheduler& loop() override { return loop_; }
  bool run_until(const std::function<bool()>& holds) override { return loop_.run_until(holds); }
  void run_a_while() override { loop_.run_for(std::chrono::milliseconds(50)); }
  std::unique_ptr<LogStore> connect() override { return logs_->connect(loop_); }
  void restart() override {
    logs_.reset();
    auto opened =
        FileLogs::open({.directory = directory_.path() / "logs", .stream = {.segment_bytes = 32'000}});
    logs_ = std::move(*opened);
  }

 private:
  TemporaryDirectory directory_;
  TestLoop loop_;
  std::unique_ptr<FileLogs> logs_;
};

INSTANTIATE_TEST_SUITE_P(
    Stores, LogContract,
    testing::Values(
        LogEnvironmentFactory{"memory_kafka",
                              [] { return std::make_unique<MemoryEnvironment>(MemoryLogKind::Kafka); }},
        LogEnvironmentFactory{"memory_disk",
                              [] { return std::make_unique<MemoryEnvironment>(MemoryLogKind::Disk); }},
        LogEnvironmentFactory{"file", [] { return std::make_unique<FileEnvironment>(); }}),
    [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace tidemark
