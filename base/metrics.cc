#include "base/metrics.h"

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
