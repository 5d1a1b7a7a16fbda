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

// Another's metrics, each with more labels: which role of a process it is, where several live in one.
// REQUIRES: `metrics` outlives it.
class LabelledMetrics : public Metrics {
 public:
  LabelledMetrics(Metrics& metrics, std::map<std::string, std::string> labels);

  Counter& counter(const MetricName& name) override;
  Gauge& gauge(const MetricName& name) override;
  Histogram& histogram(const MetricName& name, const std::vector<double>& bounds) override;

 private:
  MetricName with_labels(const MetricName& name) const;

  Metrics& metrics_;
  const std::map<std::string, std::string> labels_;
};

// A counter of something whose total is known anyway, and is looked at now and then. A total that is lower
// than before was begun anew.
class FollowedCounter {
 public:
  explicit FollowedCounter(Counter& counter) : counter_(&counter) {}
  void follow(uint64_t total) {
    counter_->add(total < seen_ ? total : total - seen_);
    seen_ = total;
  }

 private:
  Counter* counter_;
  uint64_t seen_ = 0;
};

// From 50 microseconds to 10 seconds, for durations of requests in seconds.
const std::vector<double>& duration_bounds();

// Counts nothing: for tests and the simulation.
Metrics& no_metrics();

}  // namespace tidemark
