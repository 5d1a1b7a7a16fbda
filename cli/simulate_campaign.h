// Many simulated runs, in worker processes of their own, so that a run that ends by an assertion ends alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/run.h"

namespace tidemark {

using RunScenario = std::function<sim::RunReport(const sim::Scenario&, const sim::Trace::Sink&)>;

// Hundreds of times what a seed takes: a task in it goes in circles, and no simulated time passes any more.
constexpr unsigned kSeedSecondsMax = 900;

struct CampaignOptions {
  uint64_t first_seed = 1;
  uint64_t last_seed = 20;
  std::optional<double> minutes;  // No further seed is begun after them.
  int jobs = 1;
  std::string scenario = "swarm";
  std::vector<std::string> settings;
  bool twice = true;  // Each seed runs twice and must end in the same state.
  bool stop_at_failure = false;
  unsigned seed_seconds_max = kSeedSecondsMax;  // A worker that is longer at a seed is killed.
  RunScenario run = sim::run_scenario;          // Tests have their own, which fails as they wish.
};

// What became of one seed.
struct SeedResult {
  uint64_t seed = 0;
  std::string died;  // How its process ended before the seed did; empty: it did not.
  sim::RunReport report;

  bool ok() const { return died.empty() && report.findings.empty(); }
};

// Calls `on_result` for each seed, in the order in which they end, in the caller's process.
void run_campaign(const CampaignOptions& options, const std::function<void(const SeedResult&)>& on_result);

// Runs a seed in this process. If its first run fails there is no second one.
sim::RunReport run_seed(const CampaignOptions& options, uint64_t seed, const sim::Trace::Sink& first_run = {},
                        const sim::Trace::Sink& second_run = {});

// The scenario of a seed, with the settings. REQUIRES: the settings are well formed.
sim::Scenario scenario_of(const CampaignOptions& options, uint64_t seed);

}  // namespace tidemark
