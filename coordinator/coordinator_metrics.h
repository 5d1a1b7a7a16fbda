// What a coordinator tells Prometheus: docs/metrics.md. Of views, only the elected one tells.
#pragma once

#include <array>
#include <map>
#include <string>

#include "base/metrics.h"
#include "coordinator/coordinator_role.h"
#include "coordinator/steps.h"

namespace tidemark {

class CoordinatorMetrics {
 public:
  // REQUIRES: metrics outlives it.
  explicit CoordinatorMetrics(Metrics& metrics);

  void on_step(StepKind kind) { steps_[static_cast<size_t>(kind)]->add(1); }
  // About once a second.
  void sample(bool elected, const std::optional<CoordinatorRole::Figures>& figures);

 private:
  struct View {
    Gauge* lag_records = nullptr;
    Gauge* lag_seconds = nullptr;
    bool told = false;  // In this sample.
  };
  void tell(const pb::ViewFreshness& view);

  Metrics& metrics_;
  std::array<Counter*, kStepKinds> steps_;
  Gauge& elected_;
  Gauge& operations_;
  std::map<std::string, View> views_;
};

}  // namespace tidemark
