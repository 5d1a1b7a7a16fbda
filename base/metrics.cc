#include "base/metrics.h"

#include <utility>

namespace tidemark {
namespace {

class NoMetrics : public Metrics {
 public:
  Counter& counter(const MetricName&) override { return counter_; }
  Gauge& gauge(const MetricName&) override { return gauge_; }
  Histogram& histogram(const MetricName&, const std::vector<double>&) override { return histogram_; }

 private:
  class NoCounter : public Counter {
    void add(uint64_t) override {}
  };
  class NoGauge : public Gauge {
    void set(double) override {}
  };
  class NoHistogram : public Histogram {
    void observe(double) override {}
  };

  NoCounter counter_;
  NoGauge gauge_;
  NoHistogram histogram_;
};

}  // namespace

LabelledMetrics::LabelledMetrics(Metrics& metrics, std::map<std::string, std::string> labels)
    : metrics_(metrics), labels_(std::move(labels)) {}

MetricName LabelledMetrics::with_labels(const MetricName& name) const {
  MetricName out = name;
  out.labels.insert(labels_.begin(), labels_.end());
  return out;
}

Counter& LabelledMetrics::counter(const MetricName& name) {
  return metrics_.counter(with_labels(name));
}
Gauge& LabelledMetrics::gauge(const MetricName& name) {
  return metrics_.gauge(with_labels(name));
}
Histogram& LabelledMetrics::histogram(const MetricName& name, const std::vector<double>& bounds) {
  return metrics_.histogram(with_labels(name), bounds);
}

const std::vector<double>& duration_bounds() {
  static const std::vector<double> bounds{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3,
                                          50e-3, 100e-3, 250e-3, 500e-3, 1.0,  2.5,    5.0,  10.0};
  return bounds;
}

Metrics& no_metrics() {
  static NoMetrics metrics;
  return metrics;
}

}  // namespace tidemark
