// Many simulated runs, in worker processes of their own, so that a run that ends by an assertion ends alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/run.h"

namespace tidemark {

struct CampaignOptions {
  uint64_t first_seed = 1;
  uint64_t last_seed = 20;
  std::optional<double> minutes;  // No further seed is begun after them.
  int jobs = 1;
  std::string scenario = "swarm";
  std::vector<std::string> settings;
  bool twice = false;  // Each seed runs twice and must end the same.
  bool stop_at_failure = false;
};

// What became of one seed.
struct SeedResult {
  uint64_t seed = 0;
  bool died = false;  // By an assertion or worse; said on stderr.
  sim::RunReport report;

  bool ok() const { return !died && report.findings.empty(); }
};

// Calls `on_result` for each seed, in the order in which they end.
void run_campaign(const CampaignOptions& options, const std::function<void(const SeedResult&)>& on_result);

// The scenario of a seed, with the settings. REQUIRES: the settings are well formed.
sim::Scenario scenario_of(const CampaignOptions& options, uint64_t seed);

}  // namespace tidemark
