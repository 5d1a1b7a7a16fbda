#include "cli/simulate_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "base/mutation.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/report.h"
#include "cli/simulate_campaign.h"
#include "cli/simulate_shrink.h"
#include "cli/simulate_trace.h"

namespace tidemark {
namespace {

struct Arguments {
  CampaignOptions campaign;
  std::string seeds = "1-20";
  std::string trace;
  std::string traces = ".";
  std::string mutation;
  bool list_mutations = false;
  bool shrink = false;
  bool all_probes = false;
  bool as_json = false;
};

Status parse_seeds(const std::string& text, CampaignOptions& out) {
  const size_t dash = text.find('-');
  try {
    out.first_seed = std::stoull(text.substr(0, dash));
    out.last_seed = dash == text.npos ? out.first_seed : std::stoull(text.substr(dash + 1));
  } catch (const std::exception&) {
    return Error{"--seeds takes a number, or two as in 1-100"};
  }
  if (out.last_seed < out.first_seed) return Error{"--seeds: the first is higher than the last"};
  return {};
}

#ifdef TIDEMARK_MUTATIONS
Status choose(const std::string& mutation) {
  if (choose_mutation(mutation)) return {};
  return Error{"there is no mutation \"" + mutation + "\"" + did_you_mean(mutation, mutation_names())};
}
int list_mutations() {
  for (const std::string& name : mutation_names()) std::puts(name.c_str());
  return kDone;
}
#else
Status choose(const std::string& mutation) {
  if (mutation.empty()) return {};
  return Error{"this build has no mutations; the preset \"mutations\" makes one that has"};
}
int list_mutations() {
  return kDone;
}
#endif

// What takes one seed must not silently take the first of many.
Status check_count(const Arguments& arguments) {
  if (arguments.campaign.first_seed == arguments.campaign.last_seed) return {};
  if (arguments.shrink) return Error{"--shrink takes one seed, as in --seeds 17"};
  if (!arguments.trace.empty()) return Error{"--trace takes one seed, as in --seeds 17"};
  return {};
}

Status check(Arguments& arguments) {
  if (Status chosen = choose(arguments.mutation); !chosen.ok()) return chosen;
  if (Status seeds = parse_seeds(arguments.seeds, arguments.campaign); !seeds.ok()) return seeds;
  TM_TRY(check_count(arguments));
  std::error_code ignored;
  if (!arguments.traces.empty() && !std::filesystem::is_directory(arguments.traces, ignored))
    return Error{"--traces: there is no directory \"" + arguments.traces + "\""};
  const auto names = sim::scenario_names();
  if (std::find(names.begin(), names.end(), arguments.campaign.scenario) == names.end())
    return Error{"there is no scenario \"" + arguments.campaign.scenario + "\""};
  sim::Scenario scratch;
  for (const std::string& setting : arguments.campaign.settings) {
    if (Status set = sim::apply_setting(scratch, setting); !set.ok()) return set;
  }
  return {};
}

// The one command that runs a seed again.
std::string replay_command(const Arguments& arguments, uint64_t seed) {
  std::string out = "tidemark simulate --seeds " + std::to_string(seed);
  if (arguments.campaign.scenario != "swarm") out += " --scenario " + arguments.campaign.scenario;
  for (const std::string& setting : arguments.campaign.settings) out += " --set " + setting;
  if (!arguments.mutation.empty()) out += " --mutation '" + arguments.mutation + "'";
  if (!arguments.campaign.twice) out += " --once";
  return out + " --trace " +
         (arguments.trace.empty() ? trace_path(arguments.campaign, arguments.traces, seed) : arguments.trace);
}

// What many runs came to.
class Totals {
 public:
  void add(const SeedResult& result) {
    ++seeds_;
    if (result.died.empty()) ++ended_;
    state_hash_ += result.report.state_hash;  // In whatever order they end.
    if (!result.ok()) add_failure(result);
    operations_.push_back(result.report.work.contains("operations") ? result.report.work.at("operations")
                                                                    : 0);
    faults_.push_back(result.report.fault_count());
    region_changes_.push_back(result.report.region_changes());
    manager_changes_.push_back(result.report.view_manager_changes());
    add(work_, result.report.work);
    add(changes_, result.report.changes);
    add(all_faults_, result.report.faults);
    add(deviations_, result.report.deviations);
    add(probes_, result.report.probes);
  }

