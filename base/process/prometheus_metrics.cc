#include "base/process/prometheus_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <mutex>
#include <utility>

namespace tidemark {
namespace {

class PrometheusCounter : public Counter {
 public:
  explicit PrometheusCounter(prometheus::Counter& counter) : counter_(counter) {}
  void add(uint64_t count) override { counter_.Increment(static_cast<double>(count)); }

 private:
  prometheus::Counter& counter_;
};

class PrometheusGauge : public Gauge {
 public:
  explicit PrometheusGauge(prometheus::Gauge& gauge) : gauge_(gauge) {}
  void set(double value) override { gauge_.Set(value); }

 private:
  prometheus::Gauge& gauge_;
};

class PrometheusHistogram : public Histogram {
 public:
  explicit PrometheusHistogram(prometheus::Histogram& histogram) : histogram_(histogram) {}
  void observe(double value) override { histogram_.Observe(value); }

 private:
  prometheus::Histogram& histogram_;
};

using Key = std::pair<std::string, std::map<std::string, std::string>>;

Key key_of(const MetricName& name) {
  return {name.name, name.labels};
}

}  // namespace

class PrometheusMetrics::Impl {
 public:
  std::mutex mutex;
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::map<Key, std::unique_ptr<PrometheusCounter>> counters;
  std::map<Key, std::unique_ptr<PrometheusGauge>> gauges;
  std::map<Key, std::unique_ptr<PrometheusHistogram>> histograms;
  std::unique_ptr<prometheus::Exposer> exposer;
};

PrometheusMetrics::PrometheusMetrics() : impl_(std::make_unique<Impl>()) {}
PrometheusMetrics::~PrometheusMetrics() = default;

Counter& PrometheusMetrics::counter(const MetricName& name) {
  const std::lock_guard lock(impl_->mutex);
  auto& counter = impl_->counters[key_of(name)];
  if (!counter) {
    auto& family = prometheus::BuildCounter().Name(name.name).Help(name.help).Register(*impl_->registry);
    counter = std::make_unique<PrometheusCounter>(family.Add(name.labels));
  }
  return *counter;
}

Gauge& PrometheusMetrics::gauge(const MetricName& name) {
  const std::lock_guard lock(impl_->mutex);
  auto& gauge = impl_->gauges[key_of(name)];
  if (!gauge) {
    auto& family = prometheus::BuildGauge().Name(name.name).Help(name.help).Register(*impl_->registry);
    gauge = std::make_unique<PrometheusGauge>(family.Add(name.labels));
  }
  return *gauge;
}

Histogram& PrometheusMetrics::histogram(const MetricName& name, const std::vector<double>& bounds) {
  const std::lock_guard lock(impl_->mutex);
  auto& histogram = impl_->histograms[key_of(name)];
  if (!histogram) {
    auto& family = prometheus::BuildHistogram().Name(name.name).Help(name.help).Register(*impl_->registry);
    histogram = std::make_unique<PrometheusHistogram>(family.Add(name.labels, bounds));
  }
  return *histogram;
}

Result<uint16_t> PrometheusMetrics::expose(const std::string& address) {
  try {
    impl_->exposer = std::make_unique<prometheus::Exposer>(address, 1);
  } catch (const std::exception& error) {
    return Error{"metrics can't be served at " + address + ": " + error.what()};
  }
  impl_->exposer->RegisterCollectable(impl_->registry);
  return static_cast<uint16_t>(impl_->exposer->GetListeningPorts().at(0));
}

std::string PrometheusMetrics::text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry->Collect());
}

}  // namespace tidemark
