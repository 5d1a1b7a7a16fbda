// SQL for PostgreSQL's clients, on a loop of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "server/surroundings.h"

namespace tidemark {

// What clients may take of a process.
struct SqlLimits {
  size_t connections_max = 1000;
  size_t query_bytes_max = size_t{256} << 20;   // Of rows that a query sorts, groups or joins.
  size_t result_bytes_max = size_t{256} << 20;  // Of rows that have to be kept for a connection.
};

struct SqlServerOptions {
  std::string name;  // Of the process.
  Address listen;    // "host:port", port 0 for any.
  SqlLimits limits = {};
  Metrics* metrics = &no_metrics();  // Outlives it.
  Logger log;
  std::function<void(const std::string& reason)> on_fatal;  // As NodeServerOptions'.
  std::function<void()> on_ready;                           // On the loop, once: every region is served.
};

class SqlServer {
 public:
  // Listens at once; clients that come before the cluster is there are told to come again.
  // Error: says which address can not be listened on, and why. REQUIRES: surroundings outlive it.
  static Result<std::unique_ptr<SqlServer>> start(Surroundings& surroundings, SqlServerOptions options);
  ~SqlServer();  // Closes all connections.

  const Address& address() const;
  AsioLoop& loop();

 private:
  class Impl;
  explicit SqlServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
