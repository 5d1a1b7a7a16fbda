// Metrics, as roles see them. Core-safe; base/process/prometheus_metrics.h counts and shows them,
// no_metrics() does neither.
//
// Ask for a metric once and keep the reference: asking is slow, counting is cheap.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark {

// All may be called from any thread, and are cheap.
class Counter {
 public:
  virtual ~Counter() = default;
  virtual void add(uint64_t count) = 0;
};

class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
};

class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

// Names and labels follow Prometheus: tidemark_<what>_<unit>[_total], in seconds and bytes.
struct MetricName {
  std::string name;
  std::string help;
  std::map<std::string, std::string> labels = {};
};

class Metrics {
 public:
  virtual ~Metrics() = default;

  // The same name and labels give the same metric; it lives as long as this.
  // REQUIRES: one name is one kind of metric, with one help text.
  virtual Counter& counter(const MetricName& name) = 0;
  virtual Gauge& gauge(const MetricName& name) = 0;
  // `bounds` are the upper ends of the buckets, ascending; a last one without end is added.
  virtual Histogram& histogram(const MetricName& name, const std::vector<double>& bounds) = 0;
};

// From 50 microseconds to 10 seconds, for durations of requests in seconds.
const std::vector<double>& duration_bounds();

// Counts nothing: for tests and the simulation.
Metrics& no_metrics();

}  // namespace tidemark
