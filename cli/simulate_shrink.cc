#include "cli/simulate_shrink.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace tidemark {
namespace {

constexpr size_t kGroupMin = 4;  // Fewer knobs are as soon tried one by one.

// What fails first; all empty if nothing does.
struct Failure {
  std::string property;
  std::string beginning;  // Of what is wrong: the numbers in it change with the scenario.

  bool operator==(const Failure&) const = default;
};

Failure failure_of(CampaignOptions options, const sim::Scenario& scenario) {
  options.settings = sim::settings_of(scenario);
  options.last_seed = options.first_seed;
  options.jobs = 1;
  Failure failure;
  run_campaign(options, [&](const SeedResult& result) {
    if (!result.died.empty()) failure = {"died", result.died};
    if (result.report.findings.empty()) return;
    const sim::Finding& first = result.report.findings.front();
    failure = {first.property, first.what.substr(0, first.what.find_first_of("0123456789"))};
  });
  return failure;
}

class Shrinker {
 public:
  Shrinker(const CampaignOptions& options, const std::function<void(const std::string&)>& say)
      : options_(options), say_(say), best_(scenario_of(options, options.first_seed)) {}

  std::vector<std::string> run() {
    failure_ = failure_of(options_, best_);
    if (failure_ == Failure{}) return {};
    say_("fails: " + failure_.property);
    options_.twice = failure_.property == "determinism";  // No other failure needs a second run.
    // Whole groups first, then one by one, until nothing can go any more.
    for (size_t size = sim::knobs().size(); size >= kGroupMin; size /= 2) lower_groups(size);
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

  // Knobs that stand together in the list belong together: faults, what operators do, sizes, tunables.
  void lower_groups(size_t size) {
    const std::span<const sim::Knob> knobs = sim::knobs();
    for (size_t begin = 0; begin < knobs.size(); begin += size)
      lower_group(knobs.subspan(begin, std::min(size, knobs.size() - begin)));
  }

  // All to their least values at once, or none.
  void lower_group(std::span<const sim::Knob> knobs) {
    sim::Scenario next = best_;
    for (const sim::Knob& knob : knobs) next.*knob.field = knob.least;
    if (sim::settings_of(next) == sim::settings_of(best_) || !still_fails(next)) return;
    best_ = next;
    say_(std::string(knobs.front().name) + " to " + knobs.back().name);
  }

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

  CampaignOptions options_;
  const std::function<void(const std::string&)>& say_;
  sim::Scenario best_;
  Failure failure_;
};

}  // namespace

std::vector<std::string> shrink_failure(const CampaignOptions& options,
                                        const std::function<void(const std::string&)>& say) {
  return Shrinker(options, say).run();
}

}  // namespace tidemark