  Report report() const {
    Report out;
    out.fields = {{"seeds", Cell::number(seeds_)},
                  {"failed", Cell::number(failed_)},
                  {"median operations", Cell::number(median(operations_))},
                  {"median faults", Cell::number(median(faults_))},
                  {"median region changes", Cell::number(median(region_changes_))},
                  {"median view manager changes", Cell::number(median(manager_changes_))},
                  {"state hash", std::to_string(state_hash_)}};
    out.tables = {table("work", work_), table("changes", changes_), table("faults", all_faults_),
                  table("deviations", deviations_), table("probes", probes_)};
    if (failed_ > 0) out.tables.push_back(failures_);
    return out;
  }
  bool ok() const { return failed_ == 0; }
  uint64_t seeds() const { return seeds_; }
  uint64_t ended() const { return ended_; }
  uint64_t failed() const { return failed_; }
  std::vector<std::string> unreached() const {
    std::vector<std::string> out;
    for (const auto& [name, count] : probes_) {
      if (count == 0) out.push_back(name);
    }
    return out;
  }

 private:
  void add_failure(const SeedResult& result) {
    ++failed_;
    auto row = [&](const std::string& property, const std::string& what) {
      failures_.rows.push_back({Cell::number(result.seed), property, what});
    };
    for (const sim::Finding& finding : result.report.findings) row(finding.property, finding.what);
    if (!result.died.empty()) row("", "the process died: " + result.died);
  }
  static void add(sim::Tallies& to, const sim::Tallies& more) {
    for (const auto& [name, count] : more) to[name] += count;
  }
  static uint64_t median(std::vector<uint64_t> values) {
    if (values.empty()) return 0;
    std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  }
  static ReportTable table(const char* name, const sim::Tallies& counts) {
    ReportTable out{name, {"what", "count"}, {}};
    for (const auto& [what, count] : counts) out.rows.push_back({what, Cell::number(count)});
    return out;
  }

