// What every store of logs must give. contract_suite.cc has the tests; a store gives an environment and
// instantiates LogContract with it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/scheduler.h"
#include "wal/log.h"

namespace tidemark {

// A store and the loop it runs on.
class LogEnvironment {
 public:
  virtual ~LogEnvironment() = default;
  virtual Scheduler& loop() = 0;
  virtual bool run_until(const std::function<bool()>& holds) = 0;
  // Runs whatever is under way, long enough that what must not happen would have happened.
  virtual void run_a_while() = 0;
  virtual std::unique_ptr<LogStore> connect() = 0;
  // The process ends and another begins. REQUIRES: all that came from connect() is gone.
  virtual void restart() = 0;
};

struct LogEnvironmentFactory {
  std::string name;
  std::function<std::unique_ptr<LogEnvironment>()> make;  // nullptr: skip, said why.
};
inline std::ostream& operator<<(std::ostream& out, const LogEnvironmentFactory& it) {
  return out << it.name;
}

class LogContract : public testing::TestWithParam<LogEnvironmentFactory> {
 protected:
  void SetUp() override {
    environment_ = GetParam().make();
    if (environment_ == nullptr) GTEST_SKIP();
    store_ = environment_->connect();
  }
  void TearDown() override { store_.reset(); }

  // A stream of its own for each test, created.
  StreamId new_stream();
  std::unique_ptr<Log> open(StreamId stream);
  Result<void, LogFailure> create(StreamId stream);
  Result<void, LogFailure> remove(StreamId stream);
  Result<Offset, LogFailure> append(Log& log, const std::string& bytes);
  Log::Bounds bounds(Log& log);
  // The next `count` entries at `from`, in as many reads as that takes.
  std::vector<LogEntry> read(Log& log, Offset from, size_t count, size_t bytes_max = 1 << 20);
  Result<std::vector<LogEntry>, LogFailure> read_once(LogReader& reader, size_t bytes_max = 1 << 20);
  template <typename Done>
  void run_until(Done done) {
    ASSERT_TRUE(environment_->run_until(done));
  }

  std::unique_ptr<LogEnvironment> environment_;
  std::unique_ptr<LogStore> store_;
};

}  // namespace tidemark
