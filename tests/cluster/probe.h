// Writes a few rows all over the cluster again and again, and measures how long each had to wait.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/cluster/sql_client.h"

namespace tidemark::crash {

class Probe {
 public:
  using Clock = std::chrono::steady_clock;

  // REQUIRES: `gateways` outlives it.
  explicit Probe(const Gateways& gateways, size_t rows = 12);
  ~Probe();

  void start();  // Makes its table first. Throws ServerError.
  void stop();

  // Every row has been written, and acknowledged, by a statement that began after `since`.
  bool all_written_since(Clock::time_point since) const;
  // The longest that any row waited for the acknowledgement of a write, since the last call; tries that
  // failed and were repeated count together.
  std::chrono::milliseconds take_longest_wait();

 private:
  struct Row;
  void run(size_t number, Row& row);

  const Gateways& gateways_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
};

}  // namespace tidemark::crash
