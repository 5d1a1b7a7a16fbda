// A workload that checks itself: it writes from threads of its own, remembers what it was told of each write,
// and in the end says what is wrong with what is there.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/key_log.h"
#include "tests/cluster/sql_client.h"

namespace tidemark::crash {

// A view and its query, as an ad-hoc query over the tables gives it.
struct ViewQuery {
  std::string name;
  std::string query;
};

struct WorkloadOptions {
  size_t writers = 2;
  std::chrono::milliseconds pause{5};  // Between a writer's writes.
  uint64_t seed = 1;
  std::chrono::milliseconds patience{10'000};
};

struct Tally {
  uint64_t done = 0;
  uint64_t not_done = 0;
  uint64_t unknown = 0;
};

class Workload {
 public:
  Workload(std::string name, WorkloadOptions options);
  virtual ~Workload();  // stop().

  const std::string& name() const { return name_; }

  // Tables and views, in order; each may be done twice.
  virtual std::vector<std::string> definitions() const = 0;
  virtual std::vector<ViewQuery> views() const = 0;
  // What is wrong with the tables and views. REQUIRES: stopped, and views have converged.
  virtual Findings check(SqlClient& client) = 0;

  void start(const Gateways& gateways);
  void stop();
  Tally tally() const;
  // What the writers noticed on the way. REQUIRES: stopped.
  Findings noticed() const;

 protected:
  // One write, on the writer's thread; `writer` counts from 0.
  virtual void write_once(size_t writer, SqlClient& client, Random& random) = 0;

  // Asks, and counts how it went.
  SqlAnswer write(size_t writer, SqlClient& client, const std::string& sql);
  void notice(size_t writer, const std::string& what);
  size_t writers() const { return options_.writers; }

 private:
  struct Counters {
    std::atomic<uint64_t> done{0};
    std::atomic<uint64_t> not_done{0};
    std::atomic<uint64_t> unknown{0};
  };
  void run(size_t writer, const Gateways& gateways);

  const std::string name_;
  const WorkloadOptions options_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
  Counters counters_;
  std::vector<Findings> noticed_;  // Per writer.
};

// Fails loudly (ServerError) if the rows can't be read. Rows by their first column, the others joined by ','.
std::map<std::string, std::string> rows_by_key(SqlClient& client, const std::string& query);

}  // namespace tidemark::crash
