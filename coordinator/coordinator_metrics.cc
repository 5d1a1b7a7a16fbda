#include "coordinator/coordinator_metrics.h"

#include <limits>

namespace tidemark {

CoordinatorMetrics::CoordinatorMetrics(Metrics& metrics)
    : metrics_(metrics),
      elected_(metrics.gauge({"tidemark_coordinator_elected", "1 if this node is the coordinator, else 0."})),
      operations_(metrics.gauge(
          {"tidemark_coordinator_operations_running", "Operations under way; told by the elected one."})) {
  for (size_t i = 0; i < kStepKinds; ++i) {
    steps_[i] = &metrics.counter({"tidemark_coordinator_steps_total",
                                  "Steps of the cluster's protocols taken, by kind.",
                                  {{"kind", to_string(static_cast<StepKind>(i))}}});
  }
}

void CoordinatorMetrics::sample(bool elected, const std::optional<CoordinatorRole::Figures>& figures) {
  elected_.set(elected ? 1 : 0);
  if (elected && !figures) return;  // A write is under way: as it was.
  operations_.set(figures ? static_cast<double>(figures->operations_running) : 0);
  for (auto& [name, view] : views_) view.told = false;
  if (figures) {
    for (const pb::ViewFreshness& view : figures->freshness.views()) {
      if (view.state() == pb::ViewFreshness::READY) tell(view);
    }
  }
  // What was dropped, or is another's to tell now, must not look fresh for ever.
  for (auto& [name, view] : views_) {
    if (view.told) continue;
    view.lag_records->set(std::numeric_limits<double>::quiet_NaN());
    view.lag_seconds->set(std::numeric_limits<double>::quiet_NaN());
  }
}

void CoordinatorMetrics::tell(const pb::ViewFreshness& view) {
  View& gauges = views_[view.name()];
  if (gauges.lag_records == nullptr) {
    gauges.lag_records =
        &metrics_.gauge({"tidemark_view_lag_records",
                         "Records that the view is behind the changes of its sources, at most.",
                         {{"view", view.name()}}});
    gauges.lag_seconds = &metrics_.gauge({"tidemark_view_lag_seconds",
                                          "Age of the oldest change that the view does not reflect, at most.",
                                          {{"view", view.name()}}});
  }
  gauges.told = true;
  gauges.lag_records->set(static_cast<double>(view.lag_records()));
  gauges.lag_seconds->set(static_cast<double>(view.lag_micros()) / 1e6);
}

}  // namespace tidemark
