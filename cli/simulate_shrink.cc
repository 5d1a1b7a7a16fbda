#include "cli/simulate_shrink.h"

#include <cmath>

namespace tidemark {
namespace {

// The property that fails first; "" if none does.
std::string failure_of(CampaignOptions options, const sim::Scenario& scenario) {
  options.settings = sim::settings_of(scenario);
  options.last_seed = options.first_seed;
  options.jobs = 1;
  std::string failure;
  run_campaign(options, [&](const SeedResult& result) {
    if (result.died) failure = "died";
    if (!result.report.findings.empty()) failure = result.report.findings.front().property;
  });
  return failure;
}

class Shrinker {
 public:
  Shrinker(const CampaignOptions& options, const std::function<void(const std::string&)>& say)
      : options_(options), say_(say), best_(scenario_of(options, options.first_seed)) {}

  std::vector<std::string> run() {
    failure_ = failure_of(options_, best_);
    if (failure_.empty()) return {};
    say_("fails: " + failure_);
    // Whole groups first, then one by one, until nothing can go any more.
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const sim::Knob& knob : sim::knobs()) smaller |= lower(knob);
    }
    std::vector<std::string> settings = sim::settings_of(best_);
    if (settings.empty())
      settings.push_back("operations=" + std::to_string(static_cast<int64_t>(best_.operations)));
    return settings;
  }

 private:
  bool still_fails(const sim::Scenario& scenario) { return failure_of(options_, scenario) == failure_; }

  // To its least value at once, or half the way as often as it goes.
  bool lower(const sim::Knob& knob) {
    bool smaller = false;
    while (best_.*knob.field != knob.least) {
      sim::Scenario next = best_;
      next.*knob.field = knob.least;
      if (!still_fails(next)) {
        const double half = std::round((best_.*knob.field + knob.least) / 2);
        if (best_.*knob.field <= knob.least + 1 || half == best_.*knob.field) break;
        next.*knob.field = half;
        if (!still_fails(next)) break;
      }
      best_ = next;
      smaller = true;
      say_(std::string(knob.name) + " " + std::to_string(best_.*knob.field));
    }
    return smaller;
  }

  const CampaignOptions& options_;
  const std::function<void(const std::string&)>& say_;
  sim::Scenario best_;
  std::string failure_;
};

}  // namespace

std::vector<std::string> shrink_failure(const CampaignOptions& options,
                                        const std::function<void(const std::string&)>& say) {
  return Shrinker(options, say).run();
}

}  // namespace tidemark