  uint64_t seeds_ = 0;
  uint64_t ended_ = 0;  // Whatever they found: their process did not die.
  uint64_t failed_ = 0;
  uint64_t state_hash_ = 0;  // Of all: what ends otherwise shows here.
  ReportTable failures_{"failures", {"seed", "property", "what"}, {}};
  std::vector<uint64_t> operations_, faults_, region_changes_, manager_changes_;
  sim::Tallies work_, changes_, all_faults_, deviations_, probes_;
};

void say_findings(const SeedResult& result) {
  const auto seed = static_cast<unsigned long long>(result.seed);
  for (const sim::Finding& finding : result.report.findings) {
    std::fprintf(stderr, "seed %llu: %s: %s (at %.3f s)\n", seed, finding.property.c_str(),
                 finding.what.c_str(), static_cast<double>(finding.at.value) / 1e6);
  }
  if (!result.died.empty())
    std::fprintf(stderr, "seed %llu: the process died: %s\n", seed, result.died.c_str());
}

void say_replay(const Arguments& arguments, uint64_t seed) {
  std::fprintf(stderr, "  replay: %s\n", replay_command(arguments, seed).c_str());
}

// What is wrong comes first: to write the trace may take as long as the seed did.
void say_failure(const Arguments& arguments, const SeedResult& result, FailureTraces& traces) {
  say_findings(result);
  std::fputs(traces.write(result.seed).c_str(), stderr);
  say_replay(arguments, result.seed);
}

void say_progress(const Arguments& arguments, const Totals& totals) {
  const uint64_t all = arguments.campaign.last_seed - arguments.campaign.first_seed + 1;
  if (totals.seeds() < all)
    std::fprintf(stderr, "%llu of %llu seeds, %llu failed\n", static_cast<unsigned long long>(totals.seeds()),
                 static_cast<unsigned long long>(all), static_cast<unsigned long long>(totals.failed()));
}

void print(const Arguments& arguments, const Totals& totals) {
  std::fputs(arguments.as_json ? as_json(totals.report()).c_str() : as_text(totals.report()).c_str(), stdout);
}

// In this process: a debugger can be there.
int replay(const Arguments& arguments) {
  const uint64_t seed = arguments.campaign.first_seed;
  Result<sim::RunReport> report = run_traced(arguments.campaign, seed, arguments.trace);
  if (!report.ok()) {
    std::fprintf(stderr, "tidemark simulate: %s\n", report.error().message.c_str());
    return kFailed;
  }
  const SeedResult result{seed, "", std::move(*report)};
  Totals totals;
  totals.add(result);
  print(arguments, totals);
  if (result.ok()) return kDone;
  say_findings(result);
  std::fputs(describe_difference(arguments.trace).c_str(), stderr);
  say_replay(arguments, seed);
  return kFailed;
}

// Makes the scenario of a failing seed smaller as long as it fails in the same way.
int shrink(const Arguments& arguments) {
  CampaignOptions options = arguments.campaign;
  options.last_seed = options.first_seed;
  const std::vector<std::string> settings =
      shrink_failure(options, [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  if (settings.empty()) {
    std::fprintf(stderr, "seed %llu does not fail\n", static_cast<unsigned long long>(options.first_seed));
    return kFailed;
  }
  Arguments smaller = arguments;
  smaller.campaign.settings = settings;
  std::printf("%s\n", replay_command(smaller, options.first_seed).c_str());
  return kDone;
}

// Where no seed ended nobody knows of any probe, which is no proof that all were reached.
bool reached_all_probes(const Totals& totals) {
  if (totals.ended() == 0) std::fputs("never reached: any probe, since no seed ended\n", stderr);
  for (const std::string& probe : totals.unreached())
    std::fprintf(stderr, "never reached: %s\n", probe.c_str());
  return totals.ended() > 0 && totals.unreached().empty();
}

int run(const Arguments& arguments) {
  if (arguments.list_mutations) return list_mutations();
  if (arguments.shrink) return shrink(arguments);
  if (!arguments.trace.empty()) return replay(arguments);
  Totals totals;
  FailureTraces traces(arguments.campaign, arguments.traces);
  run_campaign(arguments.campaign, [&](const SeedResult& result) {
    totals.add(result);
    if (!result.ok()) say_failure(arguments, result, traces);
    if (totals.seeds() % 100 == 0) say_progress(arguments, totals);
  });
  print(arguments, totals);
  if (arguments.all_probes && !reached_all_probes(totals)) return kFailed;
  return totals.ok() ? kDone : kFailed;
}

}  // namespace

int simulate_command(int argc, char** argv) {
  return simulate_command(argc, argv, sim::run_scenario);
}

int simulate_command(int argc, char** argv, const RunScenario& run_scenario) {
  Arguments arguments;
  arguments.campaign.run = run_scenario;
  CLI::App app("runs random clusters under faults in a simulated world, and checks every property",
               "tidemark simulate");
  app.add_option("--seeds", arguments.seeds, "A seed, or the first and the last: 1-100")
      ->capture_default_str();
  app.add_option("--minutes", arguments.campaign.minutes, "Begin no further seed after so long");
  app.add_option("--jobs", arguments.campaign.jobs, "Processes at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--scenario", arguments.campaign.scenario, "What to dwell on")->capture_default_str();
  app.add_option("--set", arguments.campaign.settings, "name=value: changes what the seed drew");
  app.add_option("--trace", arguments.trace,
                 "Run one seed in this process and write what happens to this file");
  app.add_option("--traces", arguments.traces, "Directory for traces of the first failures; empty: none")
      ->capture_default_str();
  app.add_flag_callback(
      "--once", [&arguments] { arguments.campaign.twice = false; },
      "Run each seed once: half the time, and nobody compares how it ends");
  app.add_flag("--fail-fast", arguments.campaign.stop_at_failure, "End at the first failure");
  app.add_flag("--shrink", arguments.shrink, "Make the scenario of the seed, which fails, smaller");
  app.add_flag("--all-probes", arguments.all_probes, "Fail if a probe was not reached by any seed");
  app.add_option("--mutation", arguments.mutation,
                 "Switch a deliberate bug on (only in a build with mutations)");
  app.add_flag("--list-mutations", arguments.list_mutations, "Print the names of the deliberate bugs");
  app.add_flag("--json", arguments.as_json, "For programs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  if (Status usable = check(arguments); !usable.ok()) {
    std::fprintf(stderr, "tidemark simulate: %s\n", usable.error().message.c_str());
    return kWrongUsage;
  }
  return run(arguments);
}

}  // namespace tidemark
