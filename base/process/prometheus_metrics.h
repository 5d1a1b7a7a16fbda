// Metrics of a process, kept by the Prometheus library and shown over HTTP at /metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/result.h"

namespace tidemark {

class PrometheusMetrics : public Metrics {
 public:
  PrometheusMetrics();
  ~PrometheusMetrics() override;

  Counter& counter(const MetricName& name) override;
  Gauge& gauge(const MetricName& name) override;
  Histogram& histogram(const MetricName& name, const std::vector<double>& bounds) override;

  // Serves them at http://<address>/metrics, on threads of its own, until this is destroyed; returns the
  // port, which is chosen by the kernel if `address` ends in ":0". Refused: an address that can't be listened
  // on.
  Result<uint16_t> expose(const std::string& address);

  // What /metrics answers.
  std::string text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
