// Sessions whose statements are counted and timed for Prometheus: docs/metrics.md.
#pragma once

#include "base/metrics.h"
#include "base/scheduler.h"
#include "sql/gateway/session.h"

namespace tidemark::sql {

class GatewayMetrics {
 public:
  explicit GatewayMetrics(Metrics& metrics);

  void set_connections(size_t count) { connections_.set(static_cast<double>(count)); }
  // `failure`: none, the statement was done.
  void on_statement(const SqlError* failure, Micros took);

 private:
  Gauge& connections_;
  Counter& done_;
  Counter& failed_;
  Counter& cancelled_;
  Histogram& seconds_;
};

// The session, with every statement told to the metrics: when it ends, or when it can not be prepared.
// REQUIRES: scheduler (the session's loop) and metrics outlive it.
std::unique_ptr<Session> metered(std::unique_ptr<Session> session, Scheduler& scheduler,
                                 GatewayMetrics& metrics);

}  // namespace tidemark::sql
