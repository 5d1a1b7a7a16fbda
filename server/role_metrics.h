// How the roles of a process are told apart in its metrics, and how often they are looked at.
#pragma once

#include <string>

#include "base/metrics.h"
#include "base/types.h"

namespace tidemark {

inline constexpr Micros kSampleInterval{1'000'000};

inline LabelledMetrics role_metrics(Metrics& metrics, const std::string& role, const std::string& name) {
  return LabelledMetrics(metrics, {{"role", role}, {"name", name}});
}

}  // namespace tidemark
