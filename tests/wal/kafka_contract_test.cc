// The contract on a real broker.
#include "tests/servers/kafka.h"
#include "tests/wal/contract.h"
#include "tests/wal/test_loop.h"
#include "wal/kafka_log.h"

namespace tidemark {
namespace {

// One broker for all tests of the process.
servers::KafkaCluster& broker() {
  static servers::KafkaCluster cluster;
  return cluster;
}

class KafkaEnvironment final : public LogEnvironment {
 public:
  KafkaEnvironment() { restart(); }
  Scheduler& loop() override { return loop_; }
  bool run_until(const std::function<bool()>& holds) override { return loop_.run_until(holds); }
  void run_a_while() override { loop_.run_for(std::chrono::milliseconds(300)); }
  std::unique_ptr<LogStore> connect() override { return logs_->connect(loop_); }
  void restart() override {
    logs_.reset();
    auto opened = KafkaLogs::open({.brokers = broker().bootstrap()});
    logs_ = std::move(*opened);
  }

 private:
  TestLoop loop_;
  std::unique_ptr<KafkaLogs> logs_;
};

std::unique_ptr<LogEnvironment> make_environment() {
  [] { TM_REQUIRE_KAFKA(); }();
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return nullptr;
  return std::make_unique<KafkaEnvironment>();
}

INSTANTIATE_TEST_SUITE_P(Stores, LogContract,
                         testing::Values(LogEnvironmentFactory{"kafka", make_environment}),
                         [](const auto& store) { return store.param.name; });

}  // namespace
}  // namespace tidemark
